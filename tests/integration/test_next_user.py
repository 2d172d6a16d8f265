"""vec_next_user: the vector of what the user says next, in whatever order turns come, change and go."""

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

import pgfuse
from pgfuse.vectors import from_binary
from tests.integration.derived import check_all, check_next_user
from tests.integration.fake_embedder import FakeEmbedder, vector_of
from tests.integration.sessions import Sessions

QUICK = settings(max_examples=40, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck))
LINKS = """
SELECT m.external_id, v.embedding FROM pgfuse.vectors v
JOIN pgfuse.memories m ON (m.profile_id, m.id) = (v.profile_id, v.memory_id) WHERE v.route = 'vec_next_user'
"""


def turn(position: int | None, said: str | None = "", **columns: Any) -> dict[str, Any]:
    """A chunk of the session s in which the user says something of its own, unless told otherwise."""
    said = f"said {position}" if said == "" else said
    default = {"external_id": f"t{position}", "session_id": "s", "position": position, "content": f"content {position}"}
    return default | {"user_text": said} | columns


def remember(conn: psycopg.Connection, *turns: dict[str, Any], profile: str = "p") -> list[int]:
    return pgfuse.remember(conn, profile, turns, embedder=FakeEmbedder())


def links(conn: psycopg.Connection) -> dict[str, list[float]]:
    return {key: from_binary(data).tolist() for key, data in conn.cursor(binary=True).execute(LINKS)}


def expect(conn: psycopg.Connection, **expected: str) -> None:
    """Each memory named is followed by the user's words given, and no other is."""
    assert links(conn) == {key: vector_of(text).tolist() for key, text in expected.items()}
    check_next_user(conn)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("together", [True, False])
def test_any_order_of_arrival(conn: psycopg.Connection, order: tuple[int, ...], together: bool) -> None:
    turns = [turn(position) for position in order]
    for part in [turns] if together else [[each] for each in turns]:
        remember(conn, *part)
    expect(conn, t0="said 1", t1="said 2")


def test_turns_in_which_the_user_is_silent_are_passed_over(conn: psycopg.Connection) -> None:
    remember(conn, turn(0), turn(1, None), turn(2, " "), turn(3, None), turn(4))
    expect(conn, t0="said 4", t1="said 4", t2="said 4", t3="said 4")
    remember(conn, turn(2))
    expect(conn, t0="said 2", t1="said 2", t2="said 4", t3="said 4")
    remember(conn, turn(2, None))
    expect(conn, t0="said 4", t1="said 4", t2="said 4", t3="said 4")


def test_a_changed_turn(conn: psycopg.Connection) -> None:
    remember(conn, turn(0), turn(1))
    remember(conn, turn(1, "other words"))
    expect(conn, t0="other words")


def test_a_forgotten_turn(conn: psycopg.Connection) -> None:
    remember(conn, turn(0), turn(1), turn(2))
    pgfuse.forget(conn, "p", external_ids=["t1"])
    expect(conn, t0="said 2")
    pgfuse.forget(conn, "p", session_ids=["s"])
    expect(conn)


def test_a_turn_without_a_vector(conn: psycopg.Connection) -> None:
    """The next thing said has no vector: there is none to take, and the one after it is not next."""
    remember(conn, turn(0), turn(2))
    remember(conn, turn(1, "zero", content="zero"))
    expect(conn, t1="said 2")


@pytest.mark.parametrize(
    "change", [{"position": None}, {"session_id": None}, {"granularity": "session"}, {"session_id": "other"}]
)
def test_a_memory_that_leaves_its_session(conn: psycopg.Connection, change: dict[str, Any]) -> None:
    remember(conn, turn(0), turn(1), turn(2))
    remember(conn, turn(1) | change)
    expect(conn, t0="said 2")
    remember(conn, turn(1))
    expect(conn, t0="said 1", t1="said 2")
    remember(conn, turn(0) | change)
    expect(conn, t1="said 2")


@pytest.mark.parametrize("column", ["session_id", "granularity"])
def test_sessions_and_kinds_of_memory_do_not_mix(conn: psycopg.Connection, column: str) -> None:
    other = {column: "turn" if column == "granularity" else "other"}
    remember(conn, turn(0), turn(1, **other), turn(2), turn(3, **other))
    expect(conn, t0="said 2", t1="said 3")


def test_profiles_do_not_mix(conn: psycopg.Connection) -> None:
    remember(conn, turn(0), turn(2))
    remember(conn, turn(1), profile="q")
    expect(conn, t0="said 2")


def test_turns_at_the_same_place(conn: psycopg.Connection) -> None:
    """They do not follow one another; before them, the older one counts."""
    remember(conn, turn(0), turn(1), turn(1, "twin", external_id="twin"), turn(2))
    expect(conn, t0="said 1", t1="said 2", twin="said 2")
    pgfuse.forget(conn, "p", external_ids=["t1"])
    expect(conn, t0="twin", twin="said 2")


def test_the_ends_of_the_numbers(conn: psycopg.Connection) -> None:
    remember(conn, turn(2**31 - 1, external_id="last"), turn(-(2**31), external_id="first"))
    expect(conn, first=f"said {2**31 - 1}")


def test_sessions_as_one_memory_have_no_next_turn(conn: psycopg.Connection) -> None:
    remember(conn, turn(0, granularity="session"), turn(1, granularity="session"))
    expect(conn)


def test_plain_sql(conn: psycopg.Connection) -> None:
    remember(conn, turn(0), turn(1), turn(2))
    conn.execute("UPDATE pgfuse.memories SET position = 10 WHERE external_id = 't1'")
    expect(conn, t0="said 2", t2="said 1")
    conn.execute("DELETE FROM pgfuse.memories WHERE external_id = 't2'")
    expect(conn, t0="said 1")
    conn.execute(
        "INSERT INTO pgfuse.memories (profile_id, external_id, session_id, position, content) VALUES ('p', 'x', 's', 5, 'x')"
    )
    expect(conn, t0="said 1", x="said 1")
    conn.execute("DELETE FROM pgfuse.vectors WHERE route = 'vec_user'")
    expect(conn)
    conn.execute("TRUNCATE pgfuse.memories CASCADE")
    expect(conn)


def test_the_route_finds_the_chunk_before(conn: psycopg.Connection) -> None:
    ids = remember(conn, turn(0), turn(1))
    found = pgfuse.recall(
        conn,
        None,
        "p",
        embedding=vector_of("said 1"),
        settings={"weights": {"vec_full": 0, "lexical": 0, "vec_next_user": 1}},
    )
    assert [hit.id for hit in found] == ids[:1]


@settings(QUICK, max_examples=25)
@given(
    turns=st.permutations(range(6)), sizes=st.lists(st.integers(1, 4), min_size=6), silent=st.sets(st.integers(0, 5))
)
def test_any_order_in_any_portions(shared_db: str, turns: list[int], sizes: list[int], silent: set[int]) -> None:
    left = list(turns)
    with psycopg.connect(shared_db) as conn:
        while left:
            size = sizes[len(left) - 1]
            remember(conn, *(turn(position, None if position in silent else "") for position in left[:size]))
            del left[:size]
        check_all(conn)
        conn.rollback()


@pytest.fixture
def two_spaces(db: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(db) as conn:
        conn.execute("SELECT pgfuse.create_space('second', 256, indexed => false)")
        conn.commit()
        yield conn


def test_whatever_happens(two_spaces: psycopg.Connection) -> None:
    machine: Any = partial(Sessions, two_spaces)
    run_state_machine_as_test(machine, settings=QUICK)


def test_a_locked_memory_gets_its_link(db: str) -> None:
    """Somebody holds the chunk before; the link is made when they let go, and not lost."""
    with psycopg.connect(db) as holder, psycopg.connect(db, options="-c lock_timeout=500ms") as writer:
        remember(writer, turn(0))
        writer.commit()
        for lock in ("SELECT FROM pgfuse.memories FOR UPDATE", "DELETE FROM pgfuse.memories"):
            holder.execute(lock)
            try:
                remember(writer, turn(1))
            except psycopg.errors.LockNotAvailable:
                writer.rollback()
            holder.rollback()
            remember(writer, turn(1))
            expect(writer, t0="said 1")
            writer.rollback()


@pytest.mark.parametrize("level", [psycopg.IsolationLevel.REPEATABLE_READ, psycopg.IsolationLevel.SERIALIZABLE])
def test_an_old_snapshot_fails_instead_of_linking_wrongly(db: str, level: psycopg.IsolationLevel) -> None:
    with psycopg.connect(db) as old, psycopg.connect(db) as new:
        old.isolation_level = level
        old.execute("SELECT FROM pgfuse.memories")
        remember(new, turn(1))
        new.commit()
        with pytest.raises(psycopg.errors.SerializationFailure):
            remember(old, turn(0))
        old.rollback()
        remember(old, turn(0))
        old.commit()
        expect(new, t0="said 1")
