"""Whole recalls beside those of other libraries: on a small profile, on a large one, and with eight routes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psutil
import psycopg
from sqlalchemy import make_url

import pgfuse
from benchmarks import recall_ways as ways
from benchmarks import server
from benchmarks.bench import Bench
from benchmarks.embedding import Vectors, embed, embed_once
from benchmarks.judged import SENTENCE, Collection, collection, padding
from benchmarks.load import bulk, copy_documents
from benchmarks.panels import Panel
from benchmarks.peers import peers
from benchmarks.progress import say
from benchmarks.results import Figure, Report, Row
from benchmarks.timing import Samples, alternate

SMALL, PROFILES = 1_000, 10
FASTER, MORE_ROUTES, OVERHEAD, LEAK = 3.0, 4.0, 1.3, 5.0
LIBRARIES = ("langchain-postgres", "llama-index")
PROFILE = "profile0"
SPILLED = "SELECT temp_files FROM pg_stat_database WHERE datname = %s"
Connection = psycopg.Connection[Any]


def measure(bench: Bench) -> Report:
    """The same collection small and large; what spills to disk is counted over both."""
    base = collection(bench.data, "scifact")
    large = base.with_more(padding(base, max(0, bench.size(100_000, 10_000) - len(base.documents))))
    rows: list[Row] = []
    figures = [*_small(bench, _small_collection(base), rows), *_large(bench, large, rows)]
    setup = {"small": SMALL, "large": len(large.documents), "generated": bench.data is None}
    return Report("recall", figures, rows, _panels(rows), setup)


def _small_collection(base: Collection) -> Collection:
    """The documents that answer something first."""
    answers = {document for grades in base.relevance.values() for document in grades}
    return Collection(
        base.name,
        sorted(base.documents, key=lambda document: document[0] not in answers),
        base.queries,
        base.relevance,
    )


def _small(bench: Bench, base: Collection, rows: list[Row]) -> list[Figure]:
    """Profiles of 1,000 memories in one table; the peers have a table that holds only the first."""
    documents = base.documents[: SMALL * PROFILES]
    vectors = embed_once([text for _, text in documents], bench.out)
    url = server.make_migrated(bench.url, "recall_small")
    with psycopg.connect(url, autocommit=True) as conn:
        with bulk(conn):
            for number, start in enumerate(range(0, len(documents) - SMALL + 1, SMALL)):
                part = slice(start, start + SMALL)
                copy_documents(conn, f"profile{number}", documents[part], vectors[part])
        sentences = [sentence for _, text in documents for sentence in SENTENCE.split(text) if len(sentence) > 20]
        pgfuse.remember(conn, "turns", ways.turns(sentences, SMALL))
        conn.execute("VACUUM ANALYZE")
    spilled = _spilled(url)
    first = Collection(base.name, documents[:SMALL], base.queries, base.relevance)
    compared = _beside_peers(bench, url, first, vectors[:SMALL], rows)
    figures = [
        Figure(f"{SMALL:,} memories, p50 of {name} to p50 of recall", ratio, "times", least=FASTER)
        for name, ratio in compared.items()
        if name in LIBRARIES
    ]
    queries = list(base.queries.values())
    figures += [*_routes(url, queries, rows), *_overhead(url, SMALL, queries, rows), _memory(bench, url, queries)]
    return [*figures, _no_spill(url, f"{SMALL:,} memories", spilled)]


def _large(bench: Bench, large: Collection, rows: list[Row]) -> list[Figure]:
    """One profile that holds everything."""
    say(f"{len(large.documents):,} documents")
    vectors = embed_once([text for _, text in large.documents], bench.out)
    url = server.make_migrated(bench.url, "recall_large")
    with psycopg.connect(url, autocommit=True) as conn, bulk(conn):
        copy_documents(conn, PROFILE, large.documents, vectors)
    spilled = _spilled(url)
    size = len(large.documents)
    compared = _beside_peers(bench, url, large, vectors, rows)
    figures = [
        Figure(f"{size:,} memories, p50 of recall to p50 of {name}", 1 / ratio, "times", most=1.0)
        for name, ratio in compared.items()
        if name in LIBRARIES
    ]
    figures += _overhead(url, size, list(large.queries.values()), rows)
    return [*figures, _no_spill(url, f"{size:,} memories", spilled)]


def _beside_peers(bench: Bench, url: str, one: Collection, vectors: Vectors, rows: list[Row]) -> dict[str, float]:
    """Everybody's times and answers; returned is how many times slower than pgfuse each is."""
    size, name = len(one.documents), f"peers_{len(one.documents)}"
    peers_url = server.make_database(bench.url, name)
    with psycopg.connect(url, autocommit=True) as conn, peers(peers_url, one.documents, vectors) as others:
        samples = alternate({"pgfuse": ways.ask(conn, PROFILE)} | others, list(one.queries.values()))
    for way, found in samples.items():
        answers = dict(zip(one.queries, found.answers, strict=True))
        rows.append(_row(f"{size:,} memories", way, found, one.ndcg(answers)))
    server.drop_database(bench.url, name)
    return {way: found.p50 / samples["pgfuse"].p50 for way, found in samples.items() if way != "pgfuse"}


def _row(where: str, way: str, found: Samples, ndcg: float | None = None) -> Row:
    return {"where": where, "way": way, "p50": found.p50, "p95": found.p95, "nDCG@10": ndcg}


def _routes(url: str, queries: Sequence[str], rows: list[Row]) -> list[Figure]:
    """Two routes, eight, and the same eight asked for one by one."""
    with psycopg.connect(url, autocommit=True) as conn:
        compared: Mapping[str, Callable[[str], Any]] = {
            "two routes": ways.with_settings(conn, "turns"),
            "eight routes": ways.with_settings(conn, "turns", weights=ways.EIGHT),
            "eight routes, RRF": ways.with_settings(conn, "turns", weights=ways.EIGHT, fusion="rrf"),
            "eight queries, fused by the client": ways.eight_queries(conn, "turns"),
        }
        samples = alternate(compared, queries)
    executed = [route["status"] == "executed" for route in samples["eight routes"].answers[0].trace["routes"].values()]
    assert sum(executed) == len(ways.EIGHT), "not every route has vectors"
    rows += [_row(f"{SMALL:,} turns", way, found) for way, found in samples.items()]
    eight = samples["eight routes"].p50
    client = samples["eight queries, fused by the client"].p50
    return [
        Figure("p50 of eight routes to p50 of two", eight / samples["two routes"].p50, "times", most=MORE_ROUTES),
        Figure("p50 of eight queries to p50 of one recall (RRF)", client / samples["eight routes, RRF"].p50, "times"),
    ]


def _overhead(url: str, size: int, texts: Sequence[str], rows: list[Row]) -> list[Figure]:
    """A recall against its two routes alone."""
    queries = [(text, vector) for text, vector in zip(texts, embed(texts), strict=True) if vector.any()]
    with psycopg.connect(url, autocommit=True) as conn:
        compared = {
            "bare routes": ways.bare_routes(conn, PROFILE),
            "recall, default": ways.given_vector(conn, PROFILE),
            "recall, RRF": ways.given_vector(conn, PROFILE, fusion="rrf"),
        }
        samples = alternate(compared, queries)
    rows += [_row(f"{size:,} memories, vector given", way, found) for way, found in samples.items()]
    name, bare = f"{size:,} memories, p50 to that of the bare routes, ", samples["bare routes"].p50
    return [
        Figure(f"{name}default", samples["recall, default"].p50 / bare, "times", most=OVERHEAD),
        Figure(f"{name}RRF", samples["recall, RRF"].p50 / bare, "times"),
    ]


def _memory(bench: Bench, url: str, queries: Sequence[str]) -> Figure:
    """How much the client grows."""
    count, process = bench.size(2_000, 500), psutil.Process()
    with psycopg.connect(url, autocommit=True) as conn:
        recall = ways.with_settings(conn, PROFILE)
        for number in range(count // 4):
            recall(queries[number % len(queries)])
        before = process.memory_info().rss
        for number in range(count):
            recall(queries[number % len(queries)])
        grown = (process.memory_info().rss - before) / 2**20
    return Figure(f"memory that the client gains in {count:,} recalls", grown, "MB", most=LEAK)


def _spilled(url: str) -> int:
    time.sleep(1)  # a server process hands its counts in when it ends
    with psycopg.connect(url) as conn:
        return int(conn.execute(SPILLED, (make_url(url).database,)).fetchone()[0])


def _no_spill(url: str, where: str, before: int) -> Figure:
    return Figure(f"{where}, temporary files written", float(_spilled(url) - before), "", most=0.0)


def _panels(rows: list[Row]) -> list[Panel]:
    panels = []
    for where in dict.fromkeys(row["where"] for row in rows):
        some = [row for row in rows if row["where"] == where]
        series = {name: [row[name] for row in some] for name in ("p50", "p95")}
        panels.append(Panel(where, "ms", [row["way"] for row in some], series, kind="bars"))
    return panels
