"""Three ways to search vectors inside a profile: pgfuse, all of the profile's, and one plain HNSW index."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import psycopg

from benchmarks.exact import Truth
from benchmarks.timing import Samples
from pgfuse.vectors import to_text

MOST = 64
EF_SEARCH = (40, 64, 100, 150, 200, 300, 400, 500, 600, 800, 1000)
SAME_RECALL = 0.002  # two builds of one index differ by as much
SCANNED = (20_000, 100_000, 1_000_000)
FILTER = '{"rare": true}'
PGFUSE = "SELECT id, score FROM pgfuse.search_dense(%s, %s::vector, 'vec_full', 64, %s::jsonb)"
EXACT = """
SELECT v.memory_id, (v.embedding <=> %s::vector) + 0 AS distance FROM pgfuse.vectors v {join}
WHERE v.profile_id = '{profile}' AND v.space_id = 1 AND v.route = 'vec_full' ORDER BY distance LIMIT 64
"""
JOIN = (
    "JOIN pgfuse.memories m ON m.profile_id = v.profile_id AND m.id = v.memory_id "
    """AND m.profile_id = '{profile}' AND m.metadata @> '{{"rare": true}}'"""
)
# The condition on memory_id keeps the plain index to this query: pgfuse's own do not have it.
PLAIN_INDEX = """
CREATE INDEX bench_plain_hnsw ON pgfuse.vectors USING hnsw ((embedding::vector(256)) vector_cosine_ops)
WHERE route = 'vec_full' AND memory_id > 0
"""
PLAIN = """
SELECT v.memory_id, v.embedding::vector(256) <=> %s::vector(256) AS distance FROM pgfuse.vectors v
WHERE v.route = 'vec_full' AND v.memory_id > 0 AND v.profile_id = '{profile}' {exists}
ORDER BY v.embedding::vector(256) <=> %s::vector(256) LIMIT 64
"""
EXISTS = (
    "AND EXISTS (SELECT FROM pgfuse.memories m WHERE m.profile_id = v.profile_id AND m.id = v.memory_id "
    """AND m.metadata @> '{"rare": true}' OFFSET 0)"""
)
TUNING_QUERIES, PROBES = 40, 5

Connection = psycopg.Connection[Any]
Search = Callable[[Any], list[int]]


@dataclass(frozen=True)
class Tuned:
    """The fastest setting of a plain index that finds as much as pgfuse, if any does so before exact search is done."""

    setting: str | None
    recall: float | None = None


def pgfuse_way(conn: Connection, profile: str, *, filtered: bool) -> Search:
    """`pgfuse.search_dense`."""
    options = f'{{"metadata": {FILTER}}}' if filtered else "{}"
    return lambda vector: _ids(conn, PGFUSE, (profile, to_text(vector), options))


def exact_way(conn: Connection, profile: str, *, filtered: bool) -> Search:
    """A scan of the profile."""
    statement = EXACT.format(profile=profile, join=JOIN.format(profile=profile) if filtered else "")
    return lambda vector: _ids(conn, statement, (to_text(vector),))


def plain_way(conn: Connection, profile: str, *, filtered: bool) -> Search:
    """The plain HNSW index, with the profile as a filter; it gives rows in about their order."""
    statement = PLAIN.format(profile=profile, exists=EXISTS if filtered else "")

    def search(vector: Any) -> list[int]:
        text = to_text(vector)
        rows = conn.execute(statement, (text, text)).fetchall()
        return [row[0] for row in sorted(rows, key=lambda row: row[1])]

    return search


def _ids(conn: Connection, statement: str, params: tuple[Any, ...]) -> list[int]:
    return [row[0] for row in conn.execute(statement, params).fetchall()]


def prepare_plain(conn: Connection) -> None:
    """Let the planner have no way but the plain index."""
    for name in ("enable_seqscan", "enable_sort", "enable_bitmapscan"):
        conn.execute(f"SET {name} = off")
    conn.execute("SET hnsw.iterative_scan = relaxed_order")
    conn.execute("SET hnsw.scan_mem_multiplier = 100")


def set_plain(conn: Connection, ef_search: int, scanned: int) -> None:
    """Choose how far the plain index looks."""
    conn.execute(f"SET hnsw.ef_search = {ef_search}")
    conn.execute(f"SET hnsw.max_scan_tuples = {scanned}")


def tune_plain(conn: Connection, search: Search, queries: Any, truth: Truth, *, recall: float, slowest: float) -> Tuned:
    """The best of all settings; one that takes longer than `slowest` is given up after a few queries."""
    found: list[tuple[float, float, int, int]] = []
    for ef_search in EF_SEARCH:
        for scanned in SCANNED:
            set_plain(conn, ef_search, scanned)
            samples = _tried(search, queries[:TUNING_QUERIES], slowest)
            if samples is None:
                break  # to look further would take longer still
            reached = truth.recall(samples.answers, MOST)
            if reached >= recall - SAME_RECALL:
                found.append((samples.p50, reached, ef_search, scanned))
                break
    if not found:
        return Tuned(None)
    _, reached, ef_search, scanned = min(found)
    set_plain(conn, ef_search, scanned)
    return Tuned(f"ef {ef_search}, scan {scanned:,}", reached)


def _tried(search: Search, queries: Any, slowest: float) -> Samples | None:
    samples = Samples()
    for query in _warmed(search, queries):
        samples.add(search, query)
        if len(samples.times) == PROBES and samples.p50 > slowest:
            return None
    return samples


def _warmed(search: Search, queries: Any) -> Iterator[Any]:
    search(queries[0])
    yield from queries
