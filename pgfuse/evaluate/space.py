"""The settings that tuning may change, and within which bounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

POOLS = ("default", "4", "8", "16")
HEAVIEST = 2.0
LEAST_K, MOST_K = 1, 120
LEXICAL = {"bm25_k1": (0.2, 2.0), "bm25_b": (0.0, 1.0)}
FUSIONS = "SELECT choices FROM pgfuse.setting_rules() WHERE key = 'fusion'"

Settings = dict[str, Any]


@dataclass(frozen=True)
class Space:
    """The routes that have data, and the ways to fuse them."""

    routes: tuple[str, ...]
    fusions: tuple[str, ...]

    def suggest(self, trial: Any) -> Settings:
        """Settings that an Optuna trial proposes; all that is not fused by ranks has no rrf_k."""
        settings: Settings = {
            "weights": {route: round(trial.suggest_float(route, 0.0, HEAVIEST), 2) for route in self.routes}
        }
        if len(self.routes) > 1:
            settings["fusion"] = trial.suggest_categorical("fusion", self.fusions)
            settings["pool_multiplier"] = _pool(trial.suggest_categorical("pool", POOLS))
        if settings.get("fusion") == "rrf":
            settings["rrf_k"] = trial.suggest_int("rrf_k", LEAST_K, MOST_K, log=True)
        if settings["weights"].get("lexical"):
            settings |= {name: round(trial.suggest_float(name, *bounds), 2) for name, bounds in LEXICAL.items()}
        return settings

    def parameters(self, settings: Mapping[str, Any]) -> Settings:
        """Settings in force as a trial has them, as near as the bounds allow."""
        weights = {route: min(float(settings["weights"].get(route, 0)), HEAVIEST) for route in self.routes}
        lexical = {name: min(max(float(settings[name]), low), high) for name, (low, high) in LEXICAL.items()}
        fused = {"fusion": settings["fusion"], "rrf_k": min(int(settings["rrf_k"]), MOST_K), "pool": POOLS[0]}
        return {**weights, **lexical, **fused}


def space_for(conn: psycopg.Connection[Any], routes: Sequence[str]) -> Space:
    """The space over these routes, with every way of fusing that the database knows."""
    row = conn.execute(FUSIONS).fetchone()
    return Space(tuple(routes), tuple(row[0]) if row else ("rrf", "linear"))


def _pool(said: str) -> int | None:
    return None if said == POOLS[0] else int(said)
