"""`pgfuse doctor`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table

from pgfuse.cli.database import DatabaseUrl, Json, connect

if TYPE_CHECKING:
    from pgfuse.doctor import Report


def command(database_url: DatabaseUrl = None, as_json: Json = False) -> None:
    """Look the database over, and say what to do about each finding. Exit code 1 when something is wrong."""
    from pgfuse import doctor

    with connect(database_url) as connection:
        report = doctor.examine(connection)
    if as_json:
        typer.echo(json.dumps({"healthy": report.healthy, **asdict(report)}))
    else:
        show(report)
    raise typer.Exit(0 if report.healthy else 1)


def show(report: Report) -> None:
    """The facts in a table, then each finding with its remedy."""
    console = Console()
    console.print(facts_table(report.facts))
    for finding in report.findings:
        style = "red" if finding.level == "error" else "yellow"
        console.print(f"[bold {style}]{finding.level}[/]  {finding.about}: ", end="")
        console.print(finding.message, markup=False, highlight=False, soft_wrap=True)
        console.print(f"       → {finding.action}", markup=False, highlight=False, soft_wrap=True)
    if report.healthy:
        console.print("[green]Nothing is wrong.[/]")


def facts_table(facts: dict[str, Any]) -> Table:
    """Versions, spaces, vectors and indexes, one line each."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_row("PostgreSQL", str(facts["server"]))
    table.add_row("pgvector", str(facts["pgvector"] or "not installed"))
    table.add_row("schema", str(facts.get("schema", "not migrated")))
    for space in facts.get("spaces", ()):
        use = "active" if space["active"] else "not in use"
        table.add_row(f"space {space['space_id']}", f"{space['model']}, {space['dim']} dimensions, {use}")
        table.add_row("", f"{space['vectors']:,} vectors")
    for route, count in facts.get("vectors", {}).items():
        table.add_row(route, f"{count['wanted'] - count['missing']:,} of {count['wanted']:,} texts have a vector")
    if "indexes" in facts:
        table.add_row("indexes", str(facts["indexes"]))
    return table
