"""pgfuse.rrf alone: the pure fusion of anybody's ranked lists."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import psycopg
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.compare import near
from tests.oracle.strategies import examples

pytest_plugins = ("tests.sql.fixtures",)
Connection = psycopg.Connection[Any]
entries = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 200), st.sampled_from((0, 0.25, 1, 5))), max_size=20)


def rrf(conn: Connection, ids: list[Any], ranks: list[int], *more: Any) -> list[tuple[Any, float]]:
    places = ", ".join(["%s"] * len(more))
    kind = "bigint[]" if not ids or isinstance(ids[0], int) else "text[]"
    return conn.execute(
        f"SELECT * FROM pgfuse.rrf(%s::{kind}, %s::int[]{', ' + places if more else ''})", [ids, ranks, *more]
    ).fetchall()


def test_rank_1_and_rank_5_at_k_60(small: Connection) -> None:
    assert rrf(small, [7, 7], [1, 5]) == [(7, near(1 / 61 + 1 / 65))]


def test_weights_and_k(small: Connection) -> None:
    rows = rrf(small, ["a", "b", "a"], [1, 1, 2], [0.75, 0.25, 0.25], 15)
    assert rows == [("a", near(0.75 / 16 + 0.25 / 17)), ("b", near(0.25 / 16))]


def test_a_weight_of_0_adds_no_candidate(small: Connection) -> None:
    assert rrf(small, [1, 2], [1, 1], [1, 0]) == [(1, near(1 / 61))]


def test_ties_go_by_id_and_max_rows_cuts(small: Connection) -> None:
    assert [key for key, _ in rrf(small, [9, 3, 5], [1, 1, 1], None, 60, 2)] == [3, 5]


def test_of_nothing_is_nothing(small: Connection) -> None:
    assert rrf(small, [], []) == []


@examples(60)
@given(entries=entries, k=st.sampled_from((1, 15, 60, 1000)))
def test_is_the_formula(entries: list[tuple[int, int, float]], k: int, small: Connection) -> None:
    expected: dict[int, float] = defaultdict(float)
    for key, rank, weight in entries:
        if weight > 0:
            expected[key] += weight / (k + rank)
    rows = rrf(small, [e[0] for e in entries], [e[1] for e in entries], [float(e[2]) for e in entries], k)
    assert dict(rows) == near(dict(expected))
    assert [key for key, _ in rows] == sorted(expected, key=lambda key: (-round(expected[key], 12), key))
