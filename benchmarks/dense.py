"""Dense search inside profiles of every size in one large table: recall against exact answers, and time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np
import psycopg

import pgfuse
from benchmarks import dense_ways as ways
from benchmarks.bench import Bench
from benchmarks.crowd import RARE, Crowd
from benchmarks.exact import Truth
from benchmarks.panels import Panel
from benchmarks.progress import say
from benchmarks.results import Figure, Report, Row
from benchmarks.timing import Samples, alternate

LARGE, FEWER_QUERIES = 50_000, 60
SLOWER = 1.5
RECALL = {10: 0.99, 64: 0.97}


def measure(bench: Bench) -> Report:
    """Every profile, and the largest once more with a filter that leaves one row in a hundred."""
    crowd = bench.crowd()
    with ExitStack() as stack:
        conns = [stack.enter_context(psycopg.connect(crowd.url, autocommit=True)) for _ in range(3)]
        say("building the plain index")
        conns[0].execute(ways.PLAIN_INDEX)
        ways.prepare_plain(conns[2])
        stack.callback(lambda: conns[0].execute("DROP INDEX pgfuse.bench_plain_hnsw"))
        profiles = sorted(crowd.members, key=lambda name: crowd.members[name].stop - crowd.members[name].start)
        rows = [_profile(crowd, conns, profile, filtered=False) for profile in profiles]
        rows.append(_profile(crowd, conns, profiles[-1], filtered=True))
    return Report("dense", _figures(rows), rows, _panels(rows), {"rows": bench.rows, "dimensions": 256})


def _profile(crowd: Crowd, conns: list[psycopg.Connection[Any]], profile: str, *, filtered: bool) -> Row:
    members = crowd.members[profile]
    size = members.stop - members.start
    queries = crowd.query_vectors[: FEWER_QUERIES if size >= LARGE else None]
    truth = Truth(crowd.vectors, members, queries, RARE if filtered else 1)
    makers: tuple[Callable[..., ways.Search], ...] = (ways.pgfuse_way, ways.exact_way, ways.plain_way)
    searches = [make(conn, profile, filtered=filtered) for make, conn in zip(makers, conns, strict=True)]
    first = alternate({"pgfuse": searches[0], "exact": searches[1]}, queries[: ways.TUNING_QUERIES])
    reached = truth.recall(first["pgfuse"].answers, ways.MOST)
    tuned = ways.tune_plain(conns[2], searches[2], queries, truth, recall=reached, slowest=SLOWER * first["exact"].p50)
    compared = dict(zip(("pgfuse", "exact", "hnsw"), searches, strict=True))
    if tuned.setting is None:
        del compared["hnsw"]
    samples = alternate(compared, queries)
    say(f"{profile}: {samples['pgfuse'].p50:.2f} ms, exact {samples['exact'].p50:.2f} ms")
    about = {
        "profile": f"{size:,}{', 1 % filter' * filtered}",
        "method": _method(conns[0], profile, queries[0], filtered),
    }
    return about | _compared(samples, truth) | {"HNSW at": tuned.setting or "slower than exact"}


def _compared(samples: dict[str, Samples], truth: Truth) -> Row:
    own = samples["pgfuse"]
    row: Row = {f"recall@{k}": truth.recall(own.answers, k) for k in RECALL}
    for name in ("pgfuse", "exact", "hnsw"):
        found = samples.get(name)
        row |= {f"{name} p50": found and found.p50, f"{name} p95": found and found.p95}
    return row | {"ratio": own.p50 / min(found.p50 for found in samples.values() if found is not own)}


def _method(conn: psycopg.Connection[Any], profile: str, vector: np.ndarray[Any, Any], filtered: bool) -> str:
    chosen = {"metadata": {"rare": True}} if filtered else {}
    found = pgfuse.recall(conn, None, profile, embedding=vector, preset="semantic", top_k=32, **chosen)
    route = found.trace["routes"]["vec_full"]
    return f"{route['method']}{'' if route['complete'] else ', not complete'}"


def _figures(rows: list[Row]) -> list[Figure]:
    figures = []
    for row in rows:
        name = f"profile of {row['profile']}"
        figures += [Figure(f"{name}, recall@{k}", row[f"recall@{k}"], "", least=least) for k, least in RECALL.items()]
        figures.append(Figure(f"{name}, p50 to the better of exact and HNSW", row["ratio"], "times", most=SLOWER))
    return figures


def _panels(rows: list[Row]) -> list[Panel]:
    labels = [row["profile"] for row in rows]
    times = {name: [row.get(f"{name} p50") for row in rows] for name in ("pgfuse", "exact", "hnsw")}
    recalls = {f"recall@{k}": [row[f"recall@{k}"] for row in rows] for k in RECALL}
    return [
        Panel("p50 by the profile's size", "ms", labels, times, scale="log"),
        Panel("recall of pgfuse", "share", labels, recalls, kind="bars"),
    ]
