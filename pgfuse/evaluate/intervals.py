"""How sure a mean is: bootstrap intervals over the questions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
CHUNK = 250


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"

    @property
    def signed(self) -> str:
        """The same as a difference."""
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


def estimate(values: NDArray[np.float64], seed: int = 0) -> Estimate:
    """The mean of the values and where 95 % of the means of resampled questions lie."""
    if not len(values):
        return Estimate(0.0, 0.0, 0.0)
    generator, means = np.random.default_rng(seed), []
    for _ in range(RESAMPLES // CHUNK):
        means.append(values[generator.integers(0, len(values), (CHUNK, len(values)))].mean(axis=1))
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return Estimate(float(values.mean()), float(low), float(high))
