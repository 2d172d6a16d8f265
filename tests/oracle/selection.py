"""What comes after the order: the cut, neighbours, MMR and packing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.oracle.corpus import Doc
from tests.oracle.fusion import Call, Result, Settings, final_pool, rank
from tests.oracle.routes import allowed


def recall(call: Call) -> list[Result]:
    """The whole of a recall but MMR."""
    return with_neighbors(call, rank(call)[: call.top_k])


def pool(call: Call) -> list[Result]:
    """The candidates that MMR chooses from, in order."""
    return rank(call)[: final_pool(call)]


def with_neighbors(call: Call, chosen: Sequence[Result]) -> list[Result]:
    """After each chosen one, what stands up to n positions around it in its session; nothing twice."""
    reach = call.settings["neighbors"]
    if call.settings["session_first"] and any(result.doc.granularity == "session" for result in chosen):
        reach = 0
    taken = {result.doc.id for result in chosen}
    shown: list[Result] = []
    for result in chosen:
        around = [
            doc
            for doc in call.docs
            if doc.id not in taken and _near(result.doc, doc, reach) and allowed(doc, call.filters)
        ]
        taken |= {doc.id for doc in around}
        shown.append(result)
        shown += [
            Result(doc, neighbor_of=result.doc.id)
            for doc in sorted(around, key=lambda doc: (doc.position or 0, doc.id))
        ]
    return shown


def _near(doc: Doc, other: Doc, reach: int) -> bool:
    if reach == 0 or doc.session_id is None or doc.session_id != other.session_id:
        return False
    return doc.position is not None and other.position is not None and abs(doc.position - other.position) <= reach


@dataclass(frozen=True)
class Candidate:
    """What MMR knows of one candidate."""

    id: int
    relevance: float
    vector: Sequence[float] | None
    tags: frozenset[str]


def candidates(results: Sequence[Result], settings: Settings) -> list[Candidate]:
    """The pool as MMR sees it."""
    best = max((result.final for result in results), default=0.0)
    scale = best if settings["mmr_normalize"] and best > 0 else 1.0
    return [Candidate(r.doc.id, r.final / scale, r.doc.vectors.get("vec_full"), frozenset(r.doc.tags)) for r in results]


def redundancy(a: Candidate, b: Candidate, tag_weight: float) -> float:
    """max(cosine of vec_full, tag_weight · Jaccard of tags), to nine decimals; what is missing counts 0."""
    union = a.tags | b.tags
    jaccard = len(a.tags & b.tags) / len(union) if union else 0.0
    cosine = 0.0
    if a.vector is not None and b.vector is not None:
        u: NDArray[np.float64] = np.asarray(a.vector, dtype=np.float64)
        v: NDArray[np.float64] = np.asarray(b.vector, dtype=np.float64)
        cosine = float(u @ v / np.sqrt((u @ u) * (v @ v)))
    return round(max(cosine, tag_weight * jaccard), 9)


def mmr(given: Sequence[Candidate], top_k: int, settings: Settings) -> list[tuple[int, float, float]]:
    """The greedy choice: (id, redundancy, score) a step. Values equal to twelve decimals go to the earlier candidate."""
    left, chosen, steps = list(given), list[Candidate](), list[tuple[int, float, float]]()
    while left and len(chosen) < top_k:
        scored = [(c, _redundancy(c, chosen, settings["mmr_tag_weight"])) for c in left]
        values = [settings["mmr_lambda"] * c.relevance - (1 - settings["mmr_lambda"]) * most for c, most in scored]
        first = max(range(len(left)), key=lambda i: (round(values[i], 12), -i))
        steps.append((left[first].id, scored[first][1], values[first]))
        chosen.append(left.pop(first))
        threshold = round(settings["duplicate_threshold"], 9)
        left = [c for c in left if _redundancy(c, chosen, settings["mmr_tag_weight"]) < threshold]
    return steps


def _redundancy(candidate: Candidate, chosen: Sequence[Candidate], tag_weight: float) -> float:
    return max((redundancy(candidate, other, tag_weight) for other in chosen), default=0.0)


def packed(texts: Sequence[str], budget: int, count: Callable[[str], int]) -> int:
    """How many of the texts, in order, fit into the budget."""
    used = 0
    for number, text in enumerate(texts):
        used += count(text)
        if used > budget:
            return number
    return len(texts)
