"""Timing calls that are compared: one after the other for each query, so that noise hits all alike."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

Q = TypeVar("Q")
WARM = 6  # psycopg prepares a statement when it comes the sixth time


@dataclass
class Samples:
    """The times of one way to do it, in milliseconds, and its answers in the order of the queries."""

    times: list[float] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)

    @property
    def p50(self) -> float:
        """The median."""
        return float(np.percentile(self.times, 50)) if self.times else float("nan")

    @property
    def p95(self) -> float:
        """The time that one in twenty calls exceeds."""
        return float(np.percentile(self.times, 95)) if self.times else float("nan")

    def add(self, call: Callable[[Q], Any], query: Q) -> None:
        """Call once more."""
        started = time.perf_counter()
        answer = call(query)
        self.times.append((time.perf_counter() - started) * 1000)
        self.answers.append(answer)


def alternate(ways: Mapping[str, Callable[[Q], Any]], queries: Sequence[Q], warm: int = WARM) -> dict[str, Samples]:
    """Ask every query in every way, beginning with another way each time."""
    names = list(ways)
    for query in queries[:warm]:
        for name in names:
            ways[name](query)
    samples = {name: Samples() for name in names}
    for turn, query in enumerate(queries):
        for step in range(len(names)):
            name = names[(turn + step) % len(names)]
            samples[name].add(ways[name], query)
    return samples
