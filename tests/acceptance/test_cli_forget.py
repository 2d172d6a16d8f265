"""`pgfuse forget` removes what is named, and counts it."""

import psycopg
import pytest

import pgfuse
from tests.acceptance.commands import error, invoke, invoke_json


@pytest.fixture
def known(db: str) -> str:
    with psycopg.connect(db) as connection:
        memories = [{"external_id": f"m{n}", "content": f"text {n}", "session_id": f"s{n // 2}"} for n in range(6)]
        pgfuse.remember(connection, "p", memories)
        pgfuse.remember(connection, "q", memories)
    return db


def left(url: str, profile: str = "p") -> list[str]:
    with psycopg.connect(url) as connection:
        query = "SELECT external_id FROM pgfuse.memories WHERE profile_id = %s ORDER BY 1"
        return [row[0] for row in connection.execute(query, (profile,))]


def test_by_session_external_id_and_id(known: str) -> None:
    with psycopg.connect(known) as connection:
        query = "SELECT id FROM pgfuse.memories WHERE profile_id = 'p' AND external_id = 'm5'"
        (number,) = connection.execute(query).fetchone() or (0,)
    said = invoke(
        known, "forget", "--profile", "p", "--session", "s0", "--external-id", "m2", "--id", str(number)
    ).stdout
    assert said == "Forgot 4 memories.\n"
    assert left(known) == ["m3", "m4"]
    assert len(left(known, "q")) == 6


def test_a_dry_run_only_counts(known: str) -> None:
    arguments = ("forget", "--profile", "p", "--session", "s0", "--external-id", "m1", "--dry-run")
    assert invoke(known, *arguments).stdout == "Would forget 2 memories.\n"
    assert invoke_json(known, *arguments) == {"profile_id": "p", "removed": 0, "matching": 2}
    assert len(left(known)) == 6


def test_twice(known: str) -> None:
    arguments = ("forget", "--profile", "p", "--external-id", "m1")
    assert invoke_json(known, *arguments) == {"profile_id": "p", "removed": 1, "matching": 1}
    assert invoke(known, *arguments).stdout == "Forgot 0 memories.\n"


def test_bad_input(known: str, empty_db: str) -> None:
    assert "Say what to forget" in error(known, "forget", "--profile", "p", code=2)
    assert "profile_id is empty" in error(known, "forget", "--profile", "", "--id", "1")
    assert "pgfuse migrate" in error(empty_db, "forget", "--profile", "p", "--id", "1")
    assert "pgfuse migrate" in error(empty_db, "forget", "--profile", "p", "--id", "1", "--dry-run")
    assert len(left(known)) == 6
