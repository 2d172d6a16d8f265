"""What follows from the memories, computed here a second time, and how it differs from what the database holds.

Lexemes come from PostgreSQL's own to_tsvector; everything after that is counted in Python.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
from psycopg.rows import namedtuple_row

LEXEMES = """
SELECT m.profile_id, m.id, m.language::text AS language, l.lexeme, l.positions, l.weights,
       hashtextextended(l.lexeme, hashtext(m.language::text)) AS term
FROM pgfuse.memories m
LEFT JOIN LATERAL unnest(
    setweight(to_tsvector(m.language, left(coalesce(m.task_tag, ''), 1000)), 'A')
    || to_tsvector(m.language, left(m.content, 100000))) AS l ON true
"""
ENTRIES = """
SELECT p.profile_id, p.term, e.id, e.packed FROM pgfuse.postings p, unnest(p.ids, p.packed) AS e (id, packed)
"""
TURNS = """
SELECT profile_id, id, external_id, content, session_id, granularity, position, user_text, assistant_text
FROM pgfuse.memories
"""
VECTORS = "SELECT profile_id, memory_id, space_id, route, source, embedding::text AS embedding FROM pgfuse.vectors"

Key = tuple[Any, ...]


class Lexical(NamedTuple):
    """What BM25 reads."""

    postings: Mapping[Key, int]
    """(profile, term, memory, tf, dl) -> how often it is listed."""
    docs: Mapping[Key, int]
    """(profile, term) -> in how many memories."""
    stats: Mapping[Key, Key]
    """(profile, language) -> memories, words."""


def rows(conn: psycopg.Connection[Any], query: str) -> list[Any]:
    """The rows of a query, by name or by place, whatever rows the caller's connection makes."""
    return conn.cursor(row_factory=namedtuple_row).execute(query).fetchall()


def nonzero(counts: Mapping[Key, int]) -> dict[Key, int]:
    return {key: count for key, count in counts.items() if count}


def expected_lexical(conn: psycopg.Connection[Any]) -> Lexical:
    """What the memories say."""
    words: dict[Key, list[Any]] = defaultdict(list)
    for row in rows(conn, LEXEMES):
        words[row.profile_id, row.language, row.id] += [row] if row.lexeme is not None else []
    postings: Counter[Key] = Counter()
    stats: dict[Key, Key] = defaultdict(lambda: (0, 0))
    for (profile, language, memory), lexemes in words.items():
        dl = sum(len(row.positions) for row in lexemes)
        for row in lexemes:
            tf = min(1023, len(row.positions) + 2 * sum(weight == "A" for weight in row.weights))
            postings[profile, row.term, memory, tf, dl] += 1
        stats[profile, language] = (stats[profile, language][0] + 1, stats[profile, language][1] + dl)
    return Lexical(postings, Counter(key[:2] for key in postings), stats)


def stored_lexical(conn: psycopg.Connection[Any]) -> Lexical:
    """What the postings and statistics say."""
    postings: Counter[Key] = Counter()
    for profile, term, memory, packed in rows(conn, ENTRIES):
        postings[profile, term, memory, abs(packed) % 1024, abs(packed) // 1024] += 1 if packed > 0 else -1
    docs = Counter[Key]()
    for profile, term, count in rows(conn, "SELECT profile_id, term, docs FROM pgfuse.postings"):
        docs[profile, term] += count
    stats = rows(
        conn,
        "SELECT profile_id, language::text, sum(docs)::int AS docs, sum(words)::int AS words FROM pgfuse.lexical_stats GROUP BY 1, 2",
    )
    return Lexical(nonzero(postings), nonzero(docs), {(p, lang): (d, w) for p, lang, d, w in stats if d or w})


def check_lexical(conn: psycopg.Connection[Any]) -> None:
    """Postings, document frequencies and statistics are exactly those of the memories."""
    expected, stored = expected_lexical(conn), stored_lexical(conn)
    assert stored.postings == expected.postings
    assert stored.docs == expected.docs
    assert stored.stats == expected.stats


class Turn(NamedTuple):
    """A memory's place in its session."""

    profile: str
    session: str | None
    granularity: str
    position: int | None
    id: int
    speaks: bool


def next_user_turn(turn: Turn, turns: list[Turn]) -> Turn | None:
    """The definition: the first later turn of the session in which the user speaks."""
    if turn.session is None or turn.position is None or turn.granularity == "session":
        return None
    later = [
        other
        for other in turns
        if other[:3] == turn[:3] and other.speaks and other.position is not None and other.position > turn.position
    ]
    return min(later, key=lambda other: (other.position, other.id), default=None)


def check_next_user(conn: psycopg.Connection[Any]) -> None:
    """Each vec_next_user is the vec_user of the next user turn, in every space, and there are no others."""
    turns = [
        Turn(row.profile_id, row.session_id, row.granularity, row.position, row.id, bool((row.user_text or "").strip()))
        for row in rows(conn, TURNS)
    ]
    stored: dict[str, dict[Key, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows(conn, VECTORS):
        stored[row.route][row.profile_id, row.memory_id][row.space_id] = row.embedding
    sessions: dict[Key, list[Turn]] = defaultdict(list)
    for turn in turns:
        sessions[turn[:3]].append(turn)
    expected = {}
    for turn in turns:
        following = next_user_turn(turn, sessions[turn[:3]])
        if following and (vectors := stored["vec_user"].get((following.profile, following.id))):
            expected[turn.profile, turn.id] = vectors
    assert stored["vec_next_user"] == expected


def sources(row: Any, facets: Mapping[str, str]) -> Iterator[tuple[str, UUID]]:
    """Each route that a memory without a known speaker has a vector for, with the fingerprint of its text."""
    texts = {"vec_full": row.content, "vec_user": row.user_text, "vec_asst": row.assistant_text}
    for route, text in (texts | {f"facet_{name}": text for name, text in facets.items()}).items():
        if text and "zero" not in text:
            yield route, UUID(bytes=hashlib.md5(text.encode(), usedforsecurity=False).digest(), version=3)


def check_vectors(conn: psycopg.Connection[Any]) -> None:
    """Every memory has all of its vectors in the space in use, made from its present texts, and no vector is left over."""
    facets: dict[Key, dict[str, str]] = defaultdict(dict)
    for row in rows(conn, "SELECT * FROM pgfuse.facets"):
        facets[row.profile_id, row.memory_id][row.name] = row.text
    expected = {
        (row.profile_id, row.id, route): source
        for row in rows(conn, TURNS)
        for route, source in sources(row, facets[row.profile_id, row.id])
    }
    stored = rows(
        conn,
        "SELECT v.* FROM pgfuse.vectors v JOIN pgfuse.spaces s USING (space_id) WHERE s.active AND route <> 'vec_next_user'",
    )
    assert {(row.profile_id, row.memory_id, row.route): row.source for row in stored} == expected


def check_all(conn: psycopg.Connection[Any]) -> None:
    """Everything derived is right."""
    check_lexical(conn)
    check_vectors(conn)
    check_next_user(conn)
