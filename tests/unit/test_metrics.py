"""The figures agree with a computation of their own, and the intervals with what they stand for."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgfuse.errors import PgfuseError
from pgfuse.evaluate import extras, metrics
from pgfuse.evaluate.intervals import estimate

Grades = dict[str, int]
DOCUMENTS = [f"d{number}" for number in range(80)]
grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 3), min_size=1, max_size=15).filter(
    lambda found: any(found.values())
)
rankings = st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=70)


def dcg(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, start=1))


def expected(judged: Grades, top: Sequence[str], deep: Sequence[str], k: int) -> dict[str, float]:
    """Every figure by its textbook formula."""
    relevant = {document for document, grade in judged.items() if grade > 0}
    ideal = dcg(sorted(judged.values(), reverse=True)[:k])
    places = [place for place, document in enumerate(top[:k], start=1) if document in relevant]
    figures = {
        f"ndcg@{k}": dcg([judged.get(document, 0) for document in top[:k]]) / ideal,
        f"mrr@{k}": 1 / places[0] if places else 0.0,
        "r@1": float(bool(places) and places[0] == 1),
        f"recall_all@{k}": float(relevant <= set(top[:k])),
    }
    for cut in {1, 5, k, 50}:
        found = top[:k][:cut] if cut <= k else deep[:cut]
        figures[f"recall@{cut}"] = len(relevant & set(found)) / len(relevant)
    return figures


@given(st.lists(st.tuples(grades, rankings, rankings), min_size=1, max_size=6), st.sampled_from([1, 3, 5, 10, 60]))
def test_every_figure_is_the_formulas(cases: list[tuple[Grades, list[str], list[str]]], k: int) -> None:
    relevance = {f"q{number}": case[0] for number, case in enumerate(cases)}
    top = {f"q{number}": case[1][:k] for number, case in enumerate(cases)}
    deep = {f"q{number}": case[2] for number, case in enumerate(cases)}
    found = metrics.measure(relevance, top, deep, k)
    assert list(found) == metrics.names(k)
    for number, (judged, ranking, further) in enumerate(cases):
        for name, value in expected(judged, ranking, further, k).items():
            assert found[name][number] == pytest.approx(value, abs=1e-6), name


@given(st.lists(st.tuples(grades, rankings), min_size=1, max_size=6), st.integers(1, 20))
def test_ndcg_alone_is_the_same(cases: list[tuple[Grades, list[str]]], k: int) -> None:
    relevance = {f"q{number}": case[0] for number, case in enumerate(cases)}
    found = metrics.ndcg(relevance, {f"q{number}": case[1] for number, case in enumerate(cases)}, k)
    assert found == pytest.approx([expected(judged, top, top, k)[f"ndcg@{k}"] for judged, top in cases], abs=1e-6)


def test_a_question_that_finds_nothing_counts_as_nothing() -> None:
    found = metrics.measure({"a": {"x": 1}, "b": {"x": 1}}, {"a": [], "b": ["x"]}, {"a": [], "b": ["x"]}, 10)
    assert {name: values.tolist() for name, values in found.items()} == {name: [0.0, 1.0] for name in found}


def test_an_interval_is_where_resampled_means_lie() -> None:
    values = np.random.default_rng(1).normal(0.4, 0.2, size=400)
    found = estimate(values)
    half = 1.96 * values.std() / math.sqrt(len(values))
    assert found.mean == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=half / 8)
    assert estimate(values) == found


@pytest.mark.parametrize(("values", "mean"), [([], 0.0), ([0.3], 0.3), ([0.5, 0.5], 0.5)])
def test_an_interval_without_spread(values: list[float], mean: float) -> None:
    found = estimate(np.array(values))
    assert (found.mean, found.low, found.high) == pytest.approx((mean, mean, mean))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pytrec_eval", None)
    with pytest.raises(PgfuseError, match=r"pip install 'pgfuse\[eval\]'"):
        extras.load("pytrec_eval")
