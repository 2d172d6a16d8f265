"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

Profile = Annotated[str, typer.Option("--profile", "-p", help="The profile: whose memories.")]
NOT_SETTINGS = ("conn", "profile_id")  # names of arguments


def read_settings(pairs: list[str] | None) -> dict[str, Any]:
    """`["fusion=rrf", "weights.lexical=0.5"]` as settings; a value is JSON, or else a plain text."""
    settings: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals or not name.strip() or name.strip() in NOT_SETTINGS:
            raise typer.BadParameter(f"{pair!r} is not a setting; write it as name=value, as in rrf_k=20.")
        _put(settings, name.strip().split("."), _value(value.strip()))
    return settings


def read_object(option: str, text: str | None) -> dict[str, Any] | None:
    """A JSON object given on the command line."""
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"{option} is not JSON: {error}.") from error
    if not isinstance(value, dict):
        raise typer.BadParameter(f"""{option} must be a JSON object, as in '{{"topic": "billing"}}'.""")
    return value


def _put(settings: dict[str, Any], path: list[str], value: Any) -> None:
    for name in path[:-1]:
        inner = settings.setdefault(name, {})
        if not isinstance(inner, dict):
            raise typer.BadParameter(f"{'.'.join(path)} and {name} are both given; give one.")
        settings = inner
    settings[path[-1]] = value


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
