"""Memories as callers give them: what is taken, and what is refused under the field's name."""

import gc
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgfuse.errors import InvalidInput
from pgfuse.memory_rows import MAX_CONTENT, memory_row, memory_rows
from pgfuse.types import Memory

TEXT_FIELDS = (
    "content",
    "external_id",
    "session_id",
    "project_id",
    "user_text",
    "assistant_text",
    "task_tag",
    "kind",
    "language",
)
DEEP: dict[str, Any] = {}
inner = DEEP
for _ in range(5000):
    inner["a"] = inner = {}
CIRCLE: dict[str, Any] = {}
CIRCLE["self"] = CIRCLE

WRONG: list[tuple[str, Any]] = [
    ("granularity", "chapter"),
    ("granularity", 5),
    ("granularity", ["chunk"]),
    ("kind", ""),
    ("kind", " \n"),
    ("language", ""),
    ("position", "3"),
    ("position", 3.0),
    ("position", True),
    ("position", 2**31),
    ("position", -(2**31) - 1),
    ("position", 10**5000),
    ("memory_score", 1.0001),
    ("memory_score", -1e-9),
    ("memory_score", float("nan")),
    ("memory_score", "0.5"),
    ("memory_score", True),
    ("memory_score", 10**5000),
    ("tags", "one"),
    ("tags", 5),
    ("tags", [1]),
    ("tags", [None]),
    ("tags", ["a\0"]),
    ("tags", ["\ud800"]),
    ("tags", b"ab"),
    ("metadata", []),
    ("metadata", "{}"),
    ("metadata", {"a": float("nan")}),
    ("metadata", {"a": [float("inf")]}),
    ("metadata", {"a": {1, 2}}),
    ("metadata", {"a": object()}),
    ("metadata", {("a",): 1}),
    ("metadata", {"a": "x\0"}),
    ("metadata", {"a\0": "x"}),
    ("metadata", {"a": ["\\\0"]}),
    ("metadata", {"a": "\udfff"}),
    ("metadata", {"a": 10**5000}),
    ("metadata", DEEP),
    ("metadata", CIRCLE),
    ("occurred_at", "yesterday"),
    ("occurred_at", 1700000000),
    ("occurred_at", date(2026, 1, 31)),
    ("occurred_at", datetime.max.replace(tzinfo=timezone(timedelta(hours=-12)))),
    ("created_at", "now"),
    ("facets", ["preferences"]),
    ("facets", {"Preferences": "x"}),
    ("facets", {"pre-ferences": "x"}),
    ("facets", {"": "x"}),
    ("facets", {"a" * 51: "x"}),
    ("facets", {"naïve": "x"}),
    ("facets", {"trailing\n": "x"}),
    ("facets", {5: "x"}),
    ("facets", {"a": 5}),
    ("facets", {"a": " "}),
    ("facets", {"a": "x\0"}),
    ("embeddings", [1.0]),
    ("embeddings", {"vec_next_user": [1.0]}),
    ("embeddings", {"lexical": [1.0]}),
    ("embeddings", {"facet_": [1.0]}),
    ("embeddings", {"facet_X": [1.0]}),
    ("embeddings", {5: [1.0]}),
    ("embeddings", {"vec_full": None}),
    ("embeddings", {"vec_full": []}),
    ("embeddings", {"vec_full": [[1.0]]}),
    ("embeddings", {"vec_full": [float("nan")]}),
    ("external_id", "x" * 10_000),
    ("session_id", "x" * 10_000),
    ("project_id", "x" * 10_000),
    ("kind", "x" * 10_000),
    ("tags", ["x" * 10_000]),
]


@pytest.fixture
def no_collection() -> Iterator[None]:
    """At the end of the stack a garbage collection could not finish what it begins."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize(
    ("field", "value"), WRONG, ids=lambda value: f"{value!r:.30}" if isinstance(value, str) else ""
)
def test_a_wrong_value_is_refused_under_its_name(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=rf"^memories\[1\]: {field}\b"):
        memory_rows([{"content": "x"}, {"content": "x", field: value}])


@pytest.mark.parametrize("field", TEXT_FIELDS)
@pytest.mark.parametrize("value", [5, b"x", ["x"], "a\0b", "a\ud800b"])
def test_a_text_must_be_one_that_can_be_stored(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=rf"^{field}\b"):
        memory_row({"content": "x", field: value})


@pytest.mark.parametrize(
    "memory",
    [{}, {"content": ""}, {"content": " \n\t\u2003"}, {"user_text": ""}, {"user_text": " ", "assistant_text": " "}],
)
def test_a_memory_without_words_is_refused(memory: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="content is empty; give content, user_text or assistant_text"):
        memory_row(memory)


def test_content_has_a_limit() -> None:
    assert memory_row({"content": "x" * MAX_CONTENT}).columns["content"]
    with pytest.raises(InvalidInput, match="content has 10,000,001 characters; at most 10,000,000"):
        memory_row({"content": "x" * (MAX_CONTENT + 1)})


@pytest.mark.parametrize("value", [5, None, "text", b"bytes", {"content": "x"}, Memory(content="x")])
def test_memories_must_be_a_list(value: Any) -> None:
    with pytest.raises(InvalidInput, match="^memories is a"):
        memory_rows(value)


@pytest.mark.parametrize("value", [5, None, "text", ["content"]])
def test_each_must_be_a_memory(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^memories\[0\]: .* is not a memory"):
        memory_rows([value])


@pytest.mark.parametrize("name", ["contents", "id", "profile_id", "fts", 5, None])
def test_an_unknown_field_is_refused_with_the_known_ones(name: Any) -> None:
    with pytest.raises(
        InvalidInput, match=rf"^memories\[0\]: unknown field '{name}'; known are assistant_text, content"
    ):
        memory_rows([{"content": "x", name: 1}])


def test_an_external_id_stands_once_in_a_call() -> None:
    memories = [{"content": "x", "external_id": key} for key in ("a", "b", None, None, "b")]
    with pytest.raises(InvalidInput, match=r"^memories\[4\]: external_id 'b' is also that of memories\[1\]"):
        memory_rows(memories)


@pytest.mark.parametrize(
    ("field", "value", "kept"),
    [
        ("position", np.int64(5), 5),
        ("position", -(2**31), -(2**31)),
        ("memory_score", 1, 1.0),
        ("memory_score", np.float32(0.5), 0.5),
        ("memory_score", 1e-50, 0.0),
        ("tags", ("a", "b"), ["a", "b"]),
        ("tags", (tag for tag in "ab"), ["a", "b"]),
        ("metadata", MappingProxyType({"a": 1}), {"a": 1}),
        ("metadata", {1: "a", None: 2}, {"1": "a", "null": 2}),
        ("metadata", {"a": "\\u0000"}, {"a": "\\u0000"}),
        ("occurred_at", "2026-01-31", "2026-01-31T00:00:00+00:00"),
        ("occurred_at", "2026-01-31T12:00:00Z", "2026-01-31T12:00:00+00:00"),
        ("occurred_at", datetime(2026, 1, 31, 12), "2026-01-31T12:00:00+00:00"),
        ("occurred_at", datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=23))), "2025-12-31T01:00:00+00:00"),
        ("occurred_at", datetime.min, "0001-01-01T00:00:00+00:00"),
        ("created_at", datetime(2026, 1, 31, tzinfo=UTC), "2026-01-31T00:00:00+00:00"),
        ("facets", {"events": "x", "mood": None}, {"events": "x"}),
        ("facets", None, {}),
        ("kind", None, "episodic"),
        ("user_text", "", None),
        ("assistant_text", " \n", None),
        ("content", " x ", " x "),
    ],
)
def test_a_good_value_is_kept(field: str, value: Any, kept: Any) -> None:
    assert memory_row({"content": "x", field: value}).columns[field] == kept


def test_a_set_of_tags_has_one_order() -> None:
    """A set's own order differs from process to process: the memory would be written again each time."""
    tags = {f"tag {number}" for number in range(20)}
    assert memory_row({"content": "x", "tags": tags}).columns["tags"] == sorted(tags)


@given(
    st.dictionaries(
        st.text(),
        st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5),
    )
)
def test_any_metadata_is_kept_exactly_or_refused(metadata: dict[str, Any]) -> None:
    try:
        assert memory_row({"content": "x", "metadata": metadata}).columns["metadata"] == metadata
    except InvalidInput as error:
        assert str(error).startswith("metadata")


@given(
    st.dictionaries(
        st.sampled_from([*TEXT_FIELDS, "tags", "facets", "metadata", "position", "other"]),
        st.text() | st.lists(st.text()) | st.none() | st.integers(),
    )
)
def test_any_dict_is_taken_or_refused(memory: dict[str, Any]) -> None:
    try:
        memory_rows([memory])
    except InvalidInput as error:
        assert str(error).startswith("memories[0]: ")
