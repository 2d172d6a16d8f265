"""A database that is not migrated, or older or newer than the package."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

import pgfuse
from pgfuse import migrate
from tests.oracle.corpus import Doc, insert

pytest_plugins = ("tests.sql.fixtures",)
Connection = psycopg.Connection[Any]
QUERY = [1, 0, 0]


@pytest.fixture
def filled(small_copy: str) -> str:
    with psycopg.connect(small_copy) as conn:
        insert(conn, [Doc(id=1, content="apple", vectors={"vec_full": QUERY})])
    return small_copy


def test_a_database_without_pgfuse(empty_db: str) -> None:
    with psycopg.connect(empty_db) as conn:
        for call in (
            lambda: pgfuse.recall(conn, "apple", "p"),
            lambda: pgfuse.recall(conn, "apple", "p", embedding=QUERY),
            lambda: pgfuse.get_settings(conn, "p"),
            lambda: pgfuse.set_settings(conn, "p", rrf_k=1),
            lambda: pgfuse.why_not(conn, "apple", "p", 1, embedding=QUERY),
        ):
            with pytest.raises(pgfuse.SchemaMismatch, match="pgfuse migrate"):
                call()
            assert conn.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize(("version", "advice"), [(0, "pgfuse migrate"), (99, "upgrade the package")])
@pytest.mark.parametrize("known", [True, False])
def test_an_older_or_newer_schema(version: int, advice: str, known: bool, filled: str) -> None:
    with psycopg.connect(filled) as conn:
        if known:
            pgfuse.recall(conn, "apple", "p", embedding=QUERY)
        replaced = "CREATE OR REPLACE FUNCTION pgfuse.schema_version() RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE"
        conn.execute(f"{replaced} RETURN {version}")
        with pytest.raises(pgfuse.SchemaMismatch, match=f"version {version}.*{advice}"):
            pgfuse.recall(conn, "apple", "p", embedding=QUERY)
        assert conn.execute("SELECT 1").fetchone() == (1,)


def test_a_schema_that_is_gone_is_told_as_such_to_a_process_that_knew_it(filled: str) -> None:
    with psycopg.connect(filled, autocommit=True) as conn:
        pgfuse.recall(conn, "apple", "p", embedding=QUERY)
        conn.execute("DROP SCHEMA pgfuse CASCADE")
        with pytest.raises(pgfuse.SchemaMismatch, match="pgfuse migrate"):
            pgfuse.recall(conn, "apple", "p", embedding=QUERY)
        migrate.upgrade(filled, dim=3, model="the-callers-own")
        assert len(pgfuse.recall(conn, "apple", "p", embedding=QUERY)) == 0
