"""`pgfuse recall`."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import pgfuse
from pgfuse.cli import shown
from pgfuse.cli.database import DatabaseUrl, Json, connect
from pgfuse.cli.options import Profile, read_object, read_settings
from pgfuse.types import Recall

Query = Annotated[str, typer.Argument(help="What to look for.")]
TopK = Annotated[int, typer.Option("--top-k", "-k", min=1, max=1000, help="How many hits.")]
Preset = Annotated[str | None, typer.Option(help="default, balanced, semantic, blend or memory.")]
Set = Annotated[list[str] | None, typer.Option("--set", help="A setting for this call, as in weights.lexical=0.5.")]
Session = Annotated[list[str] | None, typer.Option("--session", help="Only memories of this session; may be repeated.")]
Project = Annotated[str | None, typer.Option("--project", help="Only memories of this project.")]
Kind = Annotated[list[str] | None, typer.Option("--kind", help="Only this kind, as in semantic; may be repeated.")]
Granularity = Annotated[list[str] | None, typer.Option("--granularity", help="Only chunk, turn or session.")]
Tag = Annotated[list[str] | None, typer.Option("--tag", help="Only memories with one of these tags; may be repeated.")]
Metadata = Annotated[str | None, typer.Option(help="Only memories whose metadata contain this JSON object.")]
Exclude = Annotated[list[int] | None, typer.Option("--exclude", help="Not this memory id; may be repeated.")]
Since = Annotated[str | None, typer.Option(help="Not before this time, as in 2026-01-31 or 2026-01-31T12:00Z.")]
Until = Annotated[str | None, typer.Option(help="Not after this time.")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="As if it were this time: later memories do not exist yet.")]
Mmr = Annotated[bool | None, typer.Option("--mmr/--no-mmr", help="Leave out hits that repeat others.")]
MaxTokens = Annotated[int | None, typer.Option(help="Only as many hits as fit into about this many tokens.")]
GroupBy = Annotated[str | None, typer.Option(help="session: only the best of each session.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show what each route contributed to each hit, and did.")]
WhyNot = Annotated[int | None, typer.Option("--why-not", metavar="ID", help="Say why this memory is not a hit.")]


def command(
    query: Query,
    profile: Profile,
    top_k: TopK = 8,
    preset: Preset = None,
    set_: Set = None,
    session: Session = None,
    project: Project = None,
    kind: Kind = None,
    granularity: Granularity = None,
    tag: Tag = None,
    metadata: Metadata = None,
    exclude: Exclude = None,
    since: Since = None,
    until: Until = None,
    as_of: AsOf = None,
    mmr: Mmr = None,
    max_tokens: MaxTokens = None,
    group_by: GroupBy = None,
    explain: Explain = False,
    why_not: WhyNot = None,
    as_json: Json = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Find the memories of a profile that answer a query best, and show why.

    Example: pgfuse recall "which error did we see?" --profile ada --explain
    """
    options: dict[str, Any] = {
        "top_k": top_k,
        "preset": preset,
        "settings": read_settings(set_) or None,
        "session_ids": session or None,
        "project_id": project,
        "kinds": kind or None,
        "granularity": granularity or None,
        "tags": tag or None,
        "metadata": read_object("--metadata", metadata),
        "exclude_ids": exclude or (),
        "since": since,
        "until": until,
        "as_of": as_of,
        "mmr": mmr,
        "max_tokens": max_tokens,
        "group_by": group_by,
    }
    with connect(database_url) as connection:
        if why_not is not None:
            show_why_not(pgfuse.why_not(connection, query, profile, why_not, **options), as_json=as_json)
            return
        result = pgfuse.recall(connection, query, profile, **options)
    if as_json:
        typer.echo(to_json({"query": query, "profile_id": profile, **recalled(result)}))
    else:
        show(result, explain=explain)


def recalled(result: Recall) -> dict[str, Any]:
    """A recall as plain data: every field of every hit, and the trace."""
    return {"hits": [asdict(hit) for hit in result], "trace": result.trace}


def to_json(value: Any) -> str:
    """JSON with times as ISO 8601."""
    return json.dumps(value, default=lambda item: item.isoformat() if isinstance(item, datetime) else str(item))


def show(result: Recall, *, explain: bool) -> None:
    """The hits in a table; explained, each with its parts, and what the routes did."""
    console = Console()
    if not result:
        console.print("Nothing found.")
    elif not explain:
        console.print(shown.hits_table(result))
    else:
        show_explained(console, result)
    if explain:
        console.print(shown.routes_table(result.trace))
    console.print(account(result), style="dim", markup=False, highlight=False, soft_wrap=True)


def show_explained(console: Console, result: Recall) -> None:
    """Each hit with a bar for each route."""
    largest = shown.largest_part(result)
    number = 0
    for hit in result:
        if hit.neighbor_of is not None:
            console.print(Text(f"   next to {hit.neighbor_of}: id {hit.id}  {shown.clean(hit.content)}\n", style="dim"))
            continue
        number += 1
        console.print(Text.assemble((f"{number}. ", "bold"), shown.clean(hit.content)))
        console.print(Text(f"   id {hit.id}, final score {hit.final_score:.4f}", style="dim"))
        console.print(shown.parts_table(hit, largest))
        console.print()


def account(result: Recall) -> str:
    """How the hits were found, in a line."""
    trace = result.trace
    said = f"{trace['mode']}, {trace['fusion']} fusion of {trace['fused']} candidates, {trace['latency_ms']:.1f} ms"
    return f"{said}; no vector: {trace['reason']}" if trace.get("reason") else said


def show_why_not(answer: dict[str, Any], *, as_json: bool) -> None:
    """Why a memory is not a hit: the filters, its place in every route, and how far it fell short."""
    if as_json:
        typer.echo(to_json(answer))
        return
    console = Console()
    console.print(str(answer["verdict"]), markup=False, highlight=False, soft_wrap=True)
    if answer.get("routes"):
        console.print(why_not_table(answer["routes"]))
    last = answer.get("last_hit")
    if answer.get("final_score") is not None and last:
        fell_short = f"the last hit (id {last['id']}) has {last['final_score']:.4f}"
        console.print(f"Final score {answer['final_score']:.4f}; {fell_short}.", highlight=False)


def why_not_table(routes: dict[str, Any]) -> Table:
    """The memory's true rank and score in every route."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("route", "status", "rank", "score"):
        table.add_column(heading, justify="right" if heading in ("rank", "score") else "left")
    for name, place in routes.items():
        score = "" if place.get("score") is None else f"{place['score']:.4f}"
        rank = "" if place.get("rank") is None else str(place["rank"])
        table.add_row(Text(name, style=shown.route_style(name)), str(place.get("status") or ""), rank, score)
    return table
