"""From the routes' lists to ordered results: RRF, blend, linear, sessions first, recency, stored quality, groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from tests.oracle.corpus import Doc
from tests.oracle.routes import Route, Words, allowed, bm25, dense, ordered, with_next_user

Settings = Mapping[str, Any]


@dataclass
class Result:
    """One memory with every score the contract names."""

    doc: Doc
    rrf: float = 0.0
    blend: float = 0.0
    linear: float = 0.0
    base: float = 0.0
    final: float = 0.0
    recency: float = 1.0
    support: float = 0.0
    turns: list[Result] = field(default_factory=list)
    vector: float = float("-inf")
    lexical: float = float("-inf")
    parts: dict[str, dict[str, float | None]] = field(default_factory=dict)
    neighbor_of: int | None = None

    @property
    def routes(self) -> list[str]:
        return sorted(name for name, part in self.parts.items() if part["rank"] is not None)


@dataclass(frozen=True)
class Call:
    """A recall: the profile's memories, the query as text and vector, the settings, the filters, and the time."""

    docs: Sequence[Doc]
    query: str | None
    embedding: Sequence[float] | None
    top_k: int
    settings: Settings
    filters: Mapping[str, Any]
    now: datetime
    words: Words


def final_pool(call: Call) -> int:
    """How many fused candidates are looked at."""
    multiplier = call.settings["pool_multiplier"]
    return int(multiplier * call.top_k if multiplier else max(4 * call.top_k, 32))


def per_route(call: Call) -> int:
    """How many candidates a route returns."""
    return final_pool(call) if call.settings["pool_multiplier"] else max(2 * final_pool(call), 40)


def routes(call: Call) -> list[Route]:
    """The routes of weight above 0 that the mode allows and that found something."""
    docs = with_next_user(call.docs)
    visible = {doc.id for doc in docs if allowed(doc, call.filters)}
    found = []
    for name, weight in call.settings["weights"].items():
        scores: dict[int, float] = {}
        if weight > 0 and name == "lexical" and call.query is not None:
            scores = bm25(docs, call.query, call.words, call.settings)
        elif weight > 0 and name != "lexical" and call.embedding is not None:
            scores = dense(docs, name, call.embedding)
        ids = [key for key in ordered(scores) if key in visible][: per_route(call)]
        found += [Route(name, weight, ids, scores)] if ids else []
    return found


def fuse(call: Call) -> list[Result]:
    """Every candidate of the union with its scores from the routes."""
    found = routes(call)
    union = {key for route in found for key in route.ids}
    total = sum(call.settings["weights"].values())
    results = {doc.id: Result(doc) for doc in call.docs if doc.id in union}
    for route in found:
        scored = _scored(route, union) if call.settings["fusion"] == "linear" and len(found) > 1 else route.ids
        _add_route(route, scored, results, total, call.settings)
    for result in results.values():
        result.base = result.linear if call.settings["fusion"] == "linear" else result.rrf
    return list(results.values())


def _scored(route: Route, union: set[int]) -> list[int]:
    return [key for key in union if route.name == "lexical" or key in route.scores]


def _add_route(
    route: Route, scored: Sequence[int], results: dict[int, Result], total: float, settings: Settings
) -> None:
    scores = {key: route.scores.get(key, 0.0) for key in scored}
    low, high = min(scores.values()), max(scores.values())
    for key, score in scores.items():
        result, rank = results[key], route.ids.index(key) + 1 if key in route.ids else None
        normalised = (score - low) / (high - low) if high > low else 1.0
        contribution = route.weight / (settings["rrf_k"] + rank) if rank else 0.0
        result.rrf += contribution
        result.linear += route.weight / total * normalised
        result.blend += route.weight / total * score / route.best if rank and route.best > 0 else 0.0
        kind = "lexical" if route.name == "lexical" else "vector"
        setattr(result, kind, max(getattr(result, kind), score if rank else float("-inf")))
        result.parts[route.name] = {
            "rank": rank, "score": score, "weight": route.weight, "contribution": contribution,
            "normalised": normalised, "share": route.weight / total, "linear": route.weight / total * normalised,
        }  # fmt: skip


def sessions_first(results: list[Result], settings: Settings) -> list[Result]:
    """Only session rows, each with the support of its turns, when there is a session row; else all as they are."""
    sessions = [result for result in results if result.doc.granularity == "session"]
    if not settings["session_first"] or not sessions:
        return results
    for session in sessions:
        session.turns = [
            result
            for result in results
            if result.doc.granularity == "turn" and result.doc.session_id == session.doc.session_id is not None
        ]
        best = max((turn.base for turn in session.turns), default=0.0)
        session.support = min(settings["turn_cap"], settings["turn_factor"] * best)
    return sessions


def place(result: Result) -> tuple[float, ...]:
    """The key of the contract's order; equal means equal to the last decimals that float arithmetic gives."""
    return (
        -round(result.final, 12), -round(result.blend, 12), -round(result.vector, 9), -round(result.lexical, 9),
        result.doc.id
    )  # fmt: skip


def rank(call: Call) -> list[Result]:
    """All results in order, before the cut to top_k."""
    settings = call.settings
    half_life = settings.get("recency_half_life_days")
    results = sessions_first(fuse(call), settings)
    for result in results:
        days = max(0.0, (call.now - result.doc.time).total_seconds() / 86400)
        result.recency = 0.5 ** (days / half_life) if half_life else 1.0
        quality = settings["memory_weight"] * float(np.float32(result.doc.memory_score))
        result.final = (result.base + result.support) * result.recency + quality
        result.rrf += result.support if settings["fusion"] == "rrf" else 0.0
    return grouped(sorted(results, key=place), settings)


def grouped(results: list[Result], settings: Settings) -> list[Result]:
    """At most per_group of a session; a memory outside any session is a group of its own."""
    if settings.get("group_by") != "session":
        return results
    kept: list[Result] = []
    for result in results:
        same = [other for other in kept if other.doc.session_id == result.doc.session_id is not None]
        kept += [result] if len(same) < settings["per_group"] else []
    return kept
