"""Search by words: BM25 from SQL alone, its scores against another implementation's, and its time."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

import psycopg

from benchmarks import server
from benchmarks.bench import Bench
from benchmarks.bm25_check import largest_difference
from benchmarks.judged import Collection, collection, padding
from benchmarks.lexical_ways import bm25_way, ts_rank_cd_way
from benchmarks.load import bulk, copy_documents
from benchmarks.panels import Panel
from benchmarks.progress import say
from benchmarks.results import Figure, Report, Row
from benchmarks.timing import Samples, alternate

VARIANTS = {"default": {"bm25_k1": 0.9, "bm25_b": 0.4}, "1.2/0.75": {"bm25_k1": 1.2, "bm25_b": 0.75}}
LEAST = {"scifact": 0.685, "cranfield": 0.51}
FASTER, FASTER_PADDED, COSTLIER = 5.0, 8.0, 3.0
SAME = 5e-5
PADDED = "padded"
FEW, MANY, ASKED = 6, 60, 60
SLOW_QUERIES = 40
STEMS = "SELECT word FROM unnest(%s::text[]) word WHERE cardinality(ts_lexize('english_stem', word)) > 0"
SIZE = """
SELECT pg_total_relation_size('pgfuse.postings') / (SELECT sum(length(fts)) FROM pgfuse.memories)::float8
"""
Connection = psycopg.Connection[Any]


def measure(bench: Bench) -> Report:
    """The collections as they are, then the first one made larger."""
    collections = [collection(bench.data, name) for name in LEAST]
    larger, largest = bench.size(50_000, 10_000), bench.size(60_000, 12_000)
    with psycopg.connect(server.make_migrated(bench.url, "lexical"), autocommit=True) as conn:
        with bulk(conn):
            for one in collections:
                copy_documents(conn, one.name, one.documents)
        rows, figures = [], []
        for one in collections:
            figures += _quality(conn, one)
        _timed(conn, collections[0], collections[0].name, FASTER, rows, figures)
        _grown(conn, collections[0], larger, largest, rows, figures)
        figures.append(Figure("bytes a posting on disk", conn.execute(SIZE).fetchone()[0], "bytes"))
    setup = {one.name: len(one.documents) for one in collections} | {"padded": [larger, largest]}
    return Report("lexical", figures, rows, _panels(rows), setup | {"generated": bench.data is None})


def _quality(conn: Connection, one: Collection) -> list[Figure]:
    """nDCG with both settings, the better of which has the gate, and the scores checked against bm25s."""
    say(f"{one.name}: {len(one.documents):,} documents, {len(one.queries):,} queries")
    names = {number: document for number, (document, _) in enumerate(one.documents, 1)}
    found: dict[str, float] = {}
    for variant, settings in VARIANTS.items():
        search = bm25_way(conn, one.name, settings)
        answers = {query: [names[row[0]] for row in search(text)[:10]] for query, text in one.queries.items()}
        found[variant] = one.ndcg(answers)
    best = max(found, key=lambda variant: found[variant])
    figures = [
        Figure(f"{one.name}, nDCG@10, {variant}", value, "", least=LEAST.get(one.name) if variant == best else None)
        for variant, value in found.items()
    ]
    for variant, settings in VARIANTS.items():
        largest, compared = largest_difference(conn, one.name, one.queries.values(), settings)
        name = f"{one.name}, {variant}, largest difference to bm25s in {compared:,} scores"
        figures.append(Figure(name, largest, "", most=SAME))
    return figures


def _timed(
    conn: Connection, one: Collection, profile: str, faster: float, rows: list[Row], figures: list[Figure]
) -> None:
    """BM25 against ts_rank_cd, in turn."""
    ways = {"bm25": bm25_way(conn, profile), "ts_rank_cd": ts_rank_cd_way(conn, profile)}
    queries = list(one.queries.values())[: SLOW_QUERIES if profile == PADDED else None]
    samples = alternate(ways, queries)
    size = conn.execute("SELECT count(*) FROM pgfuse.memories WHERE profile_id = %s", (profile,)).fetchone()[0]
    rows += [_row(f"{one.name}, {size:,} documents", way, found) for way, found in samples.items()]
    ratio = samples["ts_rank_cd"].p50 / samples["bm25"].p50
    name = f"{one.name}, {size:,} documents, p50 of ts_rank_cd to p50 of BM25"
    figures.append(Figure(name, ratio, "times", least=faster))


def _row(where: str, way: str, found: Samples) -> Row:
    return {"where": where, "way": way, "queries": len(found.times), "p50": found.p50, "p95": found.p95}


def _grown(
    conn: Connection, one: Collection, larger: int, largest: int, rows: list[Row], figures: list[Figure]
) -> None:
    """The collection padded: to one size for the time, to another for long queries."""
    extra = padding(one, max(0, largest - len(one.documents)))
    documents = [*one.documents, *extra]
    with bulk(conn):
        copy_documents(conn, PADDED, documents[:larger])
    _timed(conn, one, PADDED, FASTER_PADDED, rows, figures)
    with bulk(conn):
        copy_documents(conn, PADDED, documents[larger:largest], first=larger + 1)
    short, long = _word_queries(conn, documents)
    search = bm25_way(conn, PADDED)
    samples = alternate({"few": lambda n: search(short[n]), "many": lambda n: search(long[n])}, range(ASKED))
    where = f"{one.name}, {largest:,} documents"
    rows += [_row(where, f"bm25, {FEW} terms", samples["few"]), _row(where, f"bm25, {MANY} terms", samples["many"])]
    name = f"{where}, p50 of {MANY} terms to p50 of {FEW}"
    figures.append(Figure(name, samples["many"].p50 / samples["few"].p50, "times", most=COSTLIER))


def _word_queries(conn: Connection, documents: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Queries of words in their natural frequency: many distinct ones each, and the first few of the same."""
    rng = random.Random(MANY)
    words = [word for _, text in rng.sample(documents, 500) for word in re.findall("[a-z]{3,}", text.lower())]
    known = {row[0] for row in conn.execute(STEMS, (list(set(words)),))}
    words = [word for word in words if word in known]
    drawn = [list(dict.fromkeys(rng.sample(words, 4 * MANY)))[:MANY] for _ in range(ASKED)]
    return [" ".join(query[:FEW]) for query in drawn], [" ".join(query) for query in drawn]


def _panels(rows: list[Row]) -> list[Panel]:
    labels = [f"{row['where']}: {row['way']}" for row in rows]
    series: Mapping[str, list[float]] = {name: [row[name] for row in rows] for name in ("p50", "p95")}
    return [Panel("search by words", "ms", labels, series, kind="bars", scale="log")]
