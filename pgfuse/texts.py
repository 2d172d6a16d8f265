"""Texts and JSON that PostgreSQL can store."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pgfuse.errors import InvalidInput

MAX_PROFILE = 512
MAX_KEY = 1024


def searchable(query: str) -> str:
    """The query with NUL and broken characters as spaces: they cannot be stored, so they match nothing."""
    return query.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def shown(value: object) -> str:
    """The value as an error message shows it."""
    try:
        return f"{value!r:.100}"
    except ValueError:  # an int of thousands of digits
        return f"this {type(value).__name__}"


def check_text(name: str, value: object, *, most: int | None = None) -> str:
    """The value if it is a text that can be stored, of at most so many bytes; InvalidInput otherwise."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name}: {shown(value)} is not allowed; it must be a text.")
    if "\0" in value:
        raise InvalidInput(f"{name} holds a NUL character, which PostgreSQL cannot store; remove it.")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{name} holds a lone surrogate at position {error.start}, which is not valid Unicode; remove it."
        ) from error
    if most is not None and len(value.encode()) > most:
        raise InvalidInput(
            f"{name} has {len(value.encode())} bytes; at most {most} are allowed, so that it can be indexed."
        )
    return value


def check_json(name: str, value: object) -> str:
    """The value as JSON that can be stored; InvalidInput otherwise."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{name} cannot be sent as JSON: {error}.") from error
    if "\\u0000" in text and _holds_nul(value):
        raise InvalidInput(f"{name} holds a NUL character, which PostgreSQL cannot store; remove it.")
    return check_text(name, text)


def check_profile(value: object) -> str:
    """The value if it can name a profile; InvalidInput otherwise."""
    if not check_text("profile_id", value, most=MAX_PROFILE):
        raise InvalidInput("profile_id is empty; it must name the profile.")
    return str(value)


def check_ids(name: str, values: Any) -> list[int]:
    """The values if they are ids of memories; InvalidInput otherwise."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidInput(f"{name}: {shown(values)} is not allowed; it must be a list of memory ids.")
    return [_id(name, value) for value in values]


def _id(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not -(2**63) <= int(value) < 2**63:
        raise InvalidInput(f"{name}: {shown(value)} is not a memory's id; it must be a whole number of 64 bits.")
    return int(value)


def _holds_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, Mapping):
        return any(_holds_nul(key) or _holds_nul(item) for key, item in value.items())
    return isinstance(value, (list, tuple)) and any(_holds_nul(item) for item in value)
