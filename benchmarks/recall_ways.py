"""A whole recall, and the same put together from single routes."""

from collections.abc import Callable
from typing import Any

import psycopg

import pgfuse
from benchmarks.peers import TOP_K, embed_query, fuse
from pgfuse.vectors import to_text

ROUTES = ("vec_full", "vec_user", "vec_asst", "vec_next_user")
FACETS = ("personal_info", "preferences", "events")
DENSE_ROUTES = (*ROUTES, *(f"facet_{name}" for name in FACETS))
EIGHT = dict.fromkeys(("lexical", *DENSE_ROUTES), 1)
POOL = 80  # what a recall takes from each route for ten hits
LEXICAL = "SELECT id, score FROM pgfuse.search_lexical(%s, %s, %s)"
DENSE = "SELECT id, score FROM pgfuse.search_dense(%s, %s::vector, %s, %s)"
BARE_POOL = 64  # and for the eight hits that it gives by default
Connection = psycopg.Connection[Any]


def ask(conn: Connection, profile: str) -> Callable[[str], list[str]]:
    """One recall with default settings: the names of the documents found."""
    return lambda query: [str(hit.external_id) for hit in pgfuse.recall(conn, query, profile, top_k=TOP_K)]


def with_settings(conn: Connection, profile: str, **settings: Any) -> Callable[[str], pgfuse.Recall]:
    """One recall with other settings."""
    return lambda query: pgfuse.recall(conn, query, profile, top_k=TOP_K, settings=settings)


def eight_queries(conn: Connection, profile: str) -> Callable[[str], list[int]]:
    """The eight routes one by one, fused by the client."""

    def search(query: str) -> list[int]:
        vector = to_text(embed_query(query))
        found = [conn.execute(DENSE, (profile, vector, route, POOL)).fetchall() for route in DENSE_ROUTES]
        found.append(conn.execute(LEXICAL, (profile, query, POOL)).fetchall())
        return fuse([[row[0] for row in rows] for rows in found])

    return search


def given_vector(conn: Connection, profile: str, **settings: Any) -> Callable[[tuple[str, Any]], pgfuse.Recall]:
    """A recall whose vector is given."""

    def search(query: tuple[str, Any]) -> pgfuse.Recall:
        return pgfuse.recall(conn, query[0], profile, embedding=query[1], settings=settings)

    return search


def bare_routes(conn: Connection, profile: str) -> Callable[[tuple[str, Any]], int]:
    """The two routes as prepared statements, not fused."""

    def search(query: tuple[str, Any]) -> int:
        words = conn.execute(LEXICAL, (profile, query[0], BARE_POOL), prepare=True).fetchall()
        near = conn.execute(DENSE, (profile, to_text(query[1]), "vec_full", BARE_POOL), prepare=True).fetchall()
        return len(words) + len(near)

    return search


def turns(sentences: list[str], count: int) -> list[dict[str, Any]]:
    """Memories with two sides, sessions and facets, so that all eight routes have vectors."""
    parts = [sentences[n % len(sentences)] for n in range(5 * count)]
    return [
        {
            "external_id": f"turn{n}",
            "session_id": f"session{n // 10}",
            "position": n % 10,
            "user_text": parts[5 * n],
            "assistant_text": parts[5 * n + 1],
            "facets": dict(zip(FACETS, parts[5 * n + 2 : 5 * n + 5], strict=True)),
        }
        for n in range(count)
    ]
