"""MMR, packing and neighbours over random corpora, against the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pgfuse
from tests.oracle import selection, strategies
from tests.oracle.compare import make_call
from tests.oracle.corpus import Doc, insert
from tests.oracle.presets import PRESETS
from tests.oracle.routes import allowed

pytest_plugins = ("tests.sql.fixtures",)
Connection = psycopg.Connection[Any]
fractions = st.sampled_from((0.0, 0.35, 0.5, 0.78, 0.94, 1.0))


@st.composite
def mmr_settings(draw: st.DrawFn) -> dict[str, Any]:
    """Settings with MMR on."""
    own = {name: draw(fractions) for name in ("mmr_lambda", "duplicate_threshold", "mmr_tag_weight")}
    return draw(strategies.call_settings()) | own | {"mmr": True, "mmr_normalize": draw(st.booleans())}


@strategies.examples(100)
@given(
    docs=strategies.docs(),
    query=strategies.texts,
    embedding=strategies.vectors,
    settings=mmr_settings(),
    filters=strategies.filters(),
    top_k=st.integers(1, 5),
)
def test_mmr_chooses_from_the_pool_what_the_oracle_chooses(
    docs: Sequence[Doc],
    query: str,
    embedding: list[float],
    settings: dict[str, Any],
    filters: dict[str, Any],
    top_k: int,
    small: Connection,
) -> None:
    small.rollback()
    insert(small, docs)
    call = make_call(small, docs, query, embedding, top_k, settings, filters)
    pool = selection.pool(call)
    steps = selection.mmr(selection.candidates(pool, settings), top_k, settings)
    by_id = {result.doc.id: result for result in pool}
    expected = selection.with_neighbors(call, [by_id[key] for key, _, _ in steps])
    hits = pgfuse.recall(small, query, "p", embedding=embedding, top_k=top_k, settings=settings, **filters)
    assert [(hit.id, hit.neighbor_of) for hit in hits] == [(r.doc.id, r.neighbor_of) for r in expected]
    chosen = [hit for hit in hits if hit.neighbor_of is None]
    assert [hit.final_score for hit in chosen] == pytest.approx([by_id[hit.id].final for hit in chosen])
    parts = [(hit.explain["mmr"]["redundancy"], hit.explain["mmr"]["score"]) for hit in chosen]
    assert parts == [(pytest.approx(most, abs=1e-6), pytest.approx(score, abs=1e-6)) for _, most, score in steps]


@strategies.examples(60)
@given(docs=strategies.docs(), query=strategies.texts, embedding=strategies.vectors, budget=st.integers(1, 60))
def test_packing_takes_hits_in_order_until_the_budget_is_used(
    docs: Sequence[Doc], query: str, embedding: list[float], budget: int, small: Connection
) -> None:
    small.rollback()
    insert(small, docs)
    settings = PRESETS["balanced"] | {"neighbors": 1}
    everything = pgfuse.recall(small, query, "p", embedding=embedding, settings=settings)
    for count in (len, lambda text: len(text.split()), lambda text: 0):
        hits = pgfuse.recall(
            small, query, "p", embedding=embedding, settings=settings, max_tokens=budget, count_tokens=count
        )
        kept = selection.packed([hit.content for hit in everything], budget, count)
        assert [hit.id for hit in hits] == [hit.id for hit in everything[:kept]]
        used = sum(count(hit.content) for hit in hits)
        assert hits.trace["packing"] == {"max_tokens": budget, "used": used, "left_out": len(everything) - kept}


@strategies.examples(100)
@given(docs=strategies.docs(20), query=strategies.texts, filters=strategies.filters(), reach=st.integers(1, 10))
def test_neighbors_never_cross_a_session_a_profile_or_a_filter(
    docs: Sequence[Doc], query: str, filters: dict[str, Any], reach: int, small: Connection
) -> None:
    small.rollback()
    insert(small, docs)
    settings = PRESETS["balanced"] | {"neighbors": reach}
    hits = pgfuse.recall(small, query, "p", top_k=3, embedding=[1, 0, 0], settings=settings, **filters)
    by_id = {doc.id: doc for doc in docs}
    assert len({hit.id for hit in hits}) == len(hits)
    assert sum(hit.neighbor_of is None for hit in hits) <= 3
    for hit in hits:
        doc = by_id[hit.id]
        assert doc.profile_id == "p"
        assert allowed(doc, filters)
        if hit.neighbor_of is not None:
            of = by_id[hit.neighbor_of]
            assert of.session_id == doc.session_id is not None
            assert of.position is not None
            assert doc.position is not None
            assert abs(of.position - doc.position) <= reach
