"""How far long work has come: a bar on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

import typer
from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

LINE_SECONDS = 2.0


class Progress:
    """A bar or lines on stderr; to be used in a `with` block."""

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.started = self.last_line = time.monotonic()
        self.stage, self.rows = "", 0
        console = Console(stderr=True)
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
        self.bar = Bar(*columns, console=console, transient=True) if console.is_terminal else None

    def __enter__(self) -> Progress:
        if self.bar:
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar:
            self.bar.stop()

    def update(self, stage: str, rows: int, done: float, total: float | None) -> None:
        """So many rows are through, and `done` of `total`, whatever these are counted in."""
        if stage != self.stage or rows < self.rows:
            self.begin(stage, total)
        self.rows = rows
        rate = rows / max(time.monotonic() - self.started, 1e-6)
        said = f"{stage}: {rows:,} {self.unit}, {rate:,.0f}/s" if rows else stage
        if self.bar:
            self.bar.update(self.bar.task_ids[-1], description=said, completed=done, total=total)
        elif time.monotonic() - self.last_line >= LINE_SECONDS:
            self.last_line = time.monotonic()
            typer.echo(f"{said}{self.left(done, total)}", err=True)

    def begin(self, stage: str, total: float | None) -> None:
        """Another stage, with a bar and a clock of its own."""
        self.stage, self.started = stage, time.monotonic()
        if self.bar:
            self.bar.add_task(stage, total=total)

    def left(self, done: float, total: float | None) -> str:
        """The time left, from the time taken."""
        if not total or not done:
            return ""
        return f", about {(time.monotonic() - self.started) * (total - done) / done:,.0f} s left"

    def note(self, text: str) -> None:
        """A line of its own, above the bar."""
        if self.bar:
            self.bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            typer.echo(text, err=True)
