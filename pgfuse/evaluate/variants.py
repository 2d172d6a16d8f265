"""What is measured side by side: single routes, presets, and settings of the user's own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg

from pgfuse.settings import get_settings

PRESETS = ("default", "balanced", "semantic", "blend", "memory")
ALONE = {
    "memory_weight": 0, "session_first": False, "mmr": False, "neighbors": 0,
    "recency_half_life_days": None, "group_by": None, "max_tokens": None,
}  # fmt: skip
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
    weights = dict.fromkeys(known, 0) | {route: 1}
    return Variant(route, base.preset, {**base.settings, **ALONE, "weights": weights}, route)


def all_routes(conn: psycopg.Connection[Any], profiles: Sequence[str], base: Variant) -> list[Variant]:
    """Every route that has something to search, alone."""
    return [single_route(conn, profiles[0], route, base) for route in routes(conn, profiles)]
