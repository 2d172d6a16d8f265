"""Memories that lack vectors in a space, and how they get them while others read and write."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import errors as pg
from psycopg.rows import DictRow

from pgfuse import embedders
from pgfuse.batch import VECTOR_TYPES, text_fingerprint
from pgfuse.queries import COPY_VECTORS
from pgfuse.route_texts import route_texts
from pgfuse.spaces import Space
from pgfuse.vectors import to_binary

EMBEDDING = "embedding memories"

ABOUT_MISSING = """
SELECT greatest(0, (SELECT count(*) FROM pgfuse.memories)
    - (SELECT count(*) FROM pgfuse.vectors v WHERE v.space_id = %(space_id)s AND v.route = 'vec_full')) AS memories
"""
# A page of memories, of at most so many rows and bytes. What is there is kept, so vectors that callers gave are safe.
MISSING = r"""
SELECT page.* FROM (
    SELECT m.*, pgfuse.stored_facets(m.profile_id, m.id) AS facets,
           sum(octet_length(m.content)) OVER (ORDER BY m.profile_id, m.id) - octet_length(m.content) AS bytes_before
    FROM (
        SELECT m.profile_id, m.id, m.xmin::text AS version, m.session_id, m.content, m.user_text, m.assistant_text,
               m.metadata, have.routes
        FROM pgfuse.memories m
        CROSS JOIN LATERAL (SELECT ARRAY(
            SELECT v.route FROM pgfuse.vectors v
            WHERE v.profile_id = m.profile_id AND v.memory_id = m.id AND v.space_id = %(space_id)s) AS routes) have
        WHERE (m.profile_id, m.id) > (%(profile_id)s, %(id)s) AND NOT have.routes @> (
            ARRAY['vec_full']
            || CASE WHEN m.user_text ~ '\S' THEN ARRAY['vec_user'] END
            || CASE WHEN m.assistant_text ~ '\S' THEN ARRAY['vec_asst'] END
            || ARRAY(
                SELECT 'facet_' || f.name FROM pgfuse.facets f
                WHERE f.profile_id = m.profile_id AND f.memory_id = m.id))
        ORDER BY m.profile_id, m.id
        LIMIT 1000
    ) m
) page
WHERE page.bytes_before < 16000000
ORDER BY page.profile_id, page.id
"""
# Shorter than deadlock_timeout, so that it is never a writer who has to give way.
WAIT_BRIEFLY = "SET LOCAL lock_timeout = '500ms'"
LOCK_SESSIONS = """
SELECT pgfuse.lock_sessions(s.profile_id, s.sessions)
FROM (SELECT p.profile_id, array_agg(DISTINCT p.session_id) AS sessions
      FROM unnest(%(profiles)s::text[], %(sessions)s::text[]) AS p (profile_id, session_id)
      WHERE p.session_id IS NOT NULL GROUP BY p.profile_id ORDER BY p.profile_id) s
"""
LOCK_UNCHANGED = """
SELECT m.profile_id, m.id
FROM unnest(%(profiles)s::text[], %(ids)s::bigint[], %(versions)s::text[]) AS p (profile_id, id, version)
JOIN pgfuse.memories m ON m.profile_id = p.profile_id AND m.id = p.id AND m.xmin::text = p.version
FOR SHARE OF m SKIP LOCKED
"""

Connection = psycopg.Connection[DictRow]
Progress = Callable[[str, int, int], None]
Key = tuple[str, int]


@dataclass(frozen=True)
class Filled:
    """How many memories got how many vectors, how many texts gave only zeros, and how many memories are left."""

    memories: int = 0
    vectors: int = 0
    all_zero: int = 0
    left: int = 0

    def __add__(self, other: "Filled") -> "Filled":
        return Filled(
            self.memories + other.memories,
            self.vectors + other.vectors,
            self.all_zero + other.all_zero,
            self.left + other.left,
        )

    def then(self, again: "Filled") -> "Filled":
        """This pass over the memories and another one after it, which met again what was left."""
        return Filled(self.memories + again.memories, self.vectors + again.vectors, again.all_zero, again.left)


@dataclass(frozen=True)
class Made:
    """A vector that a memory lacked."""

    memory: Key
    route: str
    source: UUID
    vector: NDArray[np.float32]


def fill(
    conn: Connection, space: Space, embedder: embedders.Embedder, progress: Progress, *, writers_wait: bool = False
) -> Filled:
    """Make the vectors that memories lack in a space, a page at a time.

    A memory that a writer holds or has just changed is left, unless the caller's lock lets no writer in.
    """
    total = _about_missing(conn, space)
    filled = Filled()
    progress(EMBEDDING, 0, total)
    for page in _pages(conn, space):
        made = _embed(page, embedder)
        nonzero = [one for one in made if one.vector.any()]
        stored = _copy(conn, space, nonzero) if writers_wait else _locked_store(conn, space, page, nonzero)
        filled += Filled(
            memories=_memories(stored),
            vectors=len(stored),
            all_zero=len(made) - len(nonzero),
            left=_memories(nonzero) - _memories(stored),
        )
        progress(EMBEDDING, filled.memories, max(total, filled.memories))
    return filled


def _about_missing(conn: Connection, space: Space) -> int:
    row = conn.execute(ABOUT_MISSING, {"space_id": space.space_id}).fetchone()
    return row["memories"] if row else 0


def _memories(vectors: Sequence[Made]) -> int:
    return len({one.memory for one in vectors})


def _pages(conn: Connection, space: Space) -> Iterator[list[DictRow]]:
    last: Key = ("", 0)
    while True:
        parameters = {"space_id": space.space_id, "profile_id": last[0], "id": last[1]}
        page = conn.execute(MISSING, parameters).fetchall()
        if not page:
            return
        yield page
        last = (page[-1]["profile_id"], page[-1]["id"])


def _embed(page: Sequence[DictRow], embedder: embedders.Embedder) -> list[Made]:
    wanted = [
        ((row["profile_id"], row["id"]), route, text)
        for row in page
        for route, text in route_texts(row).items()
        if route not in row["routes"]
    ]
    vectors = embedders.embed_documents(embedder, [text for _, _, text in wanted])
    return [
        Made(memory, route, text_fingerprint(text), vector)
        for (memory, route, text), vector in zip(wanted, vectors, strict=True)
    ]


def _locked_store(conn: Connection, space: Space, page: Sequence[DictRow], made: Sequence[Made]) -> Sequence[Made]:
    """Store the vectors of the memories that are still as they were read."""
    columns = {
        "profiles": [row["profile_id"] for row in page],
        "ids": [row["id"] for row in page],
        "versions": [row["version"] for row in page],
        "sessions": [row["session_id"] for row in page],
    }
    try:
        with conn.transaction():
            conn.execute(WAIT_BRIEFLY)
            conn.execute(LOCK_SESSIONS, columns)
            unchanged = {(row["profile_id"], row["id"]) for row in conn.execute(LOCK_UNCHANGED, columns)}
            return _copy(conn, space, [one for one in made if one.memory in unchanged])
    except (pg.LockNotAvailable, pg.UniqueViolation):  # a writer is busy with these, or has made the same vectors
        return []


def _copy(conn: Connection, space: Space, made: Sequence[Made]) -> Sequence[Made]:
    if not made:
        return made
    with conn.cursor() as cursor, cursor.copy(COPY_VECTORS) as copy:
        copy.set_types(VECTOR_TYPES)
        for one in made:
            copy.write_row((*one.memory, space.space_id, one.route, one.source, to_binary(one.vector)))
    return made
