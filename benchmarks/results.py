"""Figures of a benchmark: shown as a table, saved as JSON."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

FOLDER = Path("bench-results")


@dataclass(frozen=True)
class Figure:
    """One measured number, and the gate that it must stay under where it has one."""

    name: str
    value: float
    unit: str = "ms"
    gate: float | None = None

    @property
    def held(self) -> bool:
        """Is the gate held?"""
        return self.gate is None or self.value < self.gate


def show(figures: list[Figure]) -> None:
    """Print the figures."""
    table = Table("figure", "value", "gate", "held")
    for figure in figures:
        gate = "" if figure.gate is None else f"< {figure.gate:g} {figure.unit}"
        table.add_row(figure.name, f"{figure.value:.3f} {figure.unit}", gate, "yes" if figure.held else "NO")
    Console().print(table)


def save(figures: list[Figure], name: str) -> None:
    """Write the figures to bench-results/."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps([asdict(figure) for figure in figures], indent=2) + "\n")
    Console().print(f"saved to {path}")
