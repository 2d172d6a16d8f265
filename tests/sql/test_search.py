"""search_dense and search_lexical: one route each, with the filters of recall."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import log, sqrt
from typing import Any

import psycopg
import pytest
from hypothesis import given

from tests.oracle import strategies
from tests.oracle.compare import make_call, near
from tests.oracle.corpus import Doc, insert
from tests.oracle.fusion import routes
from tests.oracle.presets import PLAIN

pytest_plugins = ("tests.sql.fixtures",)
Connection = psycopg.Connection[Any]
Rows = list[tuple[int, float, int]]


def dense(conn: Connection, embedding: Sequence[float], *more: Any, profile: str = "p") -> Rows:
    places = "".join(", %s" for _ in more)
    statement = f"SELECT * FROM pgfuse.search_dense(%s, %s::vector{places})"
    return conn.execute(statement, [profile, json.dumps(embedding), *more]).fetchall()


def lexical(conn: Connection, query: str, max_rows: int = 10, **options: Any) -> Rows:
    statement = "SELECT * FROM pgfuse.search_lexical('p', %s, %s, %s)"
    return conn.execute(statement, [query, max_rows, json.dumps(options)]).fetchall()


def test_dense_is_the_cosine_and_ties_go_by_id(small: Connection) -> None:
    insert(
        small,
        [
            Doc(id=4, content="a", vectors={"vec_full": [2, 0, 0]}),
            Doc(id=2, content="b", vectors={"vec_full": [1, 0, 0]}),
            Doc(id=3, content="c", vectors={"vec_full": [0, -1, 0]}),
            Doc(id=1, content="d"),
            Doc(id=5, content="e", profile_id="q", vectors={"vec_full": [1, 1, 0]}),
        ],
    )
    expected = [
        (2, near(1 / sqrt(2)), 1),
        (4, near(1 / sqrt(2)), 2),
        (3, near(-1 / sqrt(2)), 3),
    ]
    assert dense(small, [1, 1, 0]) == expected


def test_dense_searches_the_route_that_is_named(small: Connection) -> None:
    insert(small, [Doc(id=1, content="a", vectors={"facet_hobbies": [1, 0, 0], "vec_full": [0, 1, 0]})])
    assert dense(small, [1, 0, 0], "facet_hobbies") == [(1, near(1), 1)]
    assert dense(small, [1, 0, 0], "vec_user") == []


def test_lexical_is_lucenes_bm25(small: Connection) -> None:
    insert(
        small,
        [
            Doc(id=1, content="red red apple"),
            Doc(id=2, content="green apple"),
            Doc(id=3, content="a pear", task_tag="red"),
        ],
    )
    rows = lexical(small, "red apples", settings={"bm25_k1": 1.2, "bm25_b": 0.75})
    idf, average = log(1 + (3 - 2 + 0.5) / (2 + 0.5)), (3 + 2 + 2) / 3

    def part(tf: float, length: float) -> float:
        return idf * tf / (tf + 1.2 * (1 - 0.75 + 0.75 * length / average))

    # task_tag counts three times
    expected = [(1, part(2, 3) + part(1, 3)), (3, part(3, 2)), (2, part(1, 2))]
    assert rows == [(key, near(score), rank) for rank, (key, score) in enumerate(expected, 1)]


@pytest.mark.parametrize(
    ("match", "query", "found"),
    [
        ("any", "red apple", {1, 2, 3}),
        ("all", "red apple", {1}),
        ("websearch", "red apple", {1}),
        ("websearch", "red or apple", {1, 2, 3}),
        ("websearch", "apple -red", {2}),
        ("websearch", '"apple red"', set()),
        ("websearch", '"red apple"', {1}),
        ("websearch", "-red", set()),
    ],
)
@pytest.mark.parametrize("ranking", ["bm25", "ts_rank", "ts_rank_cd"])
def test_lexical_match(match: str, query: str, found: set[int], ranking: str, small: Connection) -> None:
    insert(
        small,
        [
            Doc(id=1, content="a red apple"),
            Doc(id=2, content="green apples"),
            Doc(id=3, content="red pear"),
            Doc(id=4, content="x"),
        ],
    )
    rows = lexical(small, query, settings={"lexical_match": match, "lexical_rank": ranking})
    assert {key for key, _, _ in rows} == found


@pytest.mark.parametrize("ranking", ["ts_rank", "ts_rank_cd"])
def test_postgres_ranking(ranking: str, small: Connection) -> None:
    insert(small, [Doc(id=n, content=f"red {'apple ' * n}", task_tag="apple" if n == 2 else None) for n in range(1, 5)])
    statement = f"SELECT id, {ranking}(fts, 'appl | red')::float8 FROM pgfuse.memories ORDER BY 2 DESC, 1"
    expected = small.execute(statement).fetchall()
    rows = lexical(small, "red apples", settings={"lexical_rank": ranking, "lexical_match": "any"})
    assert [(key, score) for key, score, _ in rows] == [(key, near(score)) for key, score in expected]


def test_each_memory_is_matched_in_its_own_language(small: Connection) -> None:
    insert(
        small,
        [
            Doc(id=1, content="running", language="english"),
            Doc(id=2, content="running", language="simple"),
            Doc(id=3, content="run", language="simple"),
            Doc(id=4, content="the Häuser", language="german"),
        ],
    )
    assert {key for key, _, _ in lexical(small, "run")} == {1, 3}
    assert {key for key, _, _ in lexical(small, "Haus")} == {4}


@strategies.examples(40)
@given(docs=strategies.docs(), query=strategies.texts, embedding=strategies.vectors, filters=strategies.filters())
def test_routes_alone_are_the_oracles(
    docs: Sequence[Doc], query: str, embedding: list[float], filters: dict[str, Any], small: Connection
) -> None:
    small.rollback()
    insert(small, docs)
    settings = PLAIN | {"weights": {"vec_full": 1, "lexical": 1}, "pool_multiplier": 5}
    call = make_call(small, docs, query, embedding, 1, settings, filters)
    found = {
        route.name: [(key, near(route.scores[key]), i) for i, key in enumerate(route.ids, 1)] for route in routes(call)
    }
    open_ = {"settings": {"bm25_k1": 0.9, "bm25_b": 0.4, "lexical_match": "any", "lexical_rank": "bm25"}}
    options = json.loads(json.dumps(filters, default=lambda moment: moment.isoformat())) | open_
    assert dense(small, embedding, "vec_full", 5, json.dumps(options)) == found.get("vec_full", [])
    assert lexical(small, query, 5, **options) == found.get("lexical", [])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("search_dense('p', '[1,0,0]', 'vec_')", "route: 'vec_' is not a route"),
        ("search_dense('p', '[1,0,0]', 'facet_A')", "is not a route"),
        ("search_dense('p', '[1,0,0]', NULL)", "route: null is not a route"),
        ("search_dense('p', '[1,0,0]', 'vec_full', 0)", "max_rows: 0 is not allowed"),
        ("search_dense('p', '[1,0,0]', 'vec_full', 100001)", "max_rows: 100001 is not allowed"),
        ("search_dense('p', NULL)", "neither a query nor an embedding"),
        ("search_dense('', '[1,0,0]')", "profile_id is empty"),
        ("search_lexical(NULL, 'x')", "profile_id is empty"),
        ("search_lexical('p', 'x', NULL)", "max_rows: null is not allowed"),
        ("search_lexical('p', 'x', 5, '[]')", "options: .* must be an object"),
        ("search_lexical('p', 'x', 5, '{\"sessions\": []}')", "Unknown option 'sessions'"),
        ("search_lexical('p', 'x', 5, '{\"since\": \"soon\"}')", 'since: "soon" is not allowed'),
        ("recall('p', 'x', NULL, 0)", "top_k: 0 is not allowed"),
        ("recall('p', 'x', NULL, 1001)", "top_k: 1001 is not allowed"),
        ("recall('p', 'x', NULL, NULL)", "top_k: null is not allowed"),
        ("recall('p', NULL)", "neither a query nor an embedding"),
        ("recall('p', 'x', '[0,0,0]')", "all zeros"),
    ],
)
def test_bad_calls_are_refused_with_pf001(call: str, message: str, small: Connection) -> None:
    with pytest.raises(psycopg.Error, match=message) as caught:
        small.execute(f"SELECT * FROM pgfuse.{call}")
    assert caught.value.sqlstate == "PF001"


@pytest.mark.parametrize("call", ["search_dense('p', '[1,0]')", "recall('p', 'x', '[1,0,0,0]')"])
def test_a_wrong_dimension_is_pf003(call: str, small: Connection) -> None:
    with pytest.raises(psycopg.Error, match="dimensions") as caught:
        small.execute(f"SELECT * FROM pgfuse.{call}")
    assert caught.value.sqlstate == "PF003"
