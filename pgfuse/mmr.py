"""Maximal marginal relevance: choose what is relevant and does not repeat what is chosen already."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Choice:
    """One step of the choice: which candidate, and why it scored as it did."""

    index: int
    relevance: float
    redundancy: float
    against: int | None
    score: float


@dataclass(frozen=True)
class Selection:
    """The candidates chosen, in order, and those dropped because they repeat a chosen one."""

    chosen: tuple[Choice, ...]
    duplicates: tuple[Choice, ...]


def select(
    relevance: Sequence[float],
    vectors: Sequence[NDArray[np.float32] | None],
    tags: Sequence[Sequence[str]],
    *,
    top_k: int,
    lambda_: float,
    duplicate_threshold: float,
    tag_weight: float,
) -> Selection:
    """Greedily take the candidate of highest λ · relevance - (1 - λ) · redundancy; a tie goes to the earlier one."""
    values = np.asarray(relevance, dtype=np.float64)
    redundancy = _Redundancy(vectors, tags, tag_weight)
    highest = np.zeros(len(values))
    against = np.full(len(values), -1)
    open_ = np.ones(len(values), dtype=bool)
    chosen: list[Choice] = []
    duplicates: list[Choice] = []
    while open_.any() and len(chosen) < top_k:
        scores = np.where(open_, lambda_ * values - (1 - lambda_) * highest, -np.inf)
        best = int(np.argmax(np.round(scores, 12)))
        chosen.append(_choice(best, values, highest, against, scores))
        open_[best] = False
        to_best = redundancy.to(best)
        closer = open_ & ((to_best > highest) | (against < 0))
        highest[closer] = to_best[closer]
        against[closer] = best
        repeats = open_ & (highest >= duplicate_threshold)
        scores = lambda_ * values - (1 - lambda_) * highest
        duplicates += [_choice(int(i), values, highest, against, scores) for i in np.flatnonzero(repeats)]
        open_ &= ~repeats
    return Selection(tuple(chosen), tuple(duplicates))


def _choice(
    index: int,
    values: NDArray[np.float64],
    highest: NDArray[np.float64],
    against: NDArray[np.int64],
    scores: NDArray[np.float64],
) -> Choice:
    other = int(against[index])
    return Choice(
        index, float(values[index]), float(highest[index]), None if other < 0 else other, float(scores[index])
    )


class _Redundancy:
    """max(cosine of the vectors, tag_weight · Jaccard of the tags), of one candidate to all."""

    def __init__(
        self, vectors: Sequence[NDArray[np.float32] | None], tags: Sequence[Sequence[str]], tag_weight: float
    ) -> None:
        dim = max((len(v) for v in vectors if v is not None), default=0)
        stacked = np.array([np.zeros(dim) if v is None else v for v in vectors], dtype=np.float64).reshape(
            len(vectors), dim
        )
        norms = np.linalg.norm(stacked, axis=1, keepdims=True)
        self.unit = np.divide(stacked, norms, out=np.zeros_like(stacked), where=norms > 0)
        names = {tag: column for column, tag in enumerate(sorted({tag for row in tags for tag in row}))}
        self.marks = np.zeros((len(tags), len(names)))
        for row, own in enumerate(tags):
            self.marks[row, [names[tag] for tag in own]] = 1
        self.counts = self.marks.sum(axis=1)
        self.tag_weight = tag_weight

    def to(self, index: int) -> NDArray[np.float64]:
        shared = self.marks @ self.marks[index]
        union = self.counts + self.counts[index] - shared
        jaccard = np.divide(shared, union, out=np.zeros(len(union)), where=union > 0)
        # rounded, so that equal vectors are equal and ties are ties
        result: NDArray[np.float64] = np.round(np.maximum(self.unit @ self.unit[index], self.tag_weight * jaccard), 9)
        return result
