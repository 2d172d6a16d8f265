"""What fusing candidates costs inside the database, and what MMR costs in Python."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import psycopg

import pgfuse
from benchmarks import server
from benchmarks.bench import Bench
from benchmarks.panels import Panel
from benchmarks.results import Figure, Report
from pgfuse import mmr

DIM = 64
RUNS = 60
RRF = """
EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON)
SELECT * FROM pgfuse.rrf(%(ids)s::bigint[], %(ranks)s::int[], NULL, 60, 25)
"""


def measure(bench: Bench) -> Report:
    """Run everything in a database of its own."""
    url = server.make_migrated(bench.url, "fusion", dim=DIM, model="bench")
    with psycopg.connect(url, autocommit=True) as conn:
        figures = [_rrf(conn), *_recall(conn), _mmr()]
    names = ["rrf", "recall, whole call", "recall, fusion only", "MMR"]
    panel = Panel("fusion", "ms", names, {"measured": [figure.value for figure in figures]}, kind="bars")
    return Report("fusion", figures, panels=[panel])


def _rrf(conn: psycopg.Connection[Any]) -> Figure:
    """1,000 candidates from each of two lists that share half of them."""
    ids = [*range(1, 1001), *range(501, 1501)]
    params = {"ids": ids, "ranks": [*range(1, 1001)] * 2}

    def once() -> float:
        row = conn.execute(RRF, params).fetchone()
        return float(row[0][0]["Execution Time"]) if row else float("nan")

    return Figure("pgfuse.rrf, 1,000 + 1,000 candidates, in the database, p50", _quantile(once, 50), most=1.0)


def _recall(conn: psycopg.Connection[Any]) -> list[Figure]:
    """100 candidates of the dense route and 80 of the lexical one, top 25."""
    rng = np.random.default_rng(7)
    memories = [
        {"content": f"{'harbour' if n < 80 else 'meadow'} note {n}", "embeddings": {"vec_full": rng.normal(size=DIM)}}
        for n in range(400)
    ]
    pgfuse.remember(conn, "bench", memories)
    conn.execute("VACUUM ANALYZE")
    settings = {"fusion": "rrf", "weights": {"vec_full": 1, "lexical": 1}, "pool_multiplier": 4}
    fused: list[float] = []

    def once() -> float:
        started = time.perf_counter()
        found = pgfuse.recall(conn, "harbour", "bench", top_k=25, embedding=rng.normal(size=DIM), settings=settings)
        fused.append(found.trace["fusion_latency_ms"])
        counts = {name: route["candidates"] for name, route in found.trace["routes"].items()}
        assert (counts["vec_full"], counts["lexical"], len(found)) == (100, 80, 25)
        return (time.perf_counter() - started) * 1000

    total = _quantile(once, 95)
    return [
        Figure("recall, 100 + 80 candidates, top 25, whole call, p95", total, most=20.0),
        Figure(
            "recall, 100 + 80 candidates, top 25, fusion in the database, p95", float(np.percentile(fused[-RUNS:], 95))
        ),
    ]


def _mmr() -> Figure:
    """200 candidates to 50 picks."""
    rng = np.random.default_rng(7)
    vectors = list(rng.normal(size=(200, 256)).astype(np.float32))
    tags = [[f"tag{n % 9}", f"tag{n % 5}"] for n in range(200)]
    relevance = list(np.sort(rng.random(200))[::-1])

    def once() -> float:
        started = time.perf_counter()
        mmr.select(relevance, vectors, tags, top_k=50, lambda_=0.7, duplicate_threshold=0.95, tag_weight=0.35)
        return (time.perf_counter() - started) * 1000

    return Figure("MMR, 200 candidates to 50 picks, p50", _quantile(once, 50), most=5.0)


def _quantile(once: Callable[[], float], percent: float) -> float:
    for _ in range(8):
        once()
    return float(np.percentile([once() for _ in range(RUNS)], percent))
