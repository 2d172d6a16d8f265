"""Forgetting by id, external id or session, with everything derived."""

from typing import Any

import psycopg
import pytest

import pgfuse
from tests.integration.derived import check_all
from tests.integration.fake_embedder import FakeEmbedder

MEMORIES = [
    {
        "external_id": f"e{n}",
        "session_id": f"s{n % 3}",
        "position": n,
        "user_text": f"words {n}",
        "facets": {"events": f"event {n}"},
    }
    for n in range(9)
]
DERIVED = ("facets", "vectors")


@pytest.fixture
def ids(conn: psycopg.Connection) -> list[int]:
    """Nine memories in three sessions of the profile p; q has the same."""
    pgfuse.remember(conn, "q", MEMORIES, embedder=FakeEmbedder())
    return pgfuse.remember(conn, "p", MEMORIES, embedder=FakeEmbedder())


def left(conn: psycopg.Connection, profile: str = "p") -> list[int]:
    return [
        row[0] for row in conn.execute("SELECT id FROM pgfuse.memories WHERE profile_id = %s ORDER BY id", (profile,))
    ]


def test_by_id(conn: psycopg.Connection, ids: list[int]) -> None:
    assert pgfuse.forget(conn, "p", ids=ids[2:4]) == 2
    assert left(conn) == ids[:2] + ids[4:]
    check_all(conn)


def test_by_external_id(conn: psycopg.Connection, ids: list[int]) -> None:
    assert pgfuse.forget(conn, "p", external_ids=["e0", "e8", "unknown"]) == 2
    assert left(conn) == ids[1:8]
    check_all(conn)


def test_by_session(conn: psycopg.Connection, ids: list[int]) -> None:
    assert pgfuse.forget(conn, "p", session_ids=["s1", "unknown"]) == 3
    assert left(conn) == [id for n, id in enumerate(ids) if n % 3 != 1]
    check_all(conn)


def test_each_is_counted_once(conn: psycopg.Connection, ids: list[int]) -> None:
    assert pgfuse.forget(conn, "p", ids=[ids[0], ids[0], ids[1]], external_ids=["e0", "e2"], session_ids=["s0"]) == 5
    check_all(conn)


def test_nothing_is_left_of_the_last_ones(conn: psycopg.Connection, ids: list[int]) -> None:
    assert pgfuse.forget(conn, "p", ids=iter(ids)) == 9
    for table in DERIVED:
        assert conn.execute(f"SELECT count(*) FROM pgfuse.{table} WHERE profile_id = 'p'").fetchone() == (0,)
    assert list(pgfuse.recall(conn, "words", "p", embedding=[1.0] * 256)) == []
    check_all(conn)


def test_another_profile_is_not_touched(conn: psycopg.Connection, ids: list[int]) -> None:
    before = left(conn, "q")
    assert pgfuse.forget(conn, "p", ids=before) == 0
    pgfuse.forget(conn, "p", ids=ids, external_ids=["e1"], session_ids=["s2"])
    assert left(conn, "q") == before
    check_all(conn)


def test_one_text_is_one_name(conn: psycopg.Connection, ids: list[int]) -> None:
    assert pgfuse.forget(conn, "p", external_ids="e1", session_ids="s2") == 4
    assert left(conn) == [ids[n] for n in (0, 3, 4, 6, 7)]


def test_empty_lists_forget_nothing(conn: psycopg.Connection, ids: list[int]) -> None:
    assert pgfuse.forget(conn, "p", ids=[], external_ids=(), session_ids=[]) == 0
    assert left(conn) == ids


def test_a_forgotten_memory_can_come_back(conn: psycopg.Connection, ids: list[int]) -> None:
    pgfuse.forget(conn, "p", external_ids=["e3"])
    embedder = FakeEmbedder()
    (id,) = pgfuse.remember(conn, "p", [MEMORIES[3]], embedder=embedder)
    assert id not in ids
    assert sorted(set(embedder.texts)) == ["event 3", "words 3"]
    check_all(conn)


def test_nothing_said_is_an_error(conn: psycopg.Connection) -> None:
    with pytest.raises(pgfuse.InvalidInput, match="give ids, external_ids or session_ids"):
        pgfuse.forget(conn, "p")


def test_in_sql_too(conn: psycopg.Connection, ids: list[int]) -> None:
    assert conn.execute("SELECT pgfuse.forget('p', session_ids => '{s0}')").fetchone() == (3,)
    with pytest.raises(psycopg.Error) as caught, conn.transaction():
        conn.execute("SELECT pgfuse.forget('p')")
    assert caught.value.sqlstate == "PF001"
    check_all(conn)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ids", "12"),
        ("ids", 5),
        ("ids", [1.9]),
        ("ids", ["1"]),
        ("ids", [True]),
        ("ids", [None]),
        ("ids", [2**63]),
        ("ids", [10**5000]),
        ("external_ids", 5),
        ("external_ids", [5]),
        ("external_ids", [None]),
        ("external_ids", ["a\0"]),
        ("external_ids", b"ab"),
        ("session_ids", 5),
        ("session_ids", ["\ud800"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_input_is_refused_by_name(conn: psycopg.Connection, ids: list[int], name: str, value: Any) -> None:
    with pytest.raises(pgfuse.InvalidInput, match=rf"^{name}\b"):
        pgfuse.forget(conn, "p", **{name: value})
    assert left(conn) == ids


@pytest.mark.parametrize("profile", ["", "a\0", "\ud800", 5, None])
def test_a_profile_must_be_named(conn: psycopg.Connection, profile: Any) -> None:
    with pytest.raises(pgfuse.InvalidInput, match=r"^profile_id\b"):
        pgfuse.forget(conn, profile, ids=[1])
    with pytest.raises(pgfuse.InvalidInput, match=r"^profile_id\b"):
        pgfuse.remember(conn, profile, [{"content": "x"}])
