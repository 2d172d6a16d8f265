"""The figures, question by question: computed by trec_eval, through pytrec_eval."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pgfuse.evaluate.extras import load

Values: TypeAlias = NDArray[np.float64]
Relevance = Mapping[str, Mapping[str, int]]
DEPTH = 50
RECALL_AT = (1, 5)


def names(k: int) -> list[str]:
    """What is measured, in the order in which it is shown."""
    recalls = [f"recall@{cut}" for cut in sorted({*RECALL_AT, k, DEPTH})]
    return [f"ndcg@{k}", f"mrr@{k}", "r@1", *recalls, f"recall_all@{k}"]


def measure(
    relevance: Relevance, top: Mapping[str, Sequence[str]], deep: Mapping[str, Sequence[str]], k: int
) -> dict[str, Values]:
    """Each figure for each question of `top`, in its order.

    `top` is what a caller gets who asks for k; `deep` what one gets who asks for DEPTH, used beyond k only.
    """
    shallow = _evaluate(relevance, {asked: found[:k] for asked, found in top.items()}, k)
    far = _evaluate(relevance, deep, max(k, DEPTH))
    values = {name: np.array([row.get(name, 0.0) for row in shallow]) for name in names(k)}
    for cut in {*RECALL_AT, k, DEPTH}:
        source = shallow if cut <= k else far
        values[f"recall@{cut}"] = np.array([row[f"recall@{cut}"] for row in source])
    values[f"recall_all@{k}"] = (values[f"recall@{k}"] == 1.0).astype(float)
    return values


def ndcg(relevance: Relevance, top: Mapping[str, Sequence[str]], k: int) -> Values:
    """nDCG@k of each question, in the order given."""
    return np.array([row[f"ndcg@{k}"] for row in _evaluate(relevance, top, k)])


def _evaluate(relevance: Relevance, rankings: Mapping[str, Sequence[str]], k: int) -> list[dict[str, float]]:
    cuts = ",".join(str(cut) for cut in sorted({*RECALL_AT, k, DEPTH}))
    measures = {f"ndcg_cut.{k}", f"recall.{cuts}", "recip_rank", "success.1"}
    judged = {asked: dict(relevance[asked]) for asked in rankings}
    evaluator = load("pytrec_eval").RelevanceEvaluator(judged, measures)
    # trec_eval orders by score and breaks ties by name, so the scores are the places, counted from behind
    found = evaluator.evaluate({asked: _scored(documents) for asked, documents in rankings.items()})
    return [_named(found.get(asked, {}), k) for asked in rankings]


def _scored(documents: Sequence[str]) -> dict[str, float]:
    return {document: float(len(documents) - place) for place, document in enumerate(documents)}


def _named(row: Mapping[str, Any], k: int) -> dict[str, float]:
    named = {f"recall@{cut}": float(row.get(f"recall_{cut}", 0.0)) for cut in {*RECALL_AT, k, DEPTH}}
    return named | {
        f"ndcg@{k}": float(row.get(f"ndcg_cut_{k}", 0.0)),
        f"mrr@{k}": float(row.get("recip_rank", 0.0)),
        "r@1": float(row.get("success_1", 0.0)),
    }
