"""Maximal marginal relevance, choice by choice against the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgfuse import mmr
from tests.oracle.compare import near
from tests.oracle.selection import Candidate
from tests.oracle.selection import mmr as expected_mmr
from tests.oracle.strategies import examples

candidates = st.lists(
    st.tuples(
        st.integers(0, 100).map(lambda x: x / 100),
        st.none() | st.lists(st.integers(-3, 3), min_size=3, max_size=3).filter(any),
        st.lists(st.sampled_from("abcd"), max_size=3),
    ),
    max_size=15,
)
fractions = st.sampled_from((0.0, 0.3, 0.5, 0.78, 0.94, 1.0))
Given = Sequence[tuple[float, Sequence[float] | None, Sequence[str]]]


def select(given: Given, top_k: int, **settings: Any) -> mmr.Selection:
    return mmr.select(
        [relevance for relevance, _, _ in given],
        [None if vector is None else np.asarray(vector, dtype=np.float32) for _, vector, _ in given],
        [tags for _, _, tags in given],
        top_k=top_k,
        lambda_=settings.get("mmr_lambda", 0.5),
        duplicate_threshold=settings.get("duplicate_threshold", 0.94),
        tag_weight=settings.get("mmr_tag_weight", 0.35),
    )


@examples(400)
@given(given=candidates, top_k=st.integers(1, 8), lambda_=fractions, threshold=fractions, tag_weight=fractions)
def test_every_choice_is_the_oracles(
    given: Given, top_k: int, lambda_: float, threshold: float, tag_weight: float
) -> None:
    settings = {"mmr_lambda": lambda_, "duplicate_threshold": threshold, "mmr_tag_weight": tag_weight}
    pool = [Candidate(i, relevance, vector, frozenset(tags)) for i, (relevance, vector, tags) in enumerate(given)]
    expected = expected_mmr(pool, top_k, settings)
    chosen = select(given, top_k, **settings).chosen
    assert [choice.index for choice in chosen] == [key for key, _, _ in expected]
    assert [choice.redundancy for choice in chosen] == near([most for _, most, _ in expected])
    assert [choice.score for choice in chosen] == near([score for _, _, score in expected])


def test_the_worked_example() -> None:
    given: Given = [(1.0, [1, 0], ()), (0.9, [0.8, 0.6], ()), (0.5, [0, 1], ())]
    first, second, third = select(given, 3, mmr_lambda=0.5).chosen
    assert (first.index, first.against, first.score) == (0, None, 0.5 * 1.0)
    assert (second.index, second.score) == (2, near(0.5 * 0.5 - 0.5 * 0))
    assert (third.index, third.against, third.redundancy) == (1, 0, near(0.8))
    assert third.score == near(0.5 * 0.9 - 0.5 * 0.8)


def test_a_candidate_at_the_threshold_is_dropped() -> None:
    selection = select([(1.0, [1, 0], ()), (0.9, [0.6, 0.8], ()), (0.8, [0, 1], ())], 3, duplicate_threshold=0.6)
    assert [choice.index for choice in selection.chosen] == [0, 2]
    assert [(d.index, d.against, d.redundancy) for d in selection.duplicates] == [(1, 0, near(0.6))]


@pytest.mark.parametrize("vector", [[1, 1, 1], [1, 2, 3], [0.1, 0.7, 0.3], [3, 5, 7], [0.2, 0.2, 0.3]])
def test_at_threshold_1_equal_vectors_are_duplicates_in_spite_of_rounding(vector: list[float]) -> None:
    parallel = [3 * x for x in vector]
    assert (
        len(select([(1.0, vector, ()), (0.9, vector, ()), (0.8, parallel, ())], 3, duplicate_threshold=1.0).chosen) == 1
    )


def test_tags_count_as_redundancy() -> None:
    selection = select(
        [(1.0, None, ("a", "b")), (0.9, None, ("b", "c")), (0.8, None, ())], 3, mmr_lambda=0.5, mmr_tag_weight=0.9
    )
    assert [choice.index for choice in selection.chosen] == [0, 2, 1]
    assert selection.chosen[2].redundancy == near(0.9 * 1 / 3)


def test_repeated_tags_count_once() -> None:
    chosen = select([(1.0, None, ("a", "a")), (0.9, None, ("a", "b"))], 2, mmr_tag_weight=0.5).chosen
    assert chosen[1].redundancy == near(0.5 * 1 / 2)


def test_opposite_vectors_are_not_rewarded() -> None:
    assert select([(1.0, [1, 0], ()), (0.9, [-1, 0], ())], 2).chosen[1].redundancy == 0


@pytest.mark.parametrize(
    "given", [[], [(0.5, None, ())], [(0.5, [1.0, 0.0], ("a",))], [(0.0, None, ()), (0.0, None, ())]]
)
def test_few_and_bare_candidates(given: Given) -> None:
    assert [choice.index for choice in select(given, 5).chosen] == list(range(len(given)))


def test_a_tie_goes_to_the_earlier() -> None:
    assert [choice.index for choice in select([(0.5, None, ())] * 4, 4).chosen] == [0, 1, 2, 3]


def test_lambda_1_keeps_the_order_of_relevance() -> None:
    given: Given = [(0.9, [1, 0], ()), (0.8, [0.9, 0.1], ()), (0.7, [0, 1], ())]
    assert [choice.index for choice in select(given, 3, mmr_lambda=1.0, duplicate_threshold=1.0).chosen] == [0, 1, 2]
