"""The log lines of a recall."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from pgfuse import Recall, log


def trace(**routes: Any) -> dict[str, Any]:
    return {
        "mode": "hybrid", "fused": 3, "fusion": "rrf", "fusion_latency_ms": 0.5, "latency_ms": 2.0, "routes": routes,
        "top": [{"id": 7, "final_score": 0.25, "routes": {"lexical": 0.25}}],
    }  # fmt: skip


def route(**changes: Any) -> dict[str, Any]:
    return {"status": "executed", "method": "exact", "candidates": 3, "complete": True, "top_score": 0.9} | changes


def test_a_recall_is_one_line_at_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="pgfuse")
    log.recalled(Recall((), trace(vec_full=route())))
    [record] = caplog.records
    assert record.name == "pgfuse"
    for part in ("mode=hybrid", "fused=3", "fusion_latency_ms=0.500", "latency_ms=2.000"):
        assert part in record.getMessage()


def test_routes_and_top_hits_are_told_at_debug(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="pgfuse")
    log.recalled(Recall((), trace(vec_full=route(), lexical=route(status="empty", candidates=0, top_score=None))))
    messages = [record.getMessage() for record in caplog.records if record.levelno == logging.DEBUG]
    assert any("route vec_full" in m and "candidates=3" in m and "top_score=0.9" in m for m in messages)
    assert any("route lexical" in m and "status=empty" in m for m in messages)
    assert any("hit 7" in m and "0.25" in m and "lexical" in m for m in messages)


def test_a_route_that_fell_short_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, logger="pgfuse")
    log.recalled(Recall((), trace(vec_full=route(complete=False), lexical=route())))
    [record] = caplog.records
    assert "route vec_full" in record.getMessage()


def test_nothing_is_logged_below_the_level(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, logger="pgfuse")
    log.recalled(Recall((), trace(vec_full=route())))
    assert caplog.records == []
