"""What a benchmark found: times, and how much of the true answer a route gives."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

TIED = 1e-6
Scored = Sequence[tuple[int, float]]


@dataclass(frozen=True)
class Timed:
    """Milliseconds: the middle one, and the one that a twentieth exceeds."""

    p50: float
    p95: float


def timed(times: Sequence[float]) -> Timed | None:
    """The figures of some calls; None where there were none."""
    return Timed(*(float(np.percentile(times, percent)) for percent in (50, 95))) if times else None


@dataclass(frozen=True)
class RouteFigures:
    """A route. `complete` is the share of queries whose pool was filled; `exact` the time of a scan of the profile."""

    route: str
    method: str
    complete: float
    time: Timed
    exact: Timed | None = None
    recall_10: float | None = None
    recall_64: float | None = None
    overlap_10: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times the scan's time the route takes."""
        return self.time.p50 / self.exact.p50 if self.exact else None

    def json(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self) | {"ratio_to_exact": self.ratio}


@dataclass(frozen=True)
class Report:
    """All that a benchmark found in a profile."""

    profile_id: str
    memories: int
    model: str
    queries: int
    top_k: int
    mode: str
    routes: list[RouteFigures]
    recall: Timed

    def json(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self) | {"routes": [route.json() for route in self.routes]}


def recall_at(k: int, found: Scored, exact: Scored) -> float:
    """The share of the k best that are among the first k found; equals of the k-th count as it does."""
    best = exact[:k]
    if not best:
        return 1.0
    least, names = best[-1][1] - TIED, {name for name, _ in best}
    return sum(name in names or score >= least for name, score in found[:k]) / len(best)


def mean(values: Sequence[float]) -> float | None:
    """The mean; None where there is nothing."""
    return float(np.mean(values)) if values else None
