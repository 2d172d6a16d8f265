"""The worked figures: each expected value is written as the formula of the contract."""

from __future__ import annotations

from math import log
from typing import Any

import psycopg
import pytest

import pgfuse
from tests.oracle.by_hand import QUERY, at_angle
from tests.oracle.compare import near
from tests.oracle.corpus import Doc, insert

pytest_plugins = ("tests.sql.fixtures",)
Connection = psycopg.Connection[Any]
BM25 = {"lexical_match": "any", "lexical_rank": "bm25", "bm25_k1": 1.2, "bm25_b": 0}


def idf(docs: int, df: int) -> float:
    return log(1 + (docs - df + 0.5) / (df + 0.5))


def bm25(docs: int, df: int, tf: int) -> float:
    return idf(docs, df) * tf / (tf + 1.2)


def five(**more: Any) -> list[Doc]:
    """Memory 1 is first in the lexical list and fifth in the dense one."""
    dense = [Doc(id=n, content="pear", vectors={"vec_full": at_angle(1 - n / 10)}) for n in range(2, 6)]
    return [Doc(id=1, content="apple", vectors={"vec_full": at_angle(0.1)}, **more), *dense]


def recall(conn: Connection, preset: str, **options: Any) -> pgfuse.Recall:
    options = {"settings": BM25, "embedding": QUERY, **options}
    return pgfuse.recall(conn, "apple", "p", preset=preset, **options)


def test_rank_1_and_rank_5_at_k_60_give_1_61_plus_1_65(small: Connection) -> None:
    insert(small, five())
    first = recall(small, "balanced")[0]
    assert (first.id, first.routes, first.sources) == (1, ("lexical", "vec_full"), ("semantic", "lexical"))
    assert first.rrf_score == first.final_score == near(1 / 61 + 1 / 65)
    assert first.explain["routes"] == {
        "lexical": {
            "rank": 1,
            "score": near(bm25(5, 1, 1)),
            "weight": 1,
            "contribution": near(1 / 61),
        },
        "vec_full": {"rank": 5, "score": near(0.1), "weight": 1, "contribution": near(1 / 65)},
    }


def test_balanced(small: Connection) -> None:
    insert(small, five())
    hits = recall(small, "balanced", top_k=2)
    assert [hit.id for hit in hits] == [1, 2]
    assert [hit.rrf_score for hit in hits] == near([1 / 61 + 1 / 65, 1 / 61])
    assert hits[0].blend_score == near(0.5 * 1 + 0.5 * 0.1 / 0.8)
    assert hits.trace["routes"]["vec_full"]["candidates"] == 5
    assert recall(small, "balanced", top_k=1).trace["routes"]["vec_full"]["candidates"] == 3 * 1


def test_semantic(small: Connection) -> None:
    insert(small, five())
    hits = recall(small, "semantic", top_k=2)
    assert [hit.id for hit in hits] == [2, 3]
    assert [hit.final_score for hit in hits] == near([1 / 61, 1 / 62])
    assert [hit.blend_score for hit in hits] == near([1, 0.7 / 0.8])
    assert hits.trace["routes"]["lexical"]["status"] == "skipped"
    assert hits.trace["routes"]["vec_full"]["candidates"] == 2 * 2
    assert hits.trace["fusion"] == "skipped"


def test_blend_orders_by_its_weights(small: Connection) -> None:
    insert(
        small,
        [
            Doc(id=1, content="apple apple apple", vectors={"vec_full": at_angle(0.2)}),
            Doc(id=2, content="pear", vectors={"vec_full": at_angle(0.9)}),
            Doc(id=3, content="apple", vectors={"vec_full": at_angle(0.6)}),
        ],
    )
    hits = recall(small, "blend")
    best = bm25(3, 2, 3)
    expected = {
        2: (0.75 / 61, 0.75),
        3: (0.75 / 62 + 0.25 / 62, 0.75 * 0.6 / 0.9 + 0.25 * bm25(3, 2, 1) / best),
        1: (0.75 / 63 + 0.25 / 61, 0.75 * 0.2 / 0.9 + 0.25 * 1),
    }
    assert [hit.id for hit in hits] == sorted(expected, key=lambda key: -expected[key][0]) == [3, 1, 2]
    for hit in hits:
        assert (hit.rrf_score, hit.blend_score) == near(expected[hit.id])


def test_equal_rrf_scores_are_decided_by_the_blend_score(small: Connection) -> None:
    weights = {"vec_full": 1, "vec_user": 1, "lexical": 0}
    insert(
        small,
        [
            Doc(id=1, content="a", vectors={"vec_full": at_angle(0.9), "vec_user": at_angle(0.1)}),
            Doc(id=2, content="b", vectors={"vec_full": at_angle(0.8), "vec_user": at_angle(0.5)}),
        ],
    )
    hits = recall(small, "balanced", settings={"weights": weights})
    assert hits[0].rrf_score == near(hits[1].rrf_score)
    assert [(hit.id, hit.blend_score) for hit in hits] == [
        (2, near(0.5 * 0.8 / 0.9 + 0.5)),
        (1, near(0.5 + 0.5 * 0.1 / 0.5)),
    ]


def test_the_raw_vector_score_then_the_id_decide_the_rest(small: Connection) -> None:
    weights = {"vec_full": 1, "vec_user": 1, "vec_asst": 1, "lexical": 1}
    insert(
        small,
        [
            Doc(id=1, content="apple"),
            Doc(id=2, content="b", vectors={"vec_user": at_angle(0.5)}),
            Doc(id=3, content="c", vectors={"vec_asst": at_angle(0.6)}),
            Doc(id=4, content="d", vectors={"vec_full": at_angle(0.5)}),
        ],
    )
    hits = recall(small, "balanced", settings=BM25 | {"weights": weights})
    assert [hit.rrf_score for hit in hits] == near([1 / 61] * 4)
    assert [hit.blend_score for hit in hits] == near([0.25] * 4)
    assert [hit.id for hit in hits] == [3, 2, 4, 1]


def test_memory(small: Connection) -> None:
    """Eight routes at k = 15, memory_weight 0.1, sessions first with 0.6 and 0.12."""
    insert(
        small,
        [
            Doc(id=1, content="apple day", granularity="session", session_id="s", memory_score=0.5,
                vectors={"vec_full": at_angle(0.5), "facet_events": at_angle(0.9)}),
            Doc(id=2, content="apple", granularity="turn", session_id="s", position=1, user_text="apple",
                vectors={"vec_full": at_angle(0.9), "vec_user": at_angle(0.9), "facet_preferences": at_angle(0.2)}),
            Doc(id=3, content="pear", granularity="turn", session_id="s", position=0,
            vectors={"vec_asst": at_angle(0.3)}),
            Doc(id=4, content="pear", granularity="session", session_id="t", vectors={"vec_full": at_angle(-0.5)}),
            Doc(id=5, content="apple apple", granularity="chunk", session_id="t"),
        ],
    )  # fmt: skip
    hits = recall(small, "memory")
    # lexical order: 5 (twice apple), then 1 and 2 by id, as b = 0 takes no length into account
    session_rrf = 1 / (15 + 2) + 1 / (15 + 1) + 1 / (15 + 2)
    best_turn = 1 / (15 + 1) + 1 / (15 + 1) + 1 / (15 + 1) + 1 / (15 + 3)
    support = min(0.12, 0.6 * best_turn)
    assert [hit.id for hit in hits] == [1, 4]
    assert hits[0].rrf_score == near(session_rrf + support)
    assert hits[0].final_score == near(session_rrf + support + 0.1 * 0.5)
    assert hits[0].explain["session_rrf_score"] == near(session_rrf)
    assert hits[0].explain["turn_support"] == near(support)
    assert hits[0].explain["supporting_turn_count"] == 2
    assert hits[0].explain["best_turn_routes"] == ["facet_preferences", "lexical", "vec_full", "vec_user"]
    assert hits[1].final_score == near(1 / (15 + 3))
    assert hits[1].explain["turn_support"] == 0


def test_the_next_users_vector_is_a_route(small: Connection) -> None:
    insert(
        small,
        [
            Doc(id=1, content="apple", granularity="turn", session_id="s", position=1, user_text="q"),
            Doc(
                id=2,
                content="b",
                granularity="turn",
                session_id="s",
                position=2,
                user_text="q",
                vectors={"vec_user": QUERY},
            ),
        ],
    )
    hits = recall(small, "memory", mmr=False)
    assert hits[0].explain["routes"]["vec_next_user"]["contribution"] == near(1 / 16)
    assert hits[0].rrf_score == near(1 / 16 + 1 / 16)


def test_linear_on_completed_scores(small: Connection) -> None:
    insert(
        small,
        [
            Doc(id=1, content="apple apple", vectors={"vec_full": at_angle(0.1)}),
            Doc(id=2, content="apple", vectors={"vec_full": at_angle(0.6)}),
            Doc(id=3, content="pear", vectors={"vec_full": at_angle(0.9)}),
            Doc(id=4, content="apple"),
        ],
    )
    own = BM25 | {"fusion": "linear", "weights": {"vec_full": 3, "lexical": 1}, "pool_multiplier": 1}
    hits = recall(small, "balanced", settings=own, top_k=2)
    # pool of 2: vec_full returns 3 and 2, lexical 1 and 2; the union is {1, 2, 3}, and all are scored in both
    top, low = bm25(4, 3, 2), bm25(4, 3, 1)
    expected = {
        1: 0.75 * 0 + 0.25 * 1,
        2: 0.75 * (0.6 - 0.1) / (0.9 - 0.1) + 0.25 * low / top,
        3: 0.75 * 1 + 0.25 * 0,
    }
    assert [hit.id for hit in hits] == [3, 2]
    assert [hit.final_score for hit in hits] == near([expected[3], expected[2]])
    assert hits.trace["fused"] == 3
    assert hits[0].routes == ("vec_full",)
    assert hits[0].explain["routes"]["lexical"] == {
        "rank": None, "score": 0, "weight": 1, "contribution": 0, "normalised": 0, "share": 0.25, "linear": 0
    }  # fmt: skip


def test_memory_score_is_added_by_its_weight(small: Connection) -> None:
    insert(small, five(memory_score=0.25))
    hits = recall(small, "balanced", settings=BM25 | {"memory_weight": 2})
    assert hits[0].final_score == near(1 / 61 + 1 / 65 + 2 * 0.25)
    assert hits[0].memory_score == 0.25


@pytest.mark.parametrize(("top_k", "pool"), [(1, 64), (8, 64), (9, 72), (20, 160)])
def test_the_pool_is_twice_the_greater_of_4_top_k_and_32(top_k: int, pool: int, small: Connection) -> None:
    insert(small, [Doc(id=n, content="apple", vectors={"vec_full": at_angle(n / 200)}) for n in range(1, 190)])
    routes = recall(small, "blend", top_k=top_k).trace["routes"]
    assert (routes["vec_full"]["candidates"], routes["lexical"]["candidates"]) == (pool, pool)


def test_a_facet_that_a_user_made_is_a_route(small: Connection) -> None:
    insert(small, [Doc(id=1, content="x", vectors={"facet_travel_plans": at_angle(0.5)})])
    hits = recall(small, "balanced", settings={"weights": {"facet_travel_plans": 2}})
    assert hits[0].explain["routes"].keys() == {"facet_travel_plans"}
    assert hits[0].rrf_score == near(2 / 61)
