"""Regenerates the tables of docs/quality.md: python -m benchmarks.quality FOLDER, with the collections below it."""

from __future__ import annotations

import argparse
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.progress import say
from benchmarks.turn_routes import with_sides
from pgfuse import embedded
from pgfuse.evaluate import documents, folders, metrics, scratch
from pgfuse.evaluate.evaluation import Measured, measure
from pgfuse.evaluate.intervals import estimate
from pgfuse.evaluate.judged import Judged, from_folder, with_vectors
from pgfuse.evaluate.known_items import known_items as known_items_of
from pgfuse.evaluate.preparation import Prepared, Source, prepare
from pgfuse.evaluate.runs import Asker, asker
from pgfuse.evaluate.tuning import tune
from pgfuse.evaluate.variants import PRESETS, Variant, all_routes, routes, single_route

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "quality.md"
COLLECTIONS = {"scifact": (), "cranfield": (), "locomo_dev": ("adversarial",)}
EMBEDDERS = {"MiniLM": "minilm", "wordllama": None}
CONVERSATIONS = "locomo_dev"
K = 10
FIRST = f"ndcg@{K}"
TRIALS = 15
EXTRA_WEIGHT = 0.5

Rows = list[list[str]]


@dataclass(frozen=True)
class Pair:
    """A collection with an embedder."""

    collection: str
    embedder: str

    def source(self, data: Path) -> Source:
        """Where it is read from."""
        return Source(data / self.collection, EMBEDDERS[self.embedder], exclude=COLLECTIONS[self.collection])


PAIRS = [Pair(collection, embedder) for collection in COLLECTIONS for embedder in EMBEDDERS]


def is_held_out(question: str) -> bool:
    """Half of the queries, by their id: the defaults were chosen on the other half."""
    return hashlib.sha256(question.encode()).digest()[0] % 2 == 1


@contextmanager
def opened(url: str, pair: Pair, data: Path) -> Iterator[tuple[Asker, Judged]]:
    """A pair's questions and what to ask them with."""
    place = prepare(url, pair.source(data), lambda _done, _total: None)
    with asker(place.url) as asking:
        yield asking, place.judged


def shallow(asking: Asker, judged: Judged, variant: Variant) -> metrics.Values:
    """nDCG of each question, asked as a caller does who wants K hits."""
    return metrics.ndcg(judged.relevance, asking.ask(judged, variant, K), K)


def measured_pairs(url: str, data: Path) -> tuple[Rows, Rows]:
    """Routes and presets of every pair, and all figures of the default."""
    compared, figures = [], []
    for pair in PAIRS:
        with opened(url, pair, data) as (asking, judged):
            say(f"{pair.collection}, {pair.embedder}: {len(judged.questions)} queries")
            base = Variant("default", "default")
            alone = {v.name: shallow(asking, judged, v) for v in all_routes(asking.conn, judged.profiles, base)}
            default = measure(asking, judged, base, K)
            presets = {name: shallow(asking, judged, Variant(name, name)) for name in PRESETS[1:]}
        compared.append(_compared(pair, judged, alone, default, presets))
        figures.append([_name(pair), *(f"{default.estimates[name].mean:.3f}" for name in metrics.names(K))])
    return compared, figures


def _name(pair: Pair) -> str:
    return f"{pair.collection}, {pair.embedder}"


def _compared(
    pair: Pair,
    judged: Judged,
    alone: dict[str, metrics.Values],
    default: Measured,
    presets: dict[str, metrics.Values],
) -> list[str]:
    values = default.values[FIRST]
    held_out = np.array([is_held_out(question.id) for question in judged.questions])
    best = max(alone.values(), key=lambda found: float(found.mean()))
    means = [f"{alone[name].mean():.3f}" for name in ("lexical", "vec_full")]
    others = [f"{presets[name].mean():.3f}" for name in ("balanced", "blend", "memory")]
    return [
        _name(pair),
        *means,
        *others,
        f"**{values.mean():.3f}**",
        f"{values[held_out].mean():.3f}",
        estimate(values - best).signed,
        estimate(values - presets["balanced"]).signed,
    ]


def ablation(url: str, data: Path) -> dict[str, Rows]:
    """What each further route adds to the two on conversations; facets need an embedder, so MiniLM has five routes."""
    return {embedder: _ablation(url, Pair(CONVERSATIONS, embedder), data) for embedder in EMBEDDERS}


def _ablation(url: str, pair: Pair, data: Path) -> Rows:
    place = _with_sides(url, pair.source(data))
    with asker(place.url) as asking:
        judged, base = place.judged, Variant("default", "default")
        say(f"ablation, {pair.embedder}")
        names = routes(asking.conn, judged.profiles)
        two = shallow(asking, judged, base)
        rows = [["lexical + vec_full", "", f"{two.mean():.3f}", ""]]
        for name in names:
            alone = shallow(asking, judged, single_route(asking.conn, judged.profiles[0], name, base)).mean()
            is_extra = name not in ("lexical", "vec_full")
            rows.append([name, f"{alone:.3f}", *_added(asking, judged, {name: EXTRA_WEIGHT}, two, wanted=is_extra)])
        for said, weight in (("all, extra routes at 0.5", EXTRA_WEIGHT), ("all at 1", 1.0)):
            extra = {name: weight for name in names if name not in ("lexical", "vec_full")}
            rows.append([said, "", *_added(asking, judged, extra, two, wanted=True)])
        ranks = Variant("rrf", "default", {"fusion": "rrf", "rrf_k": 15, "weights": dict.fromkeys(names, 1)})
        found = shallow(asking, judged, ranks)
        return [*rows, ["all at 1, RRF k = 15", "", f"{found.mean():.3f}", estimate(found - two).signed]]


def _added(asking: Asker, judged: Judged, weights: dict[str, float], two: metrics.Values, *, wanted: bool) -> list[str]:
    if not wanted:
        return ["", ""]
    found = shallow(asking, judged, Variant("added", "default", {"weights": weights}))
    return [f"{found.mean():.3f}", estimate(found - two).signed]


def _with_sides(url: str, source: Source) -> Prepared:
    """The conversations stored once more, with sides and facets, in profiles of their own."""
    folder = folders.read_folder(source.path, source.vectors)
    named = documents.profile_namer(folder, documents.CONVERSATION)
    grouped = {f"{profile}+sides": memories for profile, memories in documents.memories(folder, named).items()}
    model, dim = (f"vectors/{source.vectors}", 384) if source.vectors else ("wordllama", 256)
    place = scratch.database(url, model, dim)
    scratch.store(place, with_sides(grouped, facets=source.vectors is None), lambda _count: None)
    judged = with_vectors(from_folder(folder, named, source.exclude), model)
    asked = tuple(replace(question, profile_id=f"{question.profile_id}+sides") for question in judged.questions)
    return Prepared(place, replace(judged, questions=asked))


def tuned_pairs(url: str, data: Path) -> Rows:
    """What tuning on one half gives on the other, and the other way round."""
    rows = []
    for pair in (Pair(CONVERSATIONS, embedder) for embedder in EMBEDDERS):
        say(f"tuning, {pair.embedder}")
        with opened(url, pair, data) as (asking, judged):
            found = tune(asking, judged, k=K, folds=2, trials=TRIALS)
        verdict = "writes" if found.wins else "does not write"
        rows.append([_name(pair), f"{found.before.mean:.3f}", f"{found.after.mean:.3f}", found.gain.signed, verdict])
    return rows


def known_items(url: str, data: Path) -> Rows:
    """What tuning on queries made from the memories gives on those queries, and on the judged ones."""
    rows = []
    for pair in (Pair(collection, "wordllama") for collection in COLLECTIONS if collection != CONVERSATIONS):
        say(f"known items, {pair.collection}")
        with opened(url, pair, data) as (asking, judged):
            made = with_vectors(known_items_of(asking.conn, judged.profiles[0], seed=0), "wordllama")
            found = tune(asking, made, k=K, folds=2, trials=TRIALS)
            before, after = (shallow(asking, judged, Variant("own", settings=s)) for s in ({}, found.settings))
        rows.append([_name(pair), found.gain.signed, estimate(after - before).signed])
    return rows


def markdown(headings: Sequence[str], rows: Rows) -> str:
    """A table as Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def replace_table(text: str, name: str, table: str) -> str:
    """The document with another table between the marks of that name."""
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.S)
    if not marks.search(text):
        raise SystemExit(f"{DOCUMENT} has no place for the table {name!r}.")
    return marks.sub(lambda found: f"{found[1]}{table}\n{found[2]}", text)


def tables(url: str, data: Path, parts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The tables asked for, each with its name."""
    if "pairs" in parts:
        compared, figures = measured_pairs(url, data)
        headings = [
            "",
            "lexical",
            "dense",
            "balanced (RRF 60)",
            "blend",
            "memory",
            "**default**",
            "default, held-out half",
        ]
        yield "pairs", markdown([*headings, "over the best route", "over RRF 60"], compared)
        yield "figures", markdown(["default", *metrics.names(K)], figures)
    if "ablation" in parts:
        for embedder, rows in ablation(url, data).items():
            headings = ["routes", "alone", "with the two", "gain over the two"]
            yield f"ablation-{embedder.lower()}", markdown(headings, rows)
    if "tuning" in parts:
        headings = ["", "in force", "tuned", "gain on held-out queries", "tune"]
        yield "tuning", markdown(headings, tuned_pairs(url, data))
    if "known" in parts:
        headings = ["", "gain on held-out known items", "gain on the judged queries"]
        yield "known", markdown(headings, known_items(url, data))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="?", default=os.environ.get("PGFUSE_DATA"))
    parser.add_argument("--database-url", default=os.environ.get("PGFUSE_DATABASE_URL"))
    parser.add_argument("--parts", nargs="+", default=["pairs", "ablation", "tuning", "known"])
    given = parser.parse_args()
    if given.data is None:
        parser.error("name the folder that holds scifact, cranfield and locomo_dev, or set PGFUSE_DATA")
    with embedded.start(os.environ.get("PGFUSE_HOME")) as server:
        for name, table in tables(given.database_url or server.url, Path(given.data), given.parts):
            DOCUMENT.write_text(replace_table(DOCUMENT.read_text(), name, table))
            say(f"wrote the table {name}")


if __name__ == "__main__":
    main()
