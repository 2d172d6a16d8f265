"""The types that go in and come out."""

from __future__ import annotations

import dataclasses

import pytest

from pgfuse import Hit, Memory, Recall, RetrievalMode

HIT = Hit(
    id=1, external_id=None, content="x", kind="episodic", granularity="chunk", session_id=None, position=None,
    tags=(), metadata={},
    memory_score=0.0, occurred_at=None, rrf_score=0.0, blend_score=0.0, final_score=0.0, routes=(), sources=(),
    explain={},
)  # fmt: skip


@pytest.mark.parametrize(
    ("has_text", "has_vector", "mode"),
    [(True, True, "hybrid"), (True, False, "text_only"), (False, True, "vector_only")],
)
def test_the_mode_follows_from_what_there_is(has_text: bool, has_vector: bool, mode: str) -> None:
    assert RetrievalMode.determine(has_text, has_vector) == mode
    assert RetrievalMode(mode) is RetrievalMode.determine(has_text, has_vector)


def test_neither_text_nor_vector_is_no_mode() -> None:
    with pytest.raises(ValueError, match="neither a query nor an embedding"):
        RetrievalMode.determine(False, False)


def test_a_recall_is_a_sequence_of_hits() -> None:
    other = dataclasses.replace(HIT, id=2)
    recall = Recall((HIT, other), {"mode": "hybrid"})
    assert len(recall) == 2
    assert list(recall) == [HIT, other]
    assert recall[0] is HIT
    assert recall[-1] is other
    assert recall[:1] == (HIT,)
    assert other in recall
    assert list(reversed(recall)) == [other, HIT]
    with pytest.raises(IndexError):
        recall[2]


def test_an_empty_recall_is_false() -> None:
    assert not Recall((), {})


@pytest.mark.parametrize("value", [HIT, Memory(content="x"), Recall((), {})])
def test_nothing_can_be_assigned(value: object) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.content = "y"  # type: ignore[attr-defined]


def test_the_contracts_fields_of_a_hit() -> None:
    assert [field.name for field in dataclasses.fields(Hit)] == [
        "id", "external_id", "content", "kind", "granularity", "session_id", "position", "tags", "metadata",
        "memory_score",
        "occurred_at", "rrf_score", "blend_score", "final_score", "routes", "sources", "explain", "neighbor_of",
    ]  # fmt: skip
