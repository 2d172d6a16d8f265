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
    row = conn.execute("SELECT now()").fetchone()
    now: datetime = (filters or {}).get("as_of") or (row or (None,))[0]
    return Call(own, query, embedding, top_k, settings, filters or {}, now, lambda lang, text: lexemes(conn, lang, text))


def sql_recall(conn: psycopg.Connection[Any], call: Call, profile_id: str = "p") -> list[dict[str, Any]]:
    """The rows of pgfuse.recall for a call."""
    options = json.dumps({**call.filters, "settings": dict(call.settings)}, default=datetime.isoformat)
    embedding = None if call.embedding is None else json.dumps(list(call.embedding))
    with conn.cursor(row_factory=dict_row) as cursor:
        statement = "SELECT * FROM pgfuse.recall(%s, %s, %s::vector, %s, %s::jsonb)"
        return cursor.execute(statement, [profile_id, call.query, embedding, call.top_k, options]).fetchall()


def assert_same(rows: Sequence[Mapping[str, Any]], expected: Sequence[Result], settings: Settings) -> None:
    """Ids, order, neighbours, every score and every part agree."""
    assert [(row["id"], row["neighbor_of"]) for row in rows] == [(r.doc.id, r.neighbor_of) for r in expected]
    for row, result in zip(rows, expected, strict=True):
        scores = [row["rrf_score"], row["blend_score"], row["final_score"]]
        assert scores == pytest.approx([result.rrf, result.blend, result.final], abs=1e-6, rel=1e-9)
        assert list(row["routes"]) == result.routes
        assert list(row["sources"]) == sources(result)
        assert_explained(row["explain"], result, settings)


def sources(result: Result) -> list[str]:
    semantic = any(name != "lexical" for name in result.routes)
    return ["semantic"] * semantic + ["lexical"] * ("lexical" in result.routes)


def assert_explained(explain: Mapping[str, Any], result: Result, settings: Settings) -> None:
    """The account of a hit is the oracle's, and its parts add up."""
    linear = settings["fusion"] == "linear"
    names = ("rank", "score", "weight", "contribution", *(("normalised", "linear") if linear else ()))
    for name, part in result.parts.items():
        given = [explain["routes"][name][key] for key in names]
        assert given == pytest.approx([part[key] for key in names], abs=1e-6, rel=1e-9)
    assert explain["routes"].keys() == result.parts.keys()
    if result.neighbor_of is None and settings["session_first"] and result.doc.granularity == "session":
        assert_supported(explain, result, linear)
    else:
        assert sum(part["contribution"] for part in explain["routes"].values()) == pytest.approx(result.rrf)


def assert_supported(explain: Mapping[str, Any], result: Result, linear: bool) -> None:
    assert explain["turn_support"] == pytest.approx(result.support, abs=1e-6)
    assert explain["session_rrf_score"] == pytest.approx(result.rrf - (0 if linear else result.support), abs=1e-6)
    assert explain["supporting_turn_count"] == len(result.turns)
    best = max((turn.base for turn in result.turns), default=0.0)
    possible = [turn.routes for turn in result.turns if turn.base == pytest.approx(best, abs=1e-9)] or [[]]
    assert explain["best_turn_routes"] in possible
    parts = sum(part["contribution"] for part in explain["routes"].values())
    assert parts == pytest.approx(explain["session_rrf_score"])
