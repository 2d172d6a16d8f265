"""What is exported can be ingested, and is then the same."""

import io
import json
from typing import Any

import numpy as np
import psycopg
import pytest

import pgfuse
from pgfuse.export import AT_ONCE, export
from pgfuse.ingest import ingest
from tests.integration.fake_embedder import FakeEmbedder, NoEmbedder, vector_of

MEMORIES: list[dict[str, Any]] = [
    {
        "external_id": "all",
        "kind": "semantic",
        "granularity": "turn",
        "session_id": "s",
        "project_id": "r",
        "position": 2,
        "content": 'Bäume wachsen "hoch" \u2028 🌲',
        "user_text": "wachsen sie?",
        "assistant_text": "ja",
        "task_tag": "wald",
        "tags": ["x", "ÿ"],
        "language": "german",
        "memory_score": 0.7,
        "metadata": {"a": {"b": [1, None, 1.5]}, "big": 12345678901234567890},
        "occurred_at": "2026-01-31T12:00:00.123456+02:00",
        "facets": {"events": "planting", "own": "text"},
    },
    {"external_id": "bare", "content": "plain"},
    {"external_id": "next", "content": "b", "user_text": "u", "session_id": "s", "position": 3, "granularity": "turn"},
    {"content": "without an id of its own"},
]
ROWS = """
SELECT external_id, kind, granularity, session_id, project_id, position, content, user_text, assistant_text,
       task_tag, tags, language::text, memory_score, metadata, occurred_at, created_at, fts::text,
       pgfuse.stored_facets(profile_id, id)
FROM pgfuse.memories WHERE profile_id = %s ORDER BY content
"""
VECTORS = """
SELECT m.content, v.route, v.embedding::text FROM pgfuse.vectors v
JOIN pgfuse.memories m ON m.profile_id = v.profile_id AND m.id = v.memory_id WHERE v.profile_id = %s ORDER BY 1, 2
"""


def written(conn: psycopg.Connection, profile: str, **options: Any) -> io.BytesIO:
    return io.BytesIO("".join(json.dumps(record) + "\n" for record in export(conn, profile, **options)).encode())


@pytest.fixture
def auto(db: str) -> Any:
    with psycopg.connect(db, autocommit=True) as connection:
        pgfuse.remember(connection, "p", MEMORIES, embedder=FakeEmbedder())
        pgfuse.remember(connection, "other", [{"content": "not mine"}], embedder=FakeEmbedder())
        yield connection


@pytest.mark.parametrize("vectors", [False, True])
def test_a_round_trip(auto: psycopg.Connection, vectors: bool) -> None:
    embedder = NoEmbedder() if vectors else FakeEmbedder()
    summary = ingest(auto, written(auto, "p", vectors=vectors), profile_id="q", embedder=embedder)
    assert (summary.read, summary.new, summary.failed) == (4, 4, 0)
    before, after = (auto.execute(ROWS, (profile,)).fetchall() for profile in ("p", "q"))
    assert [row[1:] for row in before] == [row[1:] for row in after]
    assert [row[0] for row in after if row[0] and not row[0].startswith("sha256:")] == [
        row[0] for row in before if row[0]
    ]
    assert auto.execute(VECTORS, ("p",)).fetchall() == auto.execute(VECTORS, ("q",)).fetchall()


def test_into_the_same_profile_nothing_is_written(auto: psycopg.Connection) -> None:
    pgfuse.forget(
        auto, "p", ids=[row[0] for row in auto.execute("SELECT id FROM pgfuse.memories WHERE external_id IS NULL")]
    )
    summary = ingest(auto, written(auto, "p"), profile_id="p", embedder=NoEmbedder())
    assert (summary.unchanged, summary.new, summary.changed) == (3, 0, 0)


def test_what_is_not_there_is_left_out(auto: psycopg.Connection) -> None:
    bare = list(export(auto, "p"))[1]
    created = bare.pop("created_at")
    assert created.endswith("+00:00")
    assert bare == {
        "external_id": "bare",
        "kind": "episodic",
        "granularity": "chunk",
        "content": "plain",
        "language": "english",
        "memory_score": 0.0,
    }


def test_vectors_are_exact_and_say_of_which_model(auto: psycopg.Connection) -> None:
    record = next(iter(export(auto, "p", vectors=True)))
    assert record["embedding_model"] == "wordllama"
    assert set(record["embeddings"]) == {"vec_full", "vec_user", "vec_asst", "facet_events", "facet_own"}
    assert np.array_equal(np.float32(record["embeddings"]["vec_user"]), vector_of("wachsen sie?"))


def test_a_profile_that_has_nothing(auto: psycopg.Connection) -> None:
    assert list(export(auto, "nobody")) == []


def test_one_moment_is_exported_while_others_write(db: str) -> None:
    with psycopg.connect(db) as connection, psycopg.connect(db, autocommit=True) as writer:
        many = [{"content": f"text {n}"} for n in range(2 * AT_ONCE)]
        statement = (
            "INSERT INTO pgfuse.memories (profile_id, content) SELECT 'p', 'text ' || n FROM generate_series(1, %s) n"
        )
        writer.execute(statement, (len(many),))
        records = export(connection, "p")
        next(records)
        writer.execute("INSERT INTO pgfuse.memories (profile_id, content) VALUES ('p', 'too late')")
        assert len(list(records)) == len(many) - 1
