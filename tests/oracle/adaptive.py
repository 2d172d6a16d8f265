"""Adaptive fusion: routes count by how far their best stands out, and vec_full hears what a first combination found."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tests.oracle.fusion import Call, routes
from tests.oracle.routes import Route

FEEDBACK = 3
FLAT = 1e-9
Array = NDArray[np.float64]


def shares(call: Call, found: list[Route], scores: Mapping[str, Mapping[int, float]]) -> dict[str, float]:
    """weight · (max - mean) / standard deviation of each route, so that they add up to 1; all flat: the weights."""
    power = {}
    for route in found:
        values = np.array(list(scores[route.name].values()))
        spread = float(values.std())
        power[route.name] = route.weight * float(values.max() - values.mean()) / spread if spread > FLAT else 0.0
    if not any(power.values()):
        return {route.name: route.weight / executed(call) for route in found}
    return {name: value / sum(power.values()) for name, value in power.items()}


def executed(call: Call) -> float:
    """The weights of all routes that were run, whether or not they found something."""
    given = {name: call.query if name == "lexical" else call.embedding for name in call.settings["weights"]}
    return float(sum(weight for name, weight in call.settings["weights"].items() if given[name] is not None))


def normalised(scores: Mapping[int, float]) -> dict[int, float]:
    """Min-max; all equal gives 1."""
    low, high = min(scores.values()), max(scores.values())
    return {key: (score - low) / (high - low) if high > low else 1.0 for key, score in scores.items()}


def unit(vector: Array) -> Array:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector


def feedback(call: Call, firsts: Mapping[int, float]) -> tuple[dict[int, float], float]:
    """The centred similarity to the query and to the first three; and the shortest centred vector: below, noise."""
    vectors = {
        doc.id: unit(np.array(doc.vectors["vec_full"], dtype=np.float64))
        for doc in call.docs
        if "vec_full" in doc.vectors
    }
    vectors = {key: vector for key, vector in vectors.items() if key in firsts}
    if len(vectors) < 2:
        return {}, 1.0
    middle = np.mean(list(vectors.values()), axis=0)
    query = unit(np.asarray(call.embedding, dtype=np.float64)) - middle
    centred = {key: vector - middle for key, vector in vectors.items()}
    best = sorted(centred, key=lambda key: (-round(firsts[key], 12), key))[:FEEDBACK]
    counts = [1 / place for place in range(1, len(best) + 1)]
    scores = {}
    for key, vector in centred.items():
        heard = sum(
            count * float(unit(vector) @ unit(centred[other])) for count, other in zip(counts, best, strict=True)
        )
        scores[key] = float(unit(vector) @ unit(query)) + heard / sum(counts)
    return scores, min(float(np.linalg.norm(vector)) for vector in (*centred.values(), query))


def fuse(call: Call) -> tuple[dict[int, float], float]:
    """The adaptive score of every candidate; and how far the input is from one where rounding decides."""
    found = routes(call)
    union = {key for route in found for key in route.ids}
    own = {
        route.name: {key: route.scores.get(key, 0.0) for key in union if route.name == "lexical" or key in route.scores}
        for route in found
    }
    share = shares(call, found, own)
    parts = {name: normalised(scores) for name, scores in own.items()}
    firsts = {key: sum(share[name] * part.get(key, 0.0) for name, part in parts.items()) for key in union}
    adjusted, safe = (
        feedback(call, firsts) if "vec_full" in own and len(found) > 1 and len(_ids(found)) > 1 else ({}, 1.0)
    )
    if adjusted:
        parts["vec_full"] = normalised(adjusted)
        safe = min(safe, max(adjusted.values()) - min(adjusted.values()))
    return {key: sum(share[name] * part.get(key, 0.0) for name, part in parts.items()) for key in union}, safe


def _ids(found: list[Route]) -> list[int]:
    return next(route.ids for route in found if route.name == "vec_full")
