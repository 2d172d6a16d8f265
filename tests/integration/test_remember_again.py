"""The same memories again: what is the same is neither embedded nor written, what changed is replaced."""

from typing import Any

import psycopg
import pytest

import pgfuse
from tests.integration.derived import check_all
from tests.integration.fake_embedder import FakeEmbedder, NoEmbedder

TABLES = ("memories", "facets", "vectors", "postings", "lexical_stats")
MEMORIES: list[dict[str, Any]] = [
    {
        "external_id": "chunk",
        "session_id": "s",
        "position": 0,
        "user_text": "What do I like?",
        "assistant_text": "Green tea.",
        "task_tag": "taste",
        "tags": ["tea", "drinks"],
        "memory_score": 0.1,
        "metadata": {"a": {"b": [1, 2.5, None, "ü"]}},
        "occurred_at": "2026-01-31T12:00:00+02:00",
        "facets": {"preferences": "likes green tea", "events": "asked"},
    },
    {
        "external_id": "next",
        "session_id": "s",
        "position": 1,
        "user_text": "And my cat?",
        "metadata": {"speaker": "Bo"},
    },
    {"external_id": "plain", "content": "Nothing but content."},
]


@pytest.fixture(autouse=True)
def _first(conn: psycopg.Connection) -> None:
    pgfuse.remember(conn, "p", MEMORIES, embedder=FakeEmbedder())


def versions(conn: psycopg.Connection) -> dict[str, list[Any]]:
    """Where each row version lies and which subtransaction made it: any write shows."""
    return {
        table: conn.execute(f"SELECT ctid, xmin, cmin FROM pgfuse.{table} ORDER BY 1").fetchall() for table in TABLES
    }


def changed(**changes: Any) -> list[dict[str, Any]]:
    return [MEMORIES[0] | changes]


def routes_written(conn: psycopg.Connection, before: dict[str, list[Any]]) -> set[str]:
    rows = conn.execute("SELECT ctid, route FROM pgfuse.vectors").fetchall()
    return {route for ctid, route in rows if ctid not in {row[0] for row in before["vectors"]}}


def test_the_same_again_writes_nothing(conn: psycopg.Connection) -> None:
    before = versions(conn)
    pgfuse.remember(conn, "p", MEMORIES, embedder=NoEmbedder())
    pgfuse.remember(conn, "p", [pgfuse.Memory(**memory) for memory in MEMORIES[::-1]], embedder=NoEmbedder())
    assert versions(conn) == before


def test_the_same_again_gives_the_same_ids(conn: psycopg.Connection) -> None:
    ids: dict[str, int] = dict(conn.execute("SELECT external_id, id FROM pgfuse.memories").fetchall())
    assert pgfuse.remember(conn, "p", MEMORIES[::-1], embedder=NoEmbedder()) == [
        ids[key] for key in ("plain", "next", "chunk")
    ]


def test_the_same_again_loads_no_model(conn: psycopg.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgfuse.embedders.load", NoEmbedder())
    pgfuse.remember(conn, "p", MEMORIES)


def test_a_text_with_a_zero_vector_is_not_written_again(conn: psycopg.Connection) -> None:
    memories = [{"external_id": "z", "content": "zero", "user_text": "zero too"}]
    pgfuse.remember(conn, "p", memories, embedder=FakeEmbedder())
    before = versions(conn)
    pgfuse.remember(conn, "p", memories, embedder=FakeEmbedder())
    assert versions(conn) == before


@pytest.mark.parametrize(
    ("change", "embedded"),
    [
        ({"metadata": {"a": 1}}, set()),
        ({"tags": ["drinks", "tea"]}, set()),
        ({"memory_score": 0.2}, set()),
        ({"occurred_at": None}, set()),
        ({"task_tag": "food"}, set()),
        ({"language": "simple"}, set()),
        ({"kind": "identity"}, set()),
        ({"project_id": "home"}, set()),
        ({"metadata": {"speaker": "Ann"}}, {"Ann: user: What do I like?\nassistant: Green tea."}),
        ({"content": "Tea, green."}, {"Tea, green."}),
        ({"user_text": "What?"}, {"What?", "user: What?\nassistant: Green tea."}),
        ({"assistant_text": None, "content": "user: What do I like?\nassistant: Green tea."}, set()),
        ({"facets": {"preferences": "likes green tea", "events": "told"}}, {"told"}),
        ({"facets": {"preferences": "likes green tea", "events": "asked", "place": "Kyoto"}}, {"Kyoto"}),
        ({"facets": {"preferences": "likes green tea"}}, set()),
        ({"facets": {}}, set()),
    ],
)
def test_only_changed_texts_are_embedded(conn: psycopg.Connection, change: dict[str, Any], embedded: set[str]) -> None:
    embedder, before = FakeEmbedder(), versions(conn)
    pgfuse.remember(conn, "p", changed(**change), embedder=embedder)
    assert set(embedder.texts) == embedded
    assert len(routes_written(conn, before) - {"vec_next_user"}) == len(embedded)
    if "speaker" not in change.get("metadata", {}):
        conn.execute("DELETE FROM pgfuse.memories WHERE external_id = 'next'")
        check_all(conn)


def test_changed_text_replaces_row_vectors_and_postings(conn: psycopg.Connection) -> None:
    (id,) = pgfuse.remember(
        conn, "p", [{"external_id": "plain", "content": "Something else."}], embedder=FakeEmbedder()
    )
    assert conn.execute("SELECT id, content FROM pgfuse.memories WHERE external_id = 'plain'").fetchall() == [
        (id, "Something else.")
    ]
    conn.execute("DELETE FROM pgfuse.memories WHERE external_id = 'next'")
    check_all(conn)


def test_what_is_left_out_the_second_time_is_gone(conn: psycopg.Connection) -> None:
    pgfuse.remember(conn, "p", [{"external_id": "chunk", "content": "Short."}], embedder=FakeEmbedder())
    row = conn.execute(
        "SELECT user_text, session_id, tags, metadata FROM pgfuse.memories WHERE external_id = 'chunk'"
    ).fetchone()
    assert row == (None, None, [], {})
    assert conn.execute("SELECT count(*) FROM pgfuse.facets").fetchone() == (0,)
    routes = conn.execute(
        "SELECT route FROM pgfuse.vectors v JOIN pgfuse.memories m ON m.id = memory_id WHERE external_id = 'chunk'"
    )
    assert routes.fetchall() == [("vec_full",)]


def test_a_lost_vector_is_made_again(conn: psycopg.Connection) -> None:
    conn.execute("DELETE FROM pgfuse.vectors WHERE route IN ('vec_asst', 'facet_events')")
    embedder = FakeEmbedder()
    pgfuse.remember(conn, "p", MEMORIES, embedder=embedder)
    assert sorted(embedder.texts) == ["Green tea.", "asked"]


def test_vectors_of_a_text_that_plain_sql_changed_are_made_again(conn: psycopg.Connection) -> None:
    conn.execute("UPDATE pgfuse.memories SET content = 'Changed.' WHERE external_id = 'plain'")
    embedder = FakeEmbedder()
    pgfuse.remember(conn, "p", [{"external_id": "plain", "content": "Changed."}], embedder=embedder)
    assert embedder.texts == ["Changed."]


def test_the_time_of_creation_stays(conn: psycopg.Connection) -> None:
    conn.execute("UPDATE pgfuse.memories SET created_at = '2020-01-01' WHERE external_id = 'plain'")
    pgfuse.remember(conn, "p", [{"external_id": "plain", "content": "new words"}], embedder=FakeEmbedder())
    row = conn.execute("SELECT created_at::date::text FROM pgfuse.memories WHERE external_id = 'plain'").fetchone()
    assert row == ("2020-01-01",)


def test_without_an_external_id_each_call_adds(conn: psycopg.Connection) -> None:
    one = pgfuse.remember(conn, "p", [{"content": "same"}, {"content": "same"}], embedder=FakeEmbedder())
    two = pgfuse.remember(conn, "p", [{"content": "same"}], embedder=FakeEmbedder())
    assert len({*one, *two}) == 3
