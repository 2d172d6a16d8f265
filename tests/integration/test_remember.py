"""What `remember` stores, and what it returns."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest
from psycopg.rows import dict_row

import pgfuse
from pgfuse.vectors import from_binary
from tests.integration.derived import check_all
from tests.integration.fake_embedder import FakeEmbedder, NoEmbedder, vector_of

FULL = {
    "external_id": "m-1",
    "kind": "semantic",
    "granularity": "turn",
    "session_id": "s-1",
    "project_id": "atlas",
    "position": 3,
    "content": "The launch is on Friday.",
    "user_text": "When is the launch?",
    "assistant_text": "On Friday.",
    "task_tag": "planning",
    "tags": ["launch", "dates"],
    "language": "simple",
    "memory_score": 0.25,
    "metadata": {"channel": "mail", "nested": {"n": [1, None, 2.5]}, "unicode": "日本 \\u0000"},
    "occurred_at": datetime(2026, 1, 31, 12, 0, tzinfo=timezone(timedelta(hours=2))),
    "created_at": datetime(2026, 2, 1, tzinfo=UTC),
}


def stored(conn: psycopg.Connection, memory: int) -> dict[str, Any]:
    row = conn.cursor(row_factory=dict_row).execute("SELECT * FROM pgfuse.memories WHERE id = %s", (memory,)).fetchone()
    assert row is not None
    return row


def vectors(conn: psycopg.Connection, memory: int) -> dict[str, list[float]]:
    rows = conn.cursor(binary=True).execute(
        "SELECT route, embedding FROM pgfuse.vectors WHERE memory_id = %s", (memory,)
    )
    return {route: from_binary(data).tolist() for route, data in rows}


def test_ids_come_in_the_order_given(conn: psycopg.Connection) -> None:
    names = ["z", None, "a", "m", None, "b"]
    memories = [{"external_id": name, "content": f"text {index}"} for index, name in enumerate(names)]
    ids = pgfuse.remember(conn, "p", memories, embedder=FakeEmbedder())
    assert [stored(conn, id)["content"] for id in ids] == [memory["content"] for memory in memories]
    assert len(set(ids)) == len(ids)
    again = pgfuse.remember(conn, "p", memories[::-1], embedder=FakeEmbedder())
    assert [again[index] for index in (5, 3, 2, 0)] == [ids[index] for index in (0, 2, 3, 5)]


def test_no_memories_give_no_ids(conn: psycopg.Connection) -> None:
    assert pgfuse.remember(conn, "p", [], embedder=NoEmbedder()) == []


def test_any_iterable_will_do(conn: psycopg.Connection) -> None:
    ids = pgfuse.remember(conn, "p", ({"content": f"text {n}"} for n in range(3)), embedder=FakeEmbedder())
    assert len(ids) == 3


@pytest.mark.parametrize("make", [dict, lambda **columns: pgfuse.Memory(**columns)])
def test_every_column_is_kept(conn: psycopg.Connection, make: Callable[..., Any]) -> None:
    (id,) = pgfuse.remember(conn, "p", [make(**FULL)], embedder=FakeEmbedder())
    row = stored(conn, id)
    assert {name: row[name] for name in FULL} == FULL
    assert row["profile_id"] == "p"


def test_what_is_left_out_has_its_default(conn: psycopg.Connection) -> None:
    (id,) = pgfuse.remember(conn, "p", [{"content": "x", "tags": None, "metadata": None}], embedder=FakeEmbedder())
    row = stored(conn, id)
    assert (row["kind"], row["granularity"], row["language"], row["memory_score"]) == (
        "episodic",
        "chunk",
        "english",
        0,
    )
    assert (row["tags"], row["metadata"], row["external_id"], row["occurred_at"]) == ([], {}, None, None)


@pytest.mark.parametrize(
    ("sides", "content"),
    [
        ({"user_text": "Hi", "assistant_text": "Hello"}, "user: Hi\nassistant: Hello"),
        ({"user_text": "Hi"}, "Hi"),
        ({"assistant_text": "Hello"}, "Hello"),
        ({"content": "own", "user_text": "Hi", "assistant_text": "Hello"}, "own"),
    ],
)
def test_content_is_made_from_the_two_sides(conn: psycopg.Connection, sides: dict[str, str], content: str) -> None:
    (id,) = pgfuse.remember(conn, "p", [sides], embedder=FakeEmbedder())
    assert stored(conn, id)["content"] == content


def test_each_text_has_a_vector_of_its_route(conn: psycopg.Connection) -> None:
    memory = {"user_text": "Hi", "assistant_text": "Hello", "facets": {"events": "greeting", "my_own": "politeness"}}
    (id,) = pgfuse.remember(conn, "p", [memory], embedder=FakeEmbedder())
    texts = {"vec_full": "user: Hi\nassistant: Hello", "vec_user": "Hi", "vec_asst": "Hello"}
    texts |= {"facet_events": "greeting", "facet_my_own": "politeness"}
    assert vectors(conn, id) == {route: vector_of(text).tolist() for route, text in texts.items()}


def test_the_speaker_is_embedded_but_not_shown(conn: psycopg.Connection) -> None:
    embedder = FakeEmbedder()
    (id,) = pgfuse.remember(conn, "p", [{"content": "See you", "metadata": {"speaker": "Ann"}}], embedder=embedder)
    assert embedder.texts == ["Ann: See you"]
    assert stored(conn, id)["content"] == "See you"


def test_a_vector_carries_the_fingerprint_of_its_text(conn: psycopg.Connection) -> None:
    pgfuse.remember(conn, "p", [{"content": "hello"}], embedder=FakeEmbedder())
    row = conn.execute("SELECT source FROM pgfuse.vectors").fetchone()
    assert row == (UUID(hashlib.md5(b"hello", usedforsecurity=False).hexdigest(), version=3),)


def test_several_batches_in_one_call(conn: psycopg.Connection) -> None:
    embedder = FakeEmbedder()
    memories = [{"external_id": str(n % 2500), "content": f"text {n}", "session_id": f"s{n % 7}"} for n in range(2500)]
    ids = pgfuse.remember(conn, "p", memories, embedder=embedder)
    rows: dict[int, str] = dict(conn.execute("SELECT id, content FROM pgfuse.memories").fetchall())
    assert [rows[id] for id in ids] == [memory["content"] for memory in memories]
    assert sorted(embedder.texts) == sorted(rows.values())
    assert max(map(len, embedder.calls)) <= 1000
    check_all(conn)


def test_a_zero_vector_leaves_the_row_without_that_vector(
    conn: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    memories = [{"content": "zero words", "user_text": "fine"}, {"content": "good words"}]
    first, second = pgfuse.remember(conn, "p", memories, embedder=FakeEmbedder())
    assert (set(vectors(conn, first)), set(vectors(conn, second))) == ({"vec_user"}, {"vec_full"})
    assert "vec_full" in caplog.text
    found = pgfuse.recall(conn, "words", "p", embedding=vector_of("words"))
    assert {hit.id for hit in found} == {first, second}
    assert all(np.isfinite([hit.final_score, hit.rrf_score, hit.blend_score]).all() for hit in found)


def test_profiles_do_not_share_external_ids(conn: psycopg.Connection) -> None:
    one, two = (pgfuse.remember(conn, p, [{"external_id": "a", "content": p}], embedder=FakeEmbedder()) for p in "pq")
    assert one != two
    assert [stored(conn, id)["content"] for id in one + two] == ["p", "q"]


def test_nothing_is_committed_for_the_caller(db: str) -> None:
    with psycopg.connect(db) as conn, psycopg.connect(db, autocommit=True) as other:
        pgfuse.remember(conn, "p", [{"content": "x"}], embedder=FakeEmbedder())
        assert other.execute("SELECT count(*) FROM pgfuse.memories").fetchone() == (0,)
        conn.commit()
        assert other.execute("SELECT count(*) FROM pgfuse.memories").fetchone() == (1,)
        pgfuse.remember(other, "p", [{"content": "y"}], embedder=FakeEmbedder())
        assert conn.execute("SELECT count(*) FROM pgfuse.memories").fetchone() == (2,)


@pytest.mark.parametrize(
    "settings", ["search_path=", "search_path=evil,public", "client_encoding=latin1", "timezone=Asia/Tokyo"]
)
def test_the_callers_settings_do_no_harm(shared_db: str, settings: str) -> None:
    with psycopg.connect(shared_db, options=f"-c {settings}") as conn:
        conn.execute("CREATE SCHEMA evil")
        conn.execute("CREATE TEXT SEARCH CONFIGURATION evil.english (COPY = pg_catalog.simple)")
        (id,) = pgfuse.remember(
            conn, "p", [{**FULL, "language": "english", "content": "日本 running"}], embedder=FakeEmbedder()
        )
        conn.execute("SET client_encoding = utf8")
        assert conn.execute(
            "SELECT content, fts::text ~ '''run''' FROM pgfuse.memories WHERE id = %s", (id,)
        ).fetchone() == ("日本 running", True)
        conn.execute("SET search_path = pg_catalog, public")
        check_all(conn)
        conn.rollback()


@pytest.mark.parametrize("factory", [psycopg.ClientCursor, psycopg.RawCursor])
def test_the_callers_kind_of_cursor_does_not_matter(shared_db: str, factory: Any) -> None:
    with psycopg.connect(shared_db, cursor_factory=factory, row_factory=dict_row) as conn:
        ids = pgfuse.remember(conn, "p", [{"content": "x", "external_id": "x"}], embedder=FakeEmbedder())
        assert pgfuse.forget(conn, "p", ids=ids) == 1
        conn.rollback()
