"""`pgfuse bench`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from pgfuse.cli.database import DatabaseUrl, Json, connect
from pgfuse.cli.progress import Progress
from pgfuse.cli.shown import clean

if TYPE_CHECKING:
    from pgfuse.bench.asked import Asked, Connection, Profile
    from pgfuse.bench.figures import Report

ProfileName = Annotated[
    str | None, typer.Option("--profile", "-p", help="The profile to search.  [default: the one with most memories]")
]
Count = Annotated[int, typer.Option("--queries", min=1, max=10_000, help="How many stored memories to ask for.")]
File = Annotated[
    Path | None,
    typer.Option("--queries-file", help="Ask these texts instead, one a line.", exists=True, dir_okay=False),
]
TopK = Annotated[int, typer.Option("--top-k", min=1, max=1000, help="How many hits a recall asks for.")]
Plot = Annotated[Path | None, typer.Option("--plot", help="Also draw the times into this .svg file.")]
Out = Annotated[Path | None, typer.Option("--out", help="Also write the JSON to this file.")]


def command(
    profile: ProfileName = None,
    queries: Count = 50,
    queries_file: File = None,
    top_k: TopK = 8,
    plot: Plot = None,
    out: Out = None,
    as_json: Json = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Measure how fast recall is on your own data, and how much of the exact answer each route gives. Only reads.

    The queries are the first words of stored memories with their own vectors, a little changed, or the lines of a file.

    Example: pgfuse bench --profile ada --queries 100 --plot bench.svg
    """
    if plot and plot.suffix.lower() != ".svg":
        raise typer.BadParameter(f"--plot {plot}: the plot is an SVG; name it .svg.")
    with connect(database_url, autocommit=True) as connection, Progress("queries") as shown:
        report = measure(connection, shown, profile, queries, queries_file, top_k)
    if out:
        out.write_text(json.dumps(report.json(), indent=2) + "\n", encoding="utf-8")
    if plot:
        from pgfuse.bench.chart import render

        plot.write_text(render(report), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(report.json()))
    else:
        show(report)


def measure(
    connection: Connection, shown: Progress, name: str | None, count: int, file: Path | None, top_k: int
) -> Report:
    """Find the profile and the queries, and ask."""
    from pgfuse.bench.asked import find_profile
    from pgfuse.bench.measuring import Bench, only_read

    only_read(connection)
    profile = find_profile(connection, name)
    asked = read_queries(connection, profile, count, file)
    return Bench(connection, profile, top_k).run(asked, lambda stage, done: shown.update(stage, done, done, len(asked)))


def read_queries(connection: Connection, profile: Profile, count: int, file: Path | None) -> list[Asked]:
    """The lines of the file, or else stored memories."""
    from pgfuse.bench.asked import embedded, sampled

    if file is None:
        return sampled(connection, profile, count)
    return embedded(file.read_text(encoding="utf-8", errors="replace").splitlines(), profile.model)


def show(report: Report) -> None:
    """A row a route, and one for recall as a whole."""
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    for heading in ("", "method", "complete", "p50", "p95", "recall@10", "@64", "exact", "ratio"):
        words = heading in ("", "method")
        table.add_column(heading, justify="left" if words else "right", no_wrap=not words)
    for route in report.routes:
        first = route.recall_10 if route.recall_10 is not None else route.overlap_10
        exact = route.exact.p50 if route.exact else None
        figures = (route.time.p50, route.time.p95, first, route.recall_64, exact, route.ratio)
        table.add_row(route.route, route.method, f"{route.complete:.0%}", *map(figure, figures))
    table.add_row("recall", report.mode, "", figure(report.recall.p50), figure(report.recall.p95))
    console = Console()
    console.print(
        f"{clean(report.profile_id, 60)}: {report.memories:,} memories, {report.queries} queries, top {report.top_k}",
        markup=False,
        highlight=False,
    )
    console.print(table)
    console.print(
        "Times in ms. Recall and ratio are against a scan of the whole profile, whose p50 is exact.",
        style="dim",
        soft_wrap=True,
    )


def figure(value: float | None) -> str:
    """A number for the table; nothing where there is none."""
    return "" if value is None else f"{value:.3f}"
