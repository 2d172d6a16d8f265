"""A whole evaluation: routes, presets and chosen settings on the same questions, and how two of them differ."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pgfuse.evaluate import metrics
from pgfuse.evaluate.intervals import Estimate, estimate
from pgfuse.evaluate.judged import Judged
from pgfuse.evaluate.runs import Asker, Done, Rankings, ignore
from pgfuse.evaluate.variants import Variant


@dataclass(frozen=True)
class Measured:
    """A variant's figures, question by question and in the mean, and what it found."""

    variant: Variant
    values: dict[str, metrics.Values]
    estimates: dict[str, Estimate]
    rankings: Rankings

    def json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "name": self.variant.name,
            "route": self.variant.route,
            "preset": self.variant.preset,
            "settings": dict(self.variant.settings),
            "metrics": {name: vars(found) for name, found in self.estimates.items()},
        }


@dataclass(frozen=True)
class Change:
    """What a question gained or lost, and where its relevant documents stood; None is not among the first k."""

    id: str
    text: str
    before: float
    after: float
    places_before: dict[str, int | None]
    places_after: dict[str, int | None]

    @property
    def gain(self) -> float:
        """The difference in nDCG."""
        return self.after - self.before


@dataclass(frozen=True)
class Comparison:
    """Two variants, question by question; the changes are sorted from the biggest gain to the biggest loss."""

    before: str
    after: str
    gain: Estimate
    changes: list[Change]

    def json(self) -> dict[str, Any]:
        """For programs."""
        changes = [vars(change) | {"gain": change.gain} for change in self.changes]
        return {"before": self.before, "after": self.after, "gain": vars(self.gain), "queries": changes}


@dataclass(frozen=True)
class Report:
    """All that an evaluation found."""

    judged: Judged
    k: int
    measured: list[Measured]
    comparison: Comparison | None = None

    def json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "name": self.judged.name,
            "profiles": len(self.judged.profiles),
            "queries": len(self.judged.questions),
            "k": self.k,
            "variants": [measured.json() for measured in self.measured],
            "comparison": self.comparison.json() if self.comparison else None,
            "notes": list(self.judged.notes),
        }


def measure(asker: Asker, judged: Judged, variant: Variant, k: int, done: Done = ignore) -> Measured:
    """Ask all questions as a caller who wants k hits does; once more, deeper, for the recall beyond k.

    A single route's order does not depend on how many are asked for, so that it is asked once.
    """
    depth = max(k, metrics.DEPTH)
    deep = asker.ask(judged, variant, depth, done)
    top = deep if variant.route or depth == k else asker.ask(judged, variant, k, done)
    top = {asked: found[:k] for asked, found in top.items()}
    values = metrics.measure(judged.relevance, top, deep, k)
    return Measured(variant, values, {name: estimate(found) for name, found in values.items()}, top)


def passes(variant: Variant, k: int) -> int:
    """How often `measure` asks each question."""
    return 1 if variant.route or k >= metrics.DEPTH else 2


def compare(judged: Judged, before: Measured, after: Measured, k: int) -> Comparison:
    """What each question gains from one variant over another."""
    name = f"ndcg@{k}"
    gain = estimate(after.values[name] - before.values[name])
    changes = [
        Change(
            question.id,
            question.text,
            float(before.values[name][index]),
            float(after.values[name][index]),
            _places(judged, question.id, before.rankings),
            _places(judged, question.id, after.rankings),
        )
        for index, question in enumerate(judged.questions)
    ]
    changes = [change for change in changes if not np.isclose(change.gain, 0.0)]
    return Comparison(before.variant.name, after.variant.name, gain, sorted(changes, key=lambda c: (-c.gain, c.id)))


def _places(judged: Judged, id: str, rankings: Rankings) -> dict[str, int | None]:
    found = {document: place for place, document in enumerate(rankings[id], start=1)}
    return {document: found.get(document) for document, grade in judged.relevance[id].items() if grade > 0}
