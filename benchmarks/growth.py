"""What a recall in a profile of fixed size costs while the table around it grows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import psycopg

import pgfuse
from benchmarks.bench import Bench
from benchmarks.crowd import FIXED, Crowd, profile_of
from benchmarks.panels import Panel
from benchmarks.results import Figure, Report
from benchmarks.timing import alternate

GROWN = 2.0


def measure(bench: Bench) -> Report:
    """The same recalls, in turn, in tables of 1,000 rows, ten times as many, and so on."""
    sizes = [size for size in (1_000, 10_000, 100_000) if size < bench.rows]
    crowds = {size: bench.small_crowd(size) for size in sizes} | {bench.rows: bench.crowd()}
    with ExitStack() as stack:
        recalls = {
            f"{size:,}": _recall(stack.enter_context(psycopg.connect(crowd.url, autocommit=True)), crowd)
            for size, crowd in crowds.items()
        }
        samples = alternate(recalls, range(len(crowds[bench.rows].queries)))
    rows = [{"rows in the table": name, "p50": found.p50, "p95": found.p95} for name, found in samples.items()]
    first, last = rows[0], rows[-1]
    name = f"p50 with {last['rows in the table']} rows to p50 with {first['rows in the table']}"
    panel = Panel(
        f"recall in a profile of {FIXED:,}", "ms", list(samples), {"p50": [row["p50"] for row in rows]}, kind="bars"
    )
    figures = [Figure(name, last["p50"] / first["p50"], "times", most=GROWN)]
    return Report("growth", figures, rows, [panel], {"profile": FIXED})


def _recall(conn: psycopg.Connection[Any], crowd: Crowd) -> Callable[[int], pgfuse.Recall]:
    profile = profile_of(FIXED)
    return lambda n: pgfuse.recall(conn, crowd.queries[n], profile, embedding=crowd.query_vectors[n])
