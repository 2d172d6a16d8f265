"""Loading many rows quickly: COPY without indexes and without the upkeep of words, which are made afterwards."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from benchmarks.embedding import Vectors
from benchmarks.progress import say
from pgfuse.vectors import to_binary

MEMORIES = "COPY pgfuse.memories (profile_id, id, external_id, content, metadata) FROM STDIN"
VECTORS = "COPY pgfuse.vectors (profile_id, memory_id, space_id, route, embedding) FROM STDIN (FORMAT BINARY)"
INDEXES = """
SELECT c.relname, pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid IN ('pgfuse.memories'::regclass, 'pgfuse.vectors'::regclass) AND NOT i.indisprimary
"""
Connection = psycopg.Connection[Any]
Memory = tuple[str, int, str, str, dict[str, Any]]
Vector = tuple[str, int, Any]


@contextmanager
def bulk(conn: Connection) -> Iterator[None]:
    """Load inside the block: the indexes and the postings are built when it ends."""
    indexes = conn.execute(INDEXES).fetchall()
    for name, _ in indexes:
        conn.execute(f"DROP INDEX pgfuse.{name}")
    conn.execute("ALTER TABLE pgfuse.memories DISABLE TRIGGER USER")
    yield
    conn.execute("ALTER TABLE pgfuse.memories ENABLE TRIGGER USER")
    say("building the postings")
    conn.execute("TRUNCATE pgfuse.postings")  # a rebuild leaves the old ones' space behind
    conn.execute("SELECT pgfuse.rebuild_lexical()")
    say(f"building {len(indexes)} indexes")
    for _, definition in indexes:
        conn.execute(definition)
    conn.execute("VACUUM ANALYZE")


def copy_memories(conn: Connection, rows: Iterable[Memory]) -> None:
    """Rows of profile, id, external id, content and metadata."""
    with conn.cursor() as cursor, cursor.copy(MEMORIES) as copy:
        for *columns, metadata in rows:
            copy.write_row((*columns, json.dumps(metadata)))


def copy_vectors(conn: Connection, rows: Iterable[Vector]) -> None:
    """Rows of profile, memory and vector, for the route vec_full; a zero vector has no row."""
    with conn.cursor() as cursor, cursor.copy(VECTORS) as copy:
        copy.set_types(("text", "int8", "int4", "text", "bytea"))
        for profile, memory, vector in rows:
            if vector.any():
                copy.write_row((profile, memory, 1, "vec_full", to_binary(vector)))


def copy_documents(
    conn: Connection, profile: str, documents: Sequence[tuple[str, str]], vectors: Vectors | None = None, first: int = 1
) -> None:
    """Documents of external id and content in one profile, numbered from `first`."""
    numbered = list(enumerate(documents, first))
    copy_memories(conn, ((profile, number, name, content, {}) for number, (name, content) in numbered))
    if vectors is not None:
        copy_vectors(conn, ((profile, first + place, vector) for place, vector in enumerate(vectors)))
