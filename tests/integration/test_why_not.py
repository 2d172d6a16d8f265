"""Why a memory is not among the hits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import pgfuse
from tests.oracle import strategies
from tests.oracle.by_hand import QUERY, at_angle
from tests.oracle.compare import make_call, near
from tests.oracle.corpus import Doc, insert
from tests.oracle.fusion import per_route, rank
from tests.oracle.presets import PLAIN
from tests.oracle.routes import allowed, bm25, dense, ordered, with_next_user

pytest_plugins = ("tests.sql.fixtures",)
Connection = psycopg.Connection[Any]


def why_not(conn: Connection, id: int, query: str | None = "apple", **options: Any) -> dict[str, Any]:
    return pgfuse.why_not(conn, query, "p", id, **{"embedding": QUERY, "preset": "balanced"} | options)


@pytest.fixture
def filled(small: Connection) -> Connection:
    docs = [Doc(id=n, content="pear", vectors={"vec_full": at_angle(1 - n / 20)}) for n in range(1, 10)]
    columns: dict[str, Any] = {
        "kind": "semantic",
        "session_id": "s",
        "project_id": "j",
        "tags": ("a",),
        "metadata": {"a": 1},
    }
    when = datetime(2024, 6, 1, tzinfo=UTC)
    insert(
        small, [*docs, Doc(id=10, content="apple", occurred_at=when, vectors={"vec_full": at_angle(0.1)}, **columns)]
    )
    return small


FILTERS: dict[str, Any] = {
    "session_ids": ["t"], "project_id": "k", "exclude_ids": [10], "kinds": ["episodic"], "granularity": ["turn"],
    "tags": ["b"],
    "metadata": {"a": 2}, "since": "2024-06-02", "until": "2024-05-31", "as_of": "2024-05-31",
}  # fmt: skip


@pytest.mark.parametrize("name", FILTERS)
def test_the_filter_that_keeps_it_out_is_named(name: str, filled: Connection) -> None:
    answer = why_not(filled, 10, **{name: FILTERS[name]})
    assert (answer["found"], answer["filtered_by"]) == (False, [name])
    assert name in answer["verdict"]
    assert answer["routes"]["lexical"]["score"] > 0


def test_all_filters_that_keep_it_out_are_named(filled: Connection) -> None:
    assert set(why_not(filled, 10, **FILTERS)["filtered_by"]) == set(FILTERS)


def test_a_hit_is_a_hit(filled: Connection) -> None:
    answer = why_not(filled, 10)
    assert (answer["found"], answer["place"], answer["filtered_by"]) == (True, 1, [])
    assert answer["final_score"] == pytest.approx(1 / 61 + 1 / 70)


def test_a_candidate_below_the_cut(filled: Connection) -> None:
    answer = why_not(filled, 5, None, top_k=2, settings={"pool_multiplier": 5})
    last = pgfuse.recall(filled, None, "p", embedding=QUERY, preset="balanced", top_k=2)[-1]
    assert (answer["found"], answer["place"]) == (False, 5)
    assert answer["final_score"] == pytest.approx(1 / 65)
    assert answer["last_hit"] == {"id": last.id, "final_score": pytest.approx(last.final_score)}


def test_outside_the_pool_its_true_rank_is_told(filled: Connection) -> None:
    answer = why_not(filled, 9, None, top_k=1)
    assert answer["pool"] == 3
    assert answer["place"] is None
    assert answer["routes"]["vec_full"] | {"status": ""} == {
        "rank": 9, "score": pytest.approx(1 - 9 / 20), "weight": 1, "in_pool": False, "status": ""
    }  # fmt: skip


def test_a_route_that_cannot_find_it(small: Connection) -> None:
    insert(small, [Doc(id=1, content="apple"), Doc(id=2, content="pear", vectors={"vec_full": QUERY})])
    assert why_not(small, 1)["routes"]["vec_full"]["rank"] is None
    assert why_not(small, 2)["routes"]["lexical"]["rank"] is None


def test_a_chunk_behind_sessions(small: Connection) -> None:
    insert(small, [Doc(id=1, content="apple", granularity="session"), Doc(id=2, content="apple")])
    answer = why_not(small, 2, settings={"session_first": True})
    assert (answer["found"], answer["place"]) == (False, None)
    assert "session" in answer["verdict"]


def test_a_memory_behind_others_of_its_group(small: Connection) -> None:
    insert(
        small,
        [
            Doc(id=n, content="pear", session_id="s" if n < 4 else "t", vectors={"vec_full": at_angle(1 - n / 20)})
            for n in range(1, 6)
        ],
    )
    behind = why_not(small, 2, None, group_by="session")
    assert not behind["found"]
    assert "only sessions" not in behind["verdict"]
    assert why_not(small, 4, None, group_by="session", top_k=2)["found"]


def test_a_duplicate_is_not_called_a_hit(small: Connection) -> None:
    insert(small, [Doc(id=n, content="pear", vectors={"vec_full": QUERY}) for n in (1, 2)])
    assert [hit.id for hit in pgfuse.recall(small, None, "p", embedding=QUERY, mmr=True)] == [1]
    answer = why_not(small, 2, None, mmr=True)
    assert not answer["found"] or "MMR" in answer["verdict"] or "duplicate" in answer["verdict"]


@pytest.mark.parametrize("id", [99, -1, 0, 2**62])
def test_an_id_that_is_not_there(id: int, filled: Connection) -> None:
    answer = why_not(filled, id)
    assert not answer["found"]
    assert "no memory with this id" in answer["verdict"]


@pytest.mark.parametrize("id", ["1", 1.5, None, True, 2**63, [1]])
def test_an_id_that_cannot_be_is_refused(id: Any, filled: Connection) -> None:
    with pytest.raises(pgfuse.InvalidInput, match="id"):
        why_not(filled, id)
    assert filled.execute("SELECT 1").fetchone() == (1,)


def test_bad_calls_are_refused_as_recall_refuses_them(filled: Connection) -> None:
    with pytest.raises(pgfuse.EmbeddingMismatch):
        why_not(filled, 1, embedding=[1])
    with pytest.raises(pgfuse.InvalidSettings):
        why_not(filled, 1, settings={"nope": 1})
    with pytest.raises(pgfuse.InvalidInput):
        why_not(filled, 1, top_k=0)


@strategies.examples(80)
@given(
    docs=strategies.docs(),
    query=strategies.texts,
    embedding=strategies.vectors,
    settings=strategies.call_settings(),
    filters=strategies.filters(),
    top_k=st.integers(1, 3),
    pick=st.integers(0, 100),
)
def test_ranks_scores_and_places_are_the_oracles(
    docs: Sequence[Doc],
    query: str,
    embedding: list[float],
    settings: dict[str, Any],
    filters: dict[str, Any],
    top_k: int,
    pick: int,
    small: Connection,
) -> None:
    own = [doc for doc in docs if doc.profile_id == "p"]
    assume(own)
    small.rollback()
    insert(small, docs)
    settings = PLAIN | {
        name: settings[name]
        for name in ("weights", "fusion", "rrf_k", "pool_multiplier", "memory_weight", "session_first")
    }
    call = make_call(small, docs, query, embedding, top_k, settings, filters)
    wanted = own[pick % len(own)]
    answer = pgfuse.why_not(
        small, query, "p", wanted.id, embedding=embedding, top_k=top_k, settings=settings, **filters
    )
    ranking = rank(call)
    place = next((n for n, result in enumerate(ranking, 1) if result.doc.id == wanted.id), None)
    assert (answer["found"], answer["place"]) == (place is not None and place <= top_k, place)
    if place is not None:
        assert answer["final_score"] == near(ranking[place - 1].final)
    if ranking:
        last = ranking[:top_k][-1]
        assert answer["last_hit"] == {"id": last.doc.id, "final_score": near(last.final)}
    assert (answer["filtered_by"] == []) == allowed(wanted, filters)
    linked = with_next_user(own)
    visible = {doc.id for doc in own if allowed(doc, filters)} if allowed(wanted, filters) else {doc.id for doc in own}
    for name, route in answer["routes"].items():
        scores = bm25(linked, query, call.words, settings) if name == "lexical" else dense(linked, name, embedding)
        ids = [key for key in ordered(scores) if key in visible]
        true_rank = ids.index(wanted.id) + 1 if wanted.id in ids else None
        assert route["rank"] == true_rank
        if true_rank:
            assert route["score"] == near(scores[wanted.id])
            assert route["in_pool"] == (true_rank <= per_route(call))
