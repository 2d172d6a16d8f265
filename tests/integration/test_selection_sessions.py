"""Sessions first and neighbours, on corpora made by hand."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

import pgfuse
from tests.oracle.by_hand import QUERY, doc, turn
from tests.oracle.corpus import insert
from tests.oracle.presets import PRESETS

pytest_plugins = ("tests.sql.fixtures",)
Connection = psycopg.Connection[Any]
DENSE = PRESETS["semantic"] | {"pool_multiplier": None}


def recall(conn: Connection, **options: Any) -> pgfuse.Recall:
    settings = DENSE | options.pop("settings", {})
    return pgfuse.recall(conn, None, "p", **{"embedding": QUERY, "settings": settings} | options)


def ids(hits: pgfuse.Recall) -> list[int]:
    return [hit.id for hit in hits]


def shown(hits: pgfuse.Recall) -> list[tuple[int, int | None]]:
    return [(hit.id, hit.neighbor_of) for hit in hits]


SESSIONS_FIRST = {"session_first": True, "turn_factor": 0.6, "turn_cap": 0.12, "rrf_k": 15}


def test_turn_support_is_the_best_turns_score_by_the_factor(small: Connection) -> None:
    insert(small, [doc(1, 0.1, granularity="session", session_id="s"), turn(2, 0.9), turn(3, 0.8), doc(4, 0.7)])
    [hit] = recall(small, settings=SESSIONS_FIRST)
    assert hit.explain["session_rrf_score"] == pytest.approx(1 / (15 + 4))
    assert hit.explain["turn_support"] == pytest.approx(0.6 / (15 + 1))
    assert hit.rrf_score == hit.final_score == pytest.approx(1 / (15 + 4) + 0.6 / (15 + 1))
    assert (hit.explain["supporting_turn_count"], hit.explain["best_turn_routes"]) == (2, ["vec_full"])


def test_turn_support_is_capped(small: Connection) -> None:
    insert(small, [doc(1, 0.1, granularity="session", session_id="s"), turn(2, 0.9)])
    [hit] = recall(small, settings=SESSIONS_FIRST | {"turn_cap": 0.01})
    assert hit.explain["turn_support"] == pytest.approx(0.01)
    assert hit.rrf_score == pytest.approx(1 / (15 + 2) + 0.01)


def test_turns_of_other_sessions_do_not_support(small: Connection) -> None:
    insert(
        small,
        [doc(1, 0.1, granularity="session", session_id="s"), turn(2, 0.9, session="t"), doc(3, 0.8, session_id="s")],
    )
    [hit] = recall(small, settings=SESSIONS_FIRST)
    assert (hit.explain["turn_support"], hit.explain["supporting_turn_count"], hit.explain["best_turn_routes"]) == (
        0,
        0,
        [],
    )


def test_turn_support_can_change_the_order_of_sessions(small: Connection) -> None:
    insert(
        small,
        [
            doc(1, 0.8, granularity="session", session_id="s"),
            doc(2, 0.7, granularity="session", session_id="t"),
            turn(3, 0.9, session="t"),
        ],
    )
    assert ids(recall(small, settings=SESSIONS_FIRST)) == [2, 1]
    assert ids(recall(small, settings=SESSIONS_FIRST | {"turn_factor": 0})) == [1, 2]


def test_without_a_session_row_the_chunks_stand_and_neighbors_are_added(small: Connection) -> None:
    insert(small, [turn(1, None, 1), turn(2, 0.9, 2), turn(3, None, 3)])
    hits = recall(small, settings=SESSIONS_FIRST | {"neighbors": 1})
    assert shown(hits) == [(2, None), (1, 2), (3, 2)]
    assert "turn_support" not in hits[0].explain


def test_a_session_row_outside_the_filters_does_not_count(small: Connection) -> None:
    insert(small, [doc(1, 0.9, granularity="session", session_id="s"), turn(2, 0.5)])
    assert ids(recall(small, settings=SESSIONS_FIRST, granularity="turn")) == [2]


def test_sessions_have_no_neighbors_when_they_come_first(small: Connection) -> None:
    insert(small, [doc(1, 0.9, granularity="session", session_id="s", position=1), turn(2, None, 2)])
    assert shown(recall(small, settings=SESSIONS_FIRST | {"neighbors": 3})) == [(1, None)]


def test_neighbors_stand_after_their_hit_in_the_order_of_the_session(small: Connection) -> None:
    insert(small, [turn(n, {3: 0.9, 6: 0.8}.get(n), n) for n in range(1, 9)])
    assert shown(recall(small, settings={"neighbors": 1})) == [(3, None), (2, 3), (4, 3), (6, None), (5, 6), (7, 6)]


def test_overlapping_neighbors_belong_to_the_first_hit(small: Connection) -> None:
    insert(small, [turn(n, {3: 0.9, 5: 0.8}.get(n), n) for n in range(1, 8)])
    assert shown(recall(small, settings={"neighbors": 2})) == [
        (3, None),
        (1, 3),
        (2, 3),
        (4, 3),
        (5, None),
        (6, 5),
        (7, 5),
    ]


def test_a_hit_is_never_a_neighbor_as_well(small: Connection) -> None:
    insert(small, [turn(n, 0.9 - n / 10, n) for n in range(1, 4)])
    assert shown(recall(small, settings={"neighbors": 2})) == [(1, None), (2, None), (3, None)]


@pytest.mark.parametrize(("hit", "around"), [(1, [2]), (4, [3])])
def test_the_edges_of_a_session(hit: int, around: list[int], small: Connection) -> None:
    insert(small, [turn(n, 0.9 if n == hit else None, n) for n in range(1, 5)])
    assert shown(recall(small, settings={"neighbors": 1})) == [(hit, None), *((n, hit) for n in around)]


def test_neighbors_are_not_counted_in_top_k(small: Connection) -> None:
    insert(small, [turn(n, 0.9 if n % 3 == 2 else None, n) for n in range(1, 10)])
    hits = recall(small, top_k=2, settings={"neighbors": 1})
    assert [n for n, of in shown(hits) if of is None] == [2, 5]
    assert len(hits) == 6


def test_a_neighbor_says_whose_it_is_and_claims_no_score(small: Connection) -> None:
    insert(small, [turn(1, 0.9, 1, memory_score=1), turn(2, None, 2, tags=("x",), memory_score=1)])
    neighbor = recall(small, settings={"neighbors": 1, "memory_weight": 1})[1]
    assert (neighbor.neighbor_of, neighbor.rrf_score, neighbor.blend_score, neighbor.final_score) == (1, 0, 0, 0)
    assert (neighbor.routes, neighbor.sources, neighbor.tags, neighbor.content) == ((), (), ("x",), "text 2")


def test_neighbors_need_a_session_and_a_position(small: Connection) -> None:
    insert(small, [doc(1, 0.9, position=1), doc(2, position=2), turn(3, 0.8), turn(4, None, 1), turn(5)])
    assert shown(recall(small, settings={"neighbors": 5})) == [(1, None), (3, None)]


def test_positions_at_the_ends_of_the_integers_have_neighbors_too(small: Connection) -> None:
    insert(
        small,
        [
            turn(1, 0.9, 2**31 - 1),
            turn(2, None, 2**31 - 2),
            turn(3, 0.8, -(2**31), "t"),
            turn(4, None, -(2**31) + 1, "t"),
        ],
    )
    assert shown(recall(small, settings={"neighbors": 2})) == [(1, None), (2, 1), (3, None), (4, 3)]


@pytest.mark.parametrize("mmr", [False, True])
def test_neighbors_respect_every_filter(mmr: bool, small: Connection) -> None:
    insert(small, [turn(1, None, 1, kind="semantic"), turn(2, 0.9, 2), turn(3, None, 3)])
    assert shown(recall(small, settings={"neighbors": 1}, kinds="episodic", mmr=mmr)) == [(2, None), (3, 2)]
    assert shown(recall(small, settings={"neighbors": 1}, exclude_ids=[3], mmr=mmr)) == [(2, None), (1, 2)]
