"""Random corpora and calls, small enough that ties, overlaps and empty routes are common."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from tests.oracle.corpus import EPOCH, Doc
from tests.oracle.presets import PLAIN, ROUTES

THOROUGH = os.environ.get("PGFUSE_HYPOTHESIS") == "thorough"
WORDS = ("apple", "apples", "pears", "running", "the", "ran", "it's", "naïve", "x-ray", "Ärzte")
DENSE = tuple(route for route in ROUTES if route not in ("lexical", "vec_next_user"))
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
vectors = st.lists(st.integers(-2, 2), min_size=3, max_size=3).filter(any)
weights = st.one_of(
    st.just(0.0), st.sampled_from((1.0, 0.25, 0.75, 5.0)), st.floats(0.001, 5).map(lambda x: round(x, 3))
)
labels = st.sampled_from(("a", "b"))
moments = st.integers(0, 6).map(lambda days: EPOCH + timedelta(days=days))
metadata: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    ({}, {"a": 1}, {"a": 1, "b": {"c": [1, 2]}}, {"a": "1"}, {"b": {"c": [2]}}, {"a": True}, {"a": None})
)


def examples(number: int) -> settings:
    """So many examples, the same on every run; PGFUSE_HYPOTHESIS=thorough makes ten times as many new ones."""
    return settings(
        max_examples=number * 10 if THOROUGH else number,
        derandomize=not THOROUGH,
        deadline=None,
        database=None,
        phases=(Phase.explicit, Phase.generate, Phase.shrink) if THOROUGH else (Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )


@st.composite
def docs(draw: st.DrawFn, size: int = 14) -> list[Doc]:
    """The memories of two profiles, p and q, that share texts, sessions and tags."""
    return [draw(doc(number)) for number in range(1, draw(st.integers(0, size)) + 1)]


@st.composite
def doc(draw: st.DrawFn, number: int) -> Doc:
    """One memory; ids are spread so that the profiles' ids interleave."""
    routes = draw(st.lists(st.sampled_from(("vec_full", "vec_full", "facet_hobbies", *DENSE)), max_size=4, unique=True))
    session = draw(st.none() | labels)
    return Doc(
        id=number * 7 % 101,
        profile_id=draw(st.sampled_from("pppq")),
        content=draw(texts),
        kind=draw(st.sampled_from(("episodic", "semantic"))),
        granularity=draw(st.sampled_from(("chunk", "chunk", "turn", "turn", "session"))),
        session_id=session,
        project_id=draw(st.none() | labels),
        position=draw(st.none() | st.integers(-1, 6)),
        user_text=draw(st.none() | st.just("hello")),
        task_tag=draw(st.none() | texts),
        tags=tuple(draw(st.lists(labels, max_size=2, unique=True))),
        language=draw(st.sampled_from(("english", "english", "simple", "german"))),
        memory_score=draw(st.sampled_from((0.0, 0.5, 1.0, 0.3))),
        metadata=draw(metadata),
        occurred_at=draw(st.none() | moments),
        vectors={route: draw(vectors) for route in routes},
    )


@st.composite
def call_settings(draw: st.DrawFn) -> dict[str, Any]:
    """Settings of one call, every key given."""
    return PLAIN | {
        "weights": {route: draw(weights) for route in (*ROUTES, "facet_hobbies")},
        "fusion": draw(st.sampled_from(("rrf", "linear"))),
        "rrf_k": draw(st.sampled_from((1, 15, 60, 1000))),
        "pool_multiplier": draw(st.none() | st.integers(1, 4)),
        "memory_weight": draw(st.sampled_from((0, 0.1, 1))),
        "lexical_match": draw(st.sampled_from(("any", "any", "all"))),
        "bm25_k1": draw(st.sampled_from((0, 0.9, 1.2, 3))),
        "bm25_b": draw(st.sampled_from((0, 0.4, 0.75, 1))),
        "session_first": draw(st.booleans()),
        "turn_factor": draw(st.sampled_from((0, 0.6, 5))),
        "turn_cap": draw(st.sampled_from((0, 0.01, 0.12, 5))),
        "neighbors": draw(st.sampled_from((0, 0, 1, 3))),
        "recency_half_life_days": draw(st.none() | st.sampled_from((0.5, 30))),
        "group_by": draw(st.none() | st.just("session")),
        "per_group": draw(st.integers(1, 3)),
    }


@st.composite
def filters(draw: st.DrawFn) -> dict[str, Any]:
    """Filters of one call, most of them absent."""
    some = st.lists(labels, max_size=2)
    possible: dict[str, st.SearchStrategy[Any]] = {
        "session_ids": some,
        "project_id": labels,
        "exclude_ids": st.lists(st.integers(0, 100), min_size=1),
        "kinds": st.lists(st.sampled_from(("episodic", "semantic", "none")), max_size=2),
        "granularity": st.lists(st.sampled_from(("chunk", "turn", "session")), max_size=3),
        "tags": some,
        "metadata": metadata,
        "since": moments,
        "until": moments,
        "as_of": moments,
    }
    names = draw(st.lists(st.sampled_from(sorted(possible)), max_size=2, unique=True))
    return {name: draw(possible[name]) for name in names}
