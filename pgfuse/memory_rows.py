"""Memories as callers give them, checked and made into the rows that are stored."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgfuse.errors import InvalidInput
from pgfuse.route_texts import compose_content, route_texts
from pgfuse.texts import MAX_KEY, check_json, check_text, shown
from pgfuse.types import Memory
from pgfuse.vectors import check_vector

FIELDS = frozenset(field.name for field in fields(Memory))
GRANULARITIES = ("chunk", "turn", "session")
VECTOR_ROUTES = ("vec_full", "vec_user", "vec_asst")
LANGUAGE = re.compile(r"[A-Za-z_][\w$]*(\.[A-Za-z_][\w$]*)?")
FACET_NAME = re.compile(r"[a-z0-9_]{1,50}")
MAX_CONTENT = 10_000_000


@dataclass(frozen=True)
class MemoryRow:
    """A checked memory: its columns, the text to embed for each route, and the vectors that the caller gave."""

    columns: dict[str, Any]
    texts: dict[str, str]
    vectors: dict[str, NDArray[np.float32]]


def memory_rows(memories: Iterable[Memory | Mapping[str, Any]]) -> list[MemoryRow]:
    """Check every memory before anything is embedded or written."""
    if isinstance(memories, (str, bytes, Memory, Mapping)) or not isinstance(memories, Iterable):
        raise InvalidInput(f"memories is a {type(memories).__name__}; it must be a list of pgfuse.Memory or dicts.")
    rows = [_checked(index, memory) for index, memory in enumerate(memories)]
    _check_unique(rows)
    return rows


def _check_unique(rows: Sequence[MemoryRow]) -> None:
    seen: dict[str, int] = {}
    for index, row in enumerate(rows):
        external_id = row.columns["external_id"]
        if external_id is not None and seen.setdefault(external_id, index) != index:
            raise InvalidInput(
                f"memories[{index}]: external_id {external_id!r} is also that of memories[{seen[external_id]}]; "
                "give each once."
            )


def _checked(index: int, memory: Memory | Mapping[str, Any]) -> MemoryRow:
    try:
        return memory_row(memory)
    except InvalidInput as error:
        raise InvalidInput(f"memories[{index}]: {error}") from None


def memory_row(memory: Memory | Mapping[str, Any]) -> MemoryRow:
    """Check one memory; InvalidInput names the field, what was given and what is allowed."""
    given = _as_memory(memory)
    columns = _columns(given)
    texts = route_texts(columns)
    vectors = {
        _route(name): check_vector(f"embeddings.{name}", value)
        for name, value in _mapping("embeddings", given.embeddings).items()
    }
    return MemoryRow(columns, texts, vectors)


def _as_memory(memory: Memory | Mapping[str, Any]) -> Memory:
    if isinstance(memory, Memory):
        return memory
    if not isinstance(memory, Mapping):
        raise InvalidInput(f"{shown(memory)} is not a memory; it must be a pgfuse.Memory or a dict.")
    unknown = sorted(str(name) for name in set(memory) - FIELDS)
    if unknown:
        raise InvalidInput(
            f"unknown field {unknown[0]!r}; known are {', '.join(sorted(FIELDS))}. Put anything else into metadata."
        )
    defaults = Memory()
    return Memory(**{name: getattr(defaults, name) if value is None else value for name, value in memory.items()})


def _columns(given: Memory) -> dict[str, Any]:
    user_text, assistant_text = (
        _side("user_text", given.user_text),
        _side("assistant_text", given.assistant_text),
    )
    content = compose_content(_optional("content", given.content), user_text, assistant_text)
    if not content or not content.strip():
        raise InvalidInput("content is empty; give content, user_text or assistant_text.")
    if len(content) > MAX_CONTENT:
        raise InvalidInput(
            f"content has {len(content):,} characters; at most {MAX_CONTENT:,} are allowed. Split it into chunks."
        )
    if given.granularity not in GRANULARITIES:
        raise InvalidInput(
            f"granularity: {shown(given.granularity)} is not allowed; it must be chunk, turn or session."
        )
    return {
        "external_id": _optional("external_id", given.external_id, most=MAX_KEY),
        "kind": _label("kind", given.kind),
        "granularity": given.granularity,
        "session_id": _optional("session_id", given.session_id, most=MAX_KEY),
        "project_id": _optional("project_id", given.project_id, most=MAX_KEY),
        "position": _position(given.position),
        "content": content,
        "user_text": user_text,
        "assistant_text": assistant_text,
        "task_tag": _optional("task_tag", given.task_tag),
        "tags": _tags(given.tags),
        "language": _language(given.language),
        "memory_score": _score(given.memory_score),
        "metadata": _metadata(given.metadata),
        "occurred_at": _time("occurred_at", given.occurred_at),
        "created_at": _time("created_at", given.created_at),
        "facets": _facets(given.facets),
    }


def _optional(name: str, value: Any, *, most: int | None = None) -> str | None:
    return None if value is None else check_text(name, value, most=most)


def _side(name: str, value: Any) -> str | None:
    """One side of a chunk; a blank one is none, as it says nothing."""
    text = _optional(name, value)
    return text if text and text.strip() else None


def _label(name: str, value: Any) -> str:
    if not check_text(name, value, most=MAX_KEY).strip():
        raise InvalidInput(f"{name} is empty; leave it out for the default.")
    return str(value)


def _language(value: Any) -> str:
    if not LANGUAGE.fullmatch(check_text("language", value)):
        raise InvalidInput(f"language: {shown(value)} is not the name of a text search configuration, such as german.")
    return str(value)


def _position(value: Any) -> int | None:
    if value is None:
        return None
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not -(2**31) <= value < 2**31:
        raise InvalidInput(
            f"position: {shown(value)} is not allowed; it must be a whole number that fits into 32 bits."
        )
    return int(value)


def _score(value: Any) -> float:
    if not isinstance(value, (int, float, np.floating)) or isinstance(value, bool) or not 0 <= value <= 1:
        raise InvalidInput(f"memory_score: {shown(value)} is not allowed; it must be a number from 0 to 1.")
    return float(np.float32(value))


def _tags(value: Any) -> list[str]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(f"tags: {shown(value)} is not allowed; it must be a list of texts.")
    ordered = sorted(value, key=str) if isinstance(value, (set, frozenset)) else value
    return [check_text("tags", tag, most=MAX_KEY) for tag in ordered]


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name}: {shown(value)} is not allowed; it must be a dict.")
    return value


def _metadata(value: Any) -> dict[str, Any]:
    text = check_json("metadata", dict(_mapping("metadata", value)))
    try:
        checked: dict[str, Any] = json.loads(text)
    except RecursionError as error:
        raise InvalidInput("metadata is nested too deeply.") from error
    return checked


def _time(name: str, value: Any) -> str | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError as error:
            raise InvalidInput(
                f"{name}: {shown(value)} is not allowed; it must be a time such as 2026-01-31T12:00:00Z."
            ) from error
    if value is not None and not isinstance(value, datetime):
        raise InvalidInput(f"{name}: {shown(value)} is not allowed; it must be a datetime or such a text.")
    if value is None:
        return None
    try:
        return (value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    except OverflowError as error:
        raise InvalidInput(f"{name}: {value} is outside the years 1 to 9999.") from error


def _facets(value: Any) -> dict[str, str]:
    facets = {
        name: check_text(f"facets.{name}", text) for name, text in _mapping("facets", value).items() if text is not None
    }
    for name, text in facets.items():
        if not isinstance(name, str) or not FACET_NAME.fullmatch(name):
            raise InvalidInput(f"facets: {shown(name)} is not a facet's name; use 1 to 50 small letters, digits and _.")
        if not text.strip():
            raise InvalidInput(f"facets.{name} is empty; leave it out.")
    return facets


def _route(name: Any) -> str:
    if name in VECTOR_ROUTES or (
        isinstance(name, str) and name.startswith("facet_") and FACET_NAME.fullmatch(name[6:])
    ):
        return str(name)
    raise InvalidInput(
        f"embeddings: {shown(name)} is not a route that takes a vector; use {', '.join(VECTOR_ROUTES)} or facet_<name> "
        "(vec_next_user is filled from the next user turn)."
    )
