"""Collections with judged queries: read from a folder or made up, and made larger by documents that answer nothing."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.texts import TOPICS, Topics
from pgfuse.evaluate import documents, folders, metrics

SENTENCE = re.compile(r"(?<=[.!?])\s+")
MADE, MADE_QUERIES, MADE_SENTENCES, MADE_WORDS = 5_000, 300, (6, 14), 12
MIXED = 3
SEED = 13


@dataclass(frozen=True)
class Collection:
    """Documents as pairs of id and text, queries by id, and which documents answer them."""

    name: str
    documents: list[tuple[str, str]]
    queries: dict[str, str]
    relevance: Mapping[str, Mapping[str, int]]

    def ndcg(self, found: Mapping[str, Sequence[str]], k: int = 10) -> float:
        """The mean nDCG of the queries asked."""
        return float(metrics.ndcg(self.relevance, found, k).mean())

    def with_more(self, extra: list[tuple[str, str]]) -> Collection:
        """The same with further documents."""
        return replace(self, documents=self.documents + extra)


def collection(data: Path | None, name: str) -> Collection:
    """The collection of that name from the folder, or else one made up."""
    return read(data / name) if data else made_up(f"like {name}")


def read(path: Path) -> Collection:
    """A BEIR-style folder."""
    folder = folders.read_folder(path)
    stored = documents.memories(folder, lambda _record: path.name)[path.name]
    relevance = {query: grades for query, grades in folder.relevance.items() if any(grades.values())}
    queries = {folders.identifier(query): query["text"] for query in folder.queries}
    asked = {query: text for query, text in queries.items() if query in relevance}
    return Collection(path.name, [(row["external_id"], row["content"]) for row in stored], asked, relevance)


def made_up(kind: str) -> Collection:
    """Documents about topics; a query is some words of one document, which is to be found."""
    rng = random.Random(f"{kind} {SEED}")
    topics = Topics(rng)
    made = [(f"d{n}", topics.document(rng.randrange(TOPICS), rng.randint(*MADE_SENTENCES))) for n in range(MADE)]
    asked = rng.sample(made, MADE_QUERIES)
    queries = {f"q{name}": " ".join(rng.sample(text.replace(".", "").split(), MADE_WORDS)) for name, text in asked}
    return Collection(f"generated {kind}", made, queries, {f"q{name}": {name: 1} for name, _ in asked})


def padding(base: Collection, count: int) -> list[tuple[str, str]]:
    """Documents that mix sentences of three others which answer no query: real words in their real frequencies."""
    answers = {document for grades in base.relevance.values() for document, grade in grades.items() if grade > 0}
    spare = [SENTENCE.split(text) for name, text in base.documents if name not in answers]
    rng = random.Random(SEED)
    return [(f"pad{n}", _mixed(rng, rng.sample(spare, MIXED))) for n in range(count)]


def _mixed(rng: random.Random, parts: list[list[str]]) -> str:
    chosen = [sentence for part in parts for sentence in rng.sample(part, -(-len(part) // MIXED))]
    rng.shuffle(chosen)
    return " ".join(chosen)
