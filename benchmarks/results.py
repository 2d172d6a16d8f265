"""Figures of a benchmark: shown as tables, saved as JSON and as a plot."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.panels import Panel, draw

FOLDER = Path("bench-results")
WIDTH = 175
Row = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """One measured number, and the most or the least that it may be where it has a gate."""

    name: str
    value: float
    unit: str = "ms"
    most: float | None = None
    least: float | None = None

    @property
    def held(self) -> bool:
        """Is the gate held? A figure that is not a number holds none."""
        return (self.most is None or self.value <= self.most) and (self.least is None or self.value >= self.least)

    @property
    def gate(self) -> str:
        """The gate in words."""
        bounds = [("<=", self.most), (">=", self.least)]
        return ", ".join(f"{sign} {bound:g} {self.unit}".strip() for sign, bound in bounds if bound is not None)


@dataclass(frozen=True)
class Report:
    """What a part measured (`rows`), what is asked of it (`figures`), and what it was measured on (`setup`)."""

    part: str
    figures: list[Figure]
    rows: list[Row] = field(default_factory=list)
    panels: list[Panel] = field(default_factory=list)
    setup: Row = field(default_factory=dict)

    @property
    def held(self) -> bool:
        """Are all gates held?"""
        return all(figure.held for figure in self.figures)


def publish(report: Report, machine: Row, out: Path) -> None:
    """Print a part's tables, and write its JSON and its plot."""
    if report.rows:
        show_rows(report.part, report.rows)
    show(report.figures)
    out.mkdir(parents=True, exist_ok=True)
    figures = [asdict(figure) | {"held": figure.held} for figure in report.figures]
    found = {"part": report.part, "held": report.held, "machine": machine, "setup": report.setup}
    path = out / f"{report.part}.json"
    path.write_text(json.dumps(found | {"figures": figures, "rows": report.rows}, indent=2) + "\n")
    drawn = draw(report.panels, out / report.part) if report.panels else []
    Console().print(f"saved to {', '.join(str(name) for name in [path, *drawn])}\n", soft_wrap=True)


def show_rows(title: str, rows: Sequence[Row]) -> None:
    """Print what was measured, a column a name; rows need not have all of them."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = Table(title=title, title_justify="left")
    for name in names:
        table.add_column(name, justify="left" if any(isinstance(row.get(name), str) for row in rows) else "right")
    for row in rows:
        table.add_row(*(_cell(row.get(name)) for name in names))
    Console(width=max(Console().width, WIDTH)).print(table)


def _number(value: float) -> str:
    return f"{value:.1e}" if 0 < abs(value) < 0.001 else f"{value:,.3f}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return _number(value) if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def show(figures: Sequence[Figure]) -> None:
    """Print the figures with their gates."""
    table = Table("figure", "value", "gate", "held")
    for figure in figures:
        held = "" if not figure.gate else "yes" if figure.held else "[bold red]NO[/]"
        table.add_row(figure.name, f"{_number(figure.value)} {figure.unit}", figure.gate, held)
    Console(width=max(Console().width, WIDTH)).print(table)


def save(figures: Sequence[Figure], name: str) -> None:
    """Write the figures to bench-results/."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps([asdict(figure) for figure in figures], indent=2) + "\n")
    Console().print(f"saved to {path}")
