"""SQL and Python recall against the oracle, over random corpora, settings and filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import psycopg
from hypothesis import given
from hypothesis import strategies as st

import pgfuse
from tests.oracle import strategies
from tests.oracle.compare import assert_same, make_call, sql_recall
from tests.oracle.corpus import Doc, insert
from tests.oracle.fusion import Call, fuse, per_route, routes
from tests.oracle.presets import PLAIN, PRESETS
from tests.oracle.selection import recall

pytest_plugins = ("tests.sql.fixtures",)

Connection = psycopg.Connection[Any]
queries = st.one_of(st.none(), strategies.texts)
embeddings = st.one_of(st.none(), strategies.vectors)


def python_recall(conn: Connection, call: Call) -> pgfuse.Recall:
    return pgfuse.recall(
        conn, call.query, "p", top_k=call.top_k, embedding=call.embedding, settings=call.settings, **call.filters
    )


def check(conn: Connection, call: Call) -> None:
    if call.query is None and call.embedding is None:
        return
    expected = recall(call)
    assert_same(sql_recall(conn, call), expected, call.settings)
    result = python_recall(conn, call)
    assert_same([asdict(hit) for hit in result], expected, call.settings)
    check_trace(result.trace, call)


def check_trace(trace: dict[str, Any], call: Call) -> None:
    found = {route.name: route for route in routes(call)}
    assert trace["fused"] == len(fuse(call))
    assert trace["mode"] == pgfuse.RetrievalMode.determine(call.query is not None, call.embedding is not None)
    for name, weight in call.settings["weights"].items():
        route = trace["routes"][name]
        searchable = call.query if name == "lexical" else call.embedding
        wanted = (
            "skipped"
            if weight == 0
            else "unavailable"
            if searchable is None
            else "executed"
            if name in found
            else "empty"
        )
        assert route["status"] == wanted
        assert route["candidates"] == (len(found[name].ids) if name in found else 0)
        assert route["candidates"] <= per_route(call)


@strategies.examples(150)
@given(data=st.data(), docs=strategies.docs())
def test_every_score_and_the_order_are_the_oracles(data: st.DataObject, docs: Sequence[Doc], small: Connection) -> None:
    small.rollback()
    insert(small, docs)
    for _ in range(3):
        call = make_call(
            small,
            docs,
            data.draw(queries, label="query"),
            data.draw(embeddings, label="embedding"),
            data.draw(st.sampled_from((1, 2, 3, 8)), label="top_k"),
            data.draw(strategies.call_settings(), label="settings"),
            data.draw(strategies.filters(), label="filters"),
        )
        check(small, call)


@strategies.examples(60)
@given(
    docs=strategies.docs(),
    query=strategies.texts,
    embedding=strategies.vectors,
    preset=st.sampled_from(sorted(PRESETS)),
    filters=strategies.filters(),
    top_k=st.integers(1, 4),
)
def test_presets_are_the_contracts(
    docs: Sequence[Doc],
    query: str,
    embedding: list[float],
    preset: str,
    filters: dict[str, Any],
    top_k: int,
    small: Connection,
) -> None:
    small.rollback()
    insert(small, docs)
    expected = recall(make_call(small, docs, query, embedding, top_k, PRESETS[preset], filters))
    open_ = {name: PLAIN[name] for name in ("lexical_match", "lexical_rank", "bm25_k1", "bm25_b")}
    hits = pgfuse.recall(
        small, query, "p", embedding=embedding, top_k=top_k, preset=preset, settings=open_, mmr=False, **filters
    )
    assert_same([asdict(hit) for hit in hits], expected, PRESETS[preset])


@strategies.examples(40)
@given(docs=strategies.docs(), query=strategies.texts, embedding=strategies.vectors)
def test_without_a_cut_the_hits_are_the_union_of_the_routes(
    docs: Sequence[Doc], query: str, embedding: list[float], small: Connection
) -> None:
    small.rollback()
    insert(small, docs)
    call = make_call(small, docs, query, embedding, 50, PRESETS["blend"])
    union = {key for route in routes(call) for key in route.ids}
    assert {row["id"] for row in sql_recall(small, call)} == union
