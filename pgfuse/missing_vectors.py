"""Memories that lack vectors in a space, and how they get them while others read and write."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from psycopg import errors as pg
from psycopg.rows import DictRow

from pgfuse import embedders
from pgfuse.batch import VECTOR_TYPES, fingerprint
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
            || ARRAY(SELECT 'facet_' || f.name FROM pgfuse.facets f WHERE f.profile_id = m.profile_id AND f.memory_id = m.id))
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
            max(self.all_zero, other.all_zero),  # each pass meets the same ones again
            other.left,
        )


@dataclass(frozen=True)
class Wanted:
    """A vector to be made."""

    profile_id: str
    memory_id: int
    route: str
    text: str

    @property
    def source(self) -> UUID:
        """The fingerprint of its text."""
        return fingerprint(self.text.encode())


def fill(
    conn: Connection, space: Space, embedder: embedders.Embedder, progress: Progress, *, writers_wait: bool = False
) -> Filled:
    """Make the vectors that memories lack in a space, a page at a time.

    A memory that a writer holds or has just changed is left, unless writers wait for us.
    """
    total = _total(conn, space)
    memories = vectors = zeros = left = 0
    for page in _pages(conn, space):
        wanted = list(_wanted(page))
        made = embedders.embed_documents(embedder, [one.text for one in wanted])
        pairs = [(one, vector) for one, vector in zip(wanted, made, strict=True) if vector.any()]
        zeros += len(wanted) - len(pairs)
        kept = _lock_and_store(conn, space, page, pairs, writers_wait=writers_wait)
        memories += len({(one.profile_id, one.memory_id) for one, _ in kept})
        vectors += len(kept)
        left += len({(one.profile_id, one.memory_id) for one, _ in pairs}) - len(
            {(one.profile_id, one.memory_id) for one, _ in kept}
        )
        progress(EMBEDDING, memories, max(total, memories))
    return Filled(memories, vectors, zeros, left)
