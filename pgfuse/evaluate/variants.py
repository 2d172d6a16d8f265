"""What is measured side by side: single routes, presets, and settings of the user's own."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg

from pgfuse.errors import InvalidSettings
from pgfuse.settings import get_settings

PRESETS = ("default", "balanced", "semantic", "blend", "memory")
ALONE = {"memory_weight": 0, "session_first": False, "mmr": False, "neighbors": 0, "recency_half_life_days": None}
ROUTES = """
SELECT DISTINCT v.route FROM pgfuse.vectors v JOIN pgfuse.spaces s ON s.space_id = v.space_id AND s.active
WHERE v.profile_id = ANY (%s)
"""


@dataclass(frozen=True)
class Variant:
    """A way to recall: a preset, settings over it, or neither for the settings in force."""

    name: str
    preset: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    route: str | None = None


def routes(conn: psycopg.Connection[Any], profiles: Sequence[str]) -> list[str]:
    """The routes that have something to search in any of the profiles."""
    return ["lexical", *sorted(row[0] for row in conn.execute(ROUTES, (list(profiles),)))]


def single_route(conn: psycopg.Connection[Any], profile_id: str, route: str, base: Variant) -> Variant:
    """One route alone, with the lexical settings of the base."""
    known = get_settings(conn, profile_id)["weights"] | dict(base.settings.get("weights", {}))
    weights = {name: 0 for name in known} | {route: 1}
    return Variant(route, base.preset, {**base.settings, **ALONE, "weights": weights}, route)


def parse(text: str) -> Variant:
    """A variant as users write it: a preset's name, a JSON object of settings, or key=value pairs with commas."""
    said = text.strip()
    if said.startswith("{"):
        return Variant(said, settings=_object(said))
    if "=" not in said:
        return Variant(said, preset=said)
    settings = parse_settings(said.split(","))
    return Variant(said, settings.pop("preset", None), settings)


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Settings from key=value pairs; weights.vec_full=0.5 is the weight of a route."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not key:
            raise InvalidSettings(f"{pair!r} is not a setting; write it as key=value, such as rrf_k=15.")
        outer, dot, inner = key.partition(".")
        if dot:
            settings.setdefault(outer, {})[inner] = _value(value)
        else:
            settings[key] = _value(value)
    return settings


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _object(text: str) -> dict[str, Any]:
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise InvalidSettings(f"{text!r:.100} is not JSON: {error}.") from error
    return dict(settings)
