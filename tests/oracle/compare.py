"""Rows of the SQL function and hits of the Python one, held against the oracle's results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from tests.oracle.corpus import Doc, lexemes
from tests.oracle.fusion import Call, Result, Settings


def make_call(
    conn: psycopg.Connection[Any],
    docs: Sequence[Doc],
    query: str | None,
    embedding: Sequence[float] | None,
    top_k: int,
    settings: Settings,
    filters: Mapping[str, Any] | None = None,
) -> Call:
    """The oracle's view of a recall in profile p, in the connection's transaction."""
    own = [doc for doc in docs if doc.profile_id == "p"]
    [(now,)] = conn.execute("SELECT now()").fetchall()
    now = (filters or {}).get("as_of") or now
    return Call(
        own, query, embedding, top_k, settings, filters or {}, now, lambda lang, text: lexemes(conn, lang, text)
    )


def sql_recall(conn: psycopg.Connection[Any], call: Call, profile_id: str = "p") -> list[dict[str, Any]]:
    """The rows of pgfuse.recall for a call."""
    options = json.dumps({**call.filters, "settings": dict(call.settings)}, default=datetime.isoformat)
    embedding = None if call.embedding is None else json.dumps(list(call.embedding))
    with conn.cursor(row_factory=dict_row) as cursor:
        statement = "SELECT * FROM pgfuse.recall(%s, %s, %s::vector, %s, %s::jsonb)"
        return cursor.execute(statement, [profile_id, call.query, embedding, call.top_k, options]).fetchall()


def near(value: Any) -> Any:
    """Equal to at least six decimals."""
    return pytest.approx(value, abs=1e-6, rel=1e-9)


def equal(what: str, given: Any, expected: Any) -> None:
    """An assertion that says what differs; pytest does not rewrite those of helper modules."""
    assert given == expected, f"{what}: {given} instead of {expected}"


def assert_same(rows: Sequence[Mapping[str, Any]], expected: Sequence[Result], settings: Settings) -> None:
    """Ids, order, neighbours, every score and every part agree."""
    equal(
        "ids and neighbor_of",
        [(row["id"], row["neighbor_of"]) for row in rows],
        [(r.doc.id, r.neighbor_of) for r in expected],
    )
    for row, result in zip(rows, expected, strict=True):
        scores = [row["rrf_score"], row["blend_score"], row["final_score"]]
        equal(f"scores of {row['id']}", scores, near([result.rrf, result.blend, result.final]))
        equal("routes", list(row["routes"]), result.routes)
        equal("sources", list(row["sources"]), sources(result))
        assert_explained(row["explain"], result, settings)


def sources(result: Result) -> list[str]:
    semantic = any(name != "lexical" for name in result.routes)
    return ["semantic"] * semantic + ["lexical"] * ("lexical" in result.routes)


def assert_explained(explain: Mapping[str, Any], result: Result, settings: Settings) -> None:
    """The account of a hit is the oracle's, and its parts add up."""
    linear = settings["fusion"] == "linear"
    names = ("score", "weight", "contribution", *(("normalised", "share", "linear") if linear else ()))
    for name, part in result.parts.items():
        given = [explain["routes"][name][key] for key in names]
        equal(f"{name} of {result.doc.id}", given, near([part[key] for key in names]))
        equal(f"rank of {result.doc.id} in {name}", explain["routes"][name]["rank"], part["rank"])
    equal("explained routes", explain["routes"].keys(), result.parts.keys())
    if result.neighbor_of is None and settings["session_first"] and result.doc.granularity == "session":
        assert_supported(explain, result, linear)
    else:
        equal("contributions", sum(part["contribution"] for part in explain["routes"].values()), near(result.rrf))


def assert_supported(explain: Mapping[str, Any], result: Result, linear: bool) -> None:
    equal("turn_support", explain["turn_support"], near(result.support))
    equal("session_rrf_score", explain["session_rrf_score"], near(result.rrf - (0 if linear else result.support)))
    equal("supporting_turn_count", explain["supporting_turn_count"], len(result.turns))
    best = max((turn.base for turn in result.turns), default=0.0)
    possible = [turn.routes for turn in result.turns if turn.base == near(best)] or [[]]
    assert explain["best_turn_routes"] in possible, f"best_turn_routes {explain['best_turn_routes']} not in {possible}"
    parts = sum(part["contribution"] for part in explain["routes"].values())
    equal("contributions", parts, near(explain["session_rrf_score"]))
