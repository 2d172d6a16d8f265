"""Memories as the oracle sees them, and how they are put into a database in two statements."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import psycopg

EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
_lexemes: dict[tuple[str, str], Counter[str]] = {}


@dataclass(frozen=True, kw_only=True)
class Doc:
    """One memory: its columns, and the vectors a caller gave for it."""

    id: int
    content: str
    profile_id: str = "p"
    kind: str = "episodic"
    granularity: str = "chunk"
    session_id: str | None = None
    project_id: str | None = None
    position: int | None = None
    user_text: str | None = None
    task_tag: str | None = None
    tags: tuple[str, ...] = ()
    language: str = "english"
    memory_score: float = 0.0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    occurred_at: datetime | None = None
    created_at: datetime = EPOCH
    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def time(self) -> datetime:
        return self.occurred_at or self.created_at


INSERT_MEMORIES = """
INSERT INTO pgfuse.memories (profile_id, id, content, kind, granularity, session_id, project_id, position, user_text,
    task_tag, tags, language, memory_score, metadata, occurred_at, created_at)
SELECT r.profile_id, r.id, r.content, r.kind, r.granularity, r.session_id, r.project_id, r.position, r.user_text,
    r.task_tag, r.tags, r.language, r.memory_score, r.metadata, r.occurred_at, r.created_at
FROM jsonb_to_recordset(%s) AS r (profile_id text, id bigint, content text, kind text, granularity text,
    session_id text, project_id text, position int, user_text text, task_tag text, tags text[], language regconfig,
    memory_score real, metadata jsonb, occurred_at timestamptz, created_at timestamptz)
"""
INSERT_VECTORS = """
INSERT INTO pgfuse.vectors (profile_id, memory_id, space_id, route, embedding)
SELECT r.profile_id, r.id, s.space_id, r.route, r.embedding::vector
FROM jsonb_to_recordset(%s) AS r (profile_id text, id bigint, route text, embedding text), pgfuse.spaces s
WHERE s.active
"""


def insert(conn: psycopg.Connection[Any], docs: Sequence[Doc]) -> None:
    """Put the memories and their vectors into the database."""
    rows = [{name: value for name, value in vars(doc).items() if name != "vectors"} for doc in docs]
    vectors = [
        {"profile_id": doc.profile_id, "id": doc.id, "route": route, "embedding": json.dumps(list(vector))}
        for doc in docs
        for route, vector in doc.vectors.items()
    ]
    conn.execute(INSERT_MEMORIES, [json.dumps(rows, default=datetime.isoformat)])
    conn.execute(INSERT_VECTORS, [json.dumps(vectors)])


def lexemes(conn: psycopg.Connection[Any], language: str, text: str | None) -> Counter[str]:
    """How many positions each lexeme has in a text: the one thing the oracle asks of PostgreSQL."""
    key = (language, text or "")
    if key not in _lexemes:
        rows = conn.execute(
            "SELECT lexeme, cardinality(positions) FROM unnest(to_tsvector(%s::text::regconfig, %s))", [*key]
        ).fetchall()
        _lexemes[key] = Counter(dict(rows))
    return _lexemes[key]
