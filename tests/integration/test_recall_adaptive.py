"""Adaptive fusion against the oracle, and where there is little to adapt to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import pgfuse
from tests.oracle import adaptive, strategies
from tests.oracle.by_hand import QUERY, doc
from tests.oracle.compare import make_call
from tests.oracle.corpus import Doc, insert
from tests.oracle.presets import PLAIN, weights

pytest_plugins = ("tests.sql.fixtures",)
Connection = psycopg.Connection[Any]
SETTINGS = PLAIN | {"fusion": "adaptive", "weights": weights(vec_full=1.5, lexical=1)}
# pgvector keeps vectors as float32, and centring takes away leading digits
PRECISION = 1e-3


@strategies.examples(150)
@given(
    docs=strategies.docs(),
    query=strategies.texts,
    embedding=strategies.vectors,
    own=st.sampled_from(
        ({"vec_full": 1.5, "lexical": 1.0}, {"vec_full": 1.0, "lexical": 0.5, "vec_user": 1.0}, {"lexical": 2.0})
    ),
)
def test_every_score_is_the_oracles(
    docs: Sequence[Doc], query: str, embedding: list[float], own: dict[str, float], small: Connection
) -> None:
    settings = SETTINGS | {"weights": weights(**own)}
    call = make_call(small, docs, query, embedding, 50, settings)
    expected, safe = adaptive.fuse(call)
    assume(safe > 0.05)
    small.rollback()
    insert(small, docs)
    hits = pgfuse.recall(small, query, "p", embedding=embedding, top_k=50, settings=settings)
    assert {hit.id: hit.final_score for hit in hits} == pytest.approx(expected, abs=PRECISION)
    ordered = [round(hit.final_score, 11) for hit in hits]
    assert ordered == sorted(ordered, reverse=True)
    for hit in hits:
        parts = hit.explain["routes"].values()
        assert hit.explain["linear_score"] == pytest.approx(sum(part["linear"] for part in parts))
        assert hit.rrf_score == pytest.approx(sum(part["contribution"] for part in parts))


@pytest.mark.parametrize("scale", [1, 2, 3, 7, 0.5, 0.1])
def test_parallel_vectors_are_equal_whatever_their_length(scale: float, small: Connection) -> None:
    vector = [1.0, 2.0, 3.0]
    longer = [scale * x for x in vector]
    insert(small, [Doc(id=n, content="apple", vectors={"vec_full": vector if n % 2 else longer}) for n in range(1, 8)])
    hits = pgfuse.recall(small, "apple", "p", embedding=[1, 0, 1], settings=SETTINGS)
    assert [hit.final_score for hit in hits] == pytest.approx([hits[0].final_score] * 7, abs=1e-6)
    # a tenth is no float32, so that those vectors are not quite parallel, and the blend score decides
    assert scale == 0.1 or [hit.id for hit in hits] == list(range(1, 8))


@pytest.mark.parametrize("number", [0, 1, 2])
def test_few_candidates(number: int, small: Connection) -> None:
    insert(small, [doc(n, 0.5 + n / 10, content="apple") for n in range(number)])
    hits = pgfuse.recall(small, "apple", "p", embedding=QUERY, settings=SETTINGS)
    assert len(hits) == number
    assert all(0 <= hit.final_score <= 1 + 1e-9 for hit in hits)


def test_the_query_in_the_middle_of_all_candidates(small: Connection) -> None:
    insert(
        small,
        [Doc(id=n, content="apple", vectors={"vec_full": v}) for n, v in enumerate(([1, 1, 0], [1, -1, 0], [1, 0, 0]))],
    )
    hits = pgfuse.recall(small, "apple", "p", embedding=QUERY, settings=SETTINGS)
    assert len(hits) == 3
    assert all(hit.final_score == hit.final_score for hit in hits)


def test_the_same_call_gives_the_same_order(small: Connection) -> None:
    insert(small, [doc(n, (n * 7 % 20) / 20, content="apple pear" if n % 3 else "apple") for n in range(1, 60)])
    orders = {
        tuple(hit.id for hit in pgfuse.recall(small, "apple pear", "p", embedding=QUERY, settings=SETTINGS))
        for _ in range(10)
    }
    assert len(orders) == 1
