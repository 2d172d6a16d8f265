"""BM25 scores against those of the bm25s package, from the same tokens."""

from collections.abc import Iterable, Mapping
from typing import Any

import bm25s
import numpy as np
import psycopg

from benchmarks.lexical_ways import bm25_way

TOKENS = """
SELECT m.id, array_agg(l.lexeme), array_agg(cardinality(l.positions))
FROM pgfuse.memories m CROSS JOIN LATERAL unnest(m.fts) l WHERE m.profile_id = %s GROUP BY m.id ORDER BY m.id
"""
WORDS = "SELECT array_agg(lexeme) FROM unnest(to_tsvector('english', %s))"
Connection = psycopg.Connection[Any]


def largest_difference(
    conn: Connection, profile: str, queries: Iterable[str], settings: Mapping[str, float]
) -> tuple[float, int]:
    """The largest difference between two scores of the same memory, and how many were compared."""
    rows = conn.execute(TOKENS, (profile,)).fetchall()
    index = bm25s.BM25(method="lucene", k1=settings["bm25_k1"], b=settings["bm25_b"], dtype="float64")
    tokens = [[word for word, count in zip(*row[1:], strict=True) for _ in range(count)] for row in rows]
    index.index(tokens, show_progress=False)
    places, search = {row[0]: place for place, row in enumerate(rows)}, bm25_way(conn, profile, settings)
    largest, compared = 0.0, 0
    for query in queries:
        (words,) = conn.execute(WORDS, (query,)).fetchone() or ([],)
        expected = index.get_scores(list(words or []))
        differences = [abs(score - expected[places[memory]]) for memory, score in search(query)]
        largest, compared = max(largest, float(np.max(differences, initial=0.0))), compared + len(differences)
    return largest, compared
