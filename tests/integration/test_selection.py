"""Recency, groups, MMR and the token budget, on corpora made by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import sqrt
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
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def recall(conn: Connection, **options: Any) -> pgfuse.Recall:
    settings = DENSE | options.pop("settings", {})
    return pgfuse.recall(conn, None, "p", **{"embedding": QUERY, "settings": settings} | options)


def ids(hits: pgfuse.Recall) -> list[int]:
    return [hit.id for hit in hits]


def shown(hits: pgfuse.Recall) -> list[tuple[int, int | None]]:
    return [(hit.id, hit.neighbor_of) for hit in hits]


def test_with_five_near_identical_among_fifty_mmr_returns_one(small: Connection) -> None:
    same = [doc(n, vectors={"vec_full": [1, 0.001 * n, 0]}) for n in range(1, 6)]
    others = [doc(n, vectors={"vec_full": [1, 1 + n % 7, n - 28]}) for n in range(6, 51)]
    insert(small, same + others)
    assert ids(recall(small, top_k=5)) == [1, 2, 3, 4, 5]
    hits = recall(small, top_k=5, mmr=True)
    assert len(hits) == 5
    assert [n for n in ids(hits) if n <= 5] == [1]
    assert {dropped["id"] for dropped in hits.trace["duplicates"]} >= {2, 3, 4, 5}
    assert all(dropped["against"] == 1 for dropped in hits.trace["duplicates"] if dropped["id"] <= 5)


def test_mmr_explains_each_choice(small: Connection) -> None:
    insert(small, [doc(1, 0.9), doc(2, vectors={"vec_full": [0.8, -0.6, 0]}), doc(3, tags=("a",), cosine=0.1)])
    hits = recall(small, mmr=True, settings={"mmr_lambda": 0.5, "mmr_normalize": True, "rrf_k": 1})
    first, second = hits[0].explain["mmr"], hits[1].explain["mmr"]
    assert first == {"relevance": 1, "redundancy": 0, "against": None, "score": 0.5}
    overlap = 0.9 * 0.8 - sqrt(1 - 0.81) * 0.6
    assert hits[1].id == 2
    assert second["redundancy"] == pytest.approx(overlap)
    assert second["against"] == 1
    assert second["score"] == pytest.approx(0.5 * (1 / 3) / (1 / 2) - 0.5 * overlap)


def test_mmr_can_be_asked_for_or_refused_per_call_and_per_profile(small: Connection) -> None:
    insert(small, [doc(1, 0.9), doc(2, 0.9)])
    pgfuse.set_settings(small, "p", mmr=True)
    own = {name: value for name, value in DENSE.items() if name != "mmr"}
    assert len(pgfuse.recall(small, None, "p", embedding=QUERY, settings=own)) == 1
    assert len(pgfuse.recall(small, None, "p", embedding=QUERY, settings=own, mmr=False)) == 2


def test_vectors_do_not_leave_the_database_without_mmr(small: Connection) -> None:
    insert(small, [doc(1, 0.9)])
    call = "pgfuse.try_recall('p', NULL, '{1,0,0}', 1, %s, pgfuse.schema_version())"
    statement = f"SELECT embedding FROM {call} WHERE id IS NOT NULL"
    assert small.execute(statement, ['{"settings": {"mmr": false}}']).fetchone() == (None,)
    assert small.execute(statement, ['{"settings": {"mmr": true}}']).fetchone() != (None,)


def test_recency_halves_the_base_with_each_half_life(small: Connection) -> None:
    days = {1: 0, 2: 10, 3: 20, 4: 5}
    insert(small, [doc(n, 0.9, occurred_at=NOON - timedelta(days=age), memory_score=0.5) for n, age in days.items()])
    hits = recall(small, as_of=NOON, settings={"recency_half_life_days": 10, "memory_weight": 1})
    for hit in hits:
        factor = 0.5 ** (days[hit.id] / 10)
        assert hit.explain["recency"] == pytest.approx(factor)
        assert hit.final_score == pytest.approx(hit.rrf_score * factor + 0.5)


def test_recency_is_off_by_default(small: Connection) -> None:
    insert(small, [doc(1, 0.9, occurred_at=NOON - timedelta(days=3650))])
    [hit] = recall(small)
    assert hit.final_score == hit.rrf_score
    assert "recency" not in hit.explain


@pytest.mark.parametrize("half_life", [0.001, 0.5, 100000])
def test_recency_of_the_very_old_and_of_the_future(half_life: float, small: Connection) -> None:
    insert(
        small,
        [
            doc(1, 0.9, occurred_at=datetime(1, 1, 1, tzinfo=UTC)),
            doc(2, 0.8, occurred_at=datetime(9999, 12, 31, tzinfo=UTC)),
        ],
    )
    hits = {hit.id: hit for hit in recall(small, settings={"recency_half_life_days": half_life})}
    assert 0 <= hits[1].explain["recency"] <= 1
    assert hits[2].explain["recency"] == 1


@pytest.mark.parametrize("column", ["occurred_at", "created_at"])
@pytest.mark.parametrize("moment", ["infinity", "-infinity"])
def test_endless_times_are_not_stored(column: str, moment: str, small: Connection) -> None:
    insert(small, [doc(1, 0.9)])
    with pytest.raises(psycopg.errors.CheckViolation):
        small.execute(f"UPDATE pgfuse.memories SET {column} = '{moment}'")


def test_as_of_sees_what_the_past_saw(small: Connection) -> None:
    insert(
        small, [doc(1, 0.5, occurred_at=NOON - timedelta(days=1)), doc(2, 0.9, occurred_at=NOON + timedelta(days=1))]
    )
    assert ids(recall(small)) == [2, 1]
    assert ids(recall(small, as_of=NOON)) == [1]
    assert ids(recall(small, as_of=NOON - timedelta(days=1))) == [1]
    assert ids(recall(small, as_of=NOON - timedelta(days=1, microseconds=1))) == []


def test_groups_take_the_best_of_each_session(small: Connection) -> None:
    insert(
        small,
        [turn(n, 0.9 - n / 20, n, session="s" if n < 4 else "t") for n in range(1, 7)] + [doc(7, 0.1), doc(8, 0.05)],
    )
    assert ids(recall(small, group_by="session")) == [1, 4, 7, 8]
    assert ids(recall(small, group_by="session", per_group=2)) == [1, 2, 4, 5, 7, 8]
    assert ids(recall(small, group_by="session", per_group=2, top_k=3)) == [1, 2, 4]


def test_a_budget_ends_at_the_first_hit_that_does_not_fit(small: Connection) -> None:
    insert(small, [doc(1, 0.9, content="a" * 8), doc(2, 0.8, content="b" * 13), doc(3, 0.7, content="c")])
    assert ids(recall(small, max_tokens=2)) == [1]
    assert ids(recall(small, max_tokens=5)) == [1]
    assert ids(recall(small, max_tokens=6)) == [1, 2]
    assert ids(recall(small, max_tokens=7)) == [1, 2, 3]
    assert ids(recall(small, max_tokens=1)) == []


@pytest.mark.parametrize("answer", [-1, 1.5, "3", None])
def test_a_counter_that_does_not_count_is_refused(answer: Any, small: Connection) -> None:
    insert(small, [doc(1, 0.9)])
    with pytest.raises(pgfuse.InvalidInput, match="count_tokens"):
        recall(small, max_tokens=5, count_tokens=lambda text: answer)


EVERYTHING = {
    "session_first": True, "neighbors": 2, "mmr": True, "mmr_normalize": True, "recency_half_life_days": 3,
    "group_by": "session", "max_tokens": 100, "memory_weight": 1,
}  # fmt: skip


@pytest.mark.parametrize("fusion", ["rrf", "linear"])
def test_no_candidates_and_one_candidate(fusion: str, small: Connection) -> None:
    assert ids(recall(small, settings=EVERYTHING | {"fusion": fusion})) == []
    insert(small, [doc(1, 0.9)])
    assert ids(recall(small, settings=EVERYTHING | {"fusion": fusion})) == [1]


def test_missing_vectors_and_tags(small: Connection) -> None:
    insert(small, [doc(1, content="apple"), doc(2, content="apple", tags=("a",)), doc(3, 0.5, content="apple")])
    hits = pgfuse.recall(small, "apple", "p", embedding=QUERY, preset="memory")
    assert sorted(ids(hits)) == [1, 2, 3]


def test_everything_can_be_set_for_a_profile(small: Connection) -> None:
    insert(small, [turn(n, 0.9 - n / 10, n, content="a" * 40) for n in range(1, 5)])
    pgfuse.set_settings(small, "p", group_by="session", per_group=3, max_tokens=20, recency_half_life_days=1)
    hits = pgfuse.recall(small, None, "p", embedding=QUERY)
    assert ids(hits) == [1, 2]
    assert "recency" in hits[0].explain
    assert hits.trace["packing"] == {"max_tokens": 20, "used": 20, "left_out": 1}
