"""Two ways to search by words: pgfuse's BM25, and any word ranked by ts_rank_cd."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import psycopg

MOST = 64
BM25 = "SELECT id, score FROM pgfuse.search_lexical(%s, %s, 64, %s::jsonb)"
# the words are combined from lexemes, as pgfuse does it
TS_RANK_CD = """
SELECT m.id, ts_rank_cd(m.fts, q.query) AS score
FROM (SELECT string_agg(quote_literal(l.lexeme), ' | ')::tsquery AS query
      FROM unnest(to_tsvector('english', %s)) l) q, pgfuse.memories m
WHERE m.profile_id = '{profile}' AND m.fts @@ q.query ORDER BY score DESC LIMIT 64
"""
Connection = psycopg.Connection[Any]
Search = Callable[[str], list[tuple[int, float]]]


def bm25_way(conn: Connection, profile: str, settings: Mapping[str, float] | None = None) -> Search:
    """`pgfuse.search_lexical`."""
    options = json.dumps({"settings": dict(settings)} if settings else {})
    return lambda query: conn.execute(BM25, (profile, query, options)).fetchall()


def ts_rank_cd_way(conn: Connection, profile: str) -> Search:
    """What everybody copies, with any word instead of all."""
    statement = TS_RANK_CD.format(profile=profile)
    return lambda query: conn.execute(statement, (query,)).fetchall()
