"""What a run of benchmarks is given, and what its parts share."""

from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import crowd
from benchmarks.crowd import Crowd


@dataclass(frozen=True)
class Bench:
    """The server, the collections (None: texts are generated), where results go, and how large the work is."""

    url: str
    data: Path | None
    out: Path
    quick: bool
    rows: int
    crowds: dict[int, Crowd] = field(default_factory=dict)

    def crowd(self) -> Crowd:
        """The largest table, made once a run."""
        if self.rows not in self.crowds:
            self.crowds[self.rows] = crowd.make(self.url, self.rows, crowd.sizes_for(self.rows), self.data)
        return self.crowds[self.rows]

    def small_crowd(self, rows: int) -> Crowd:
        """A table of fewer rows, in which only the profile of the fixed size is measured."""
        return crowd.make(self.url, rows, (crowd.FIXED,), self.data)

    def size(self, full: int, quick: int) -> int:
        """How many, by how much time there is."""
        return quick if self.quick else full
