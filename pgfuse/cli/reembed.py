"""`pgfuse reembed`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from pgfuse.cli.database import DatabaseUrl, Json, database
from pgfuse.cli.progress import Progress

if TYPE_CHECKING:
    from pgfuse.reembed import Reembedded

Model = Annotated[
    str | None,
    typer.Option(help="The model to use, as in openai:text-embedding-3-small.  [default: the one in use]"),
]
Dim = Annotated[int | None, typer.Option(min=1, max=4000, help="Its dimension, where the model has a choice of them.")]
DropOld = Annotated[
    bool,
    typer.Option("--drop-old/--keep-old", help="After the switch, drop the space before, or keep it."),
]
DropSpace = Annotated[int | None, typer.Option("--drop-space", metavar="ID", help="Only drop this space, not in use.")]


def command(
    model: Model = None,
    dim: Dim = None,
    drop_old: DropOld = False,
    drop_space: DropSpace = None,
    as_json: Json = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Change the embedding model without downtime, or fill in what the space in use lacks.

    Example: pgfuse reembed --model openai:text-embedding-3-small

    The new vectors and indexes are built beside the old ones while reads and writes go on; the switch is one
    transaction. After a kill, run it again and it goes on. `pgfuse doctor` lists the spaces and what they lack.
    """
    from pgfuse import reembed

    if drop_space is not None and (model or dim or drop_old):
        raise typer.BadParameter("--drop-space goes with none of --model, --dim and --drop-old.")
    with database(database_url) as url:
        if drop_space is not None:
            removed = reembed.drop_space(url, drop_space)
            say_dropped(drop_space, removed, as_json=as_json)
            return
        with Progress("memories") as progress:
            done = reembed.reembed(
                url,
                model,
                dim=dim,
                progress=lambda stage, count, total: progress.update(
                    stage.capitalize(), count if stage == reembed.EMBEDDING else 0, count, total
                ),
            )
        switched = done.space_id != done.previous_space_id
        if switched and drop_old:
            reembed.drop_space(url, done.previous_space_id)
    if as_json:
        typer.echo(json.dumps(asdict(done) | {"switched": switched, "dropped_old": switched and drop_old}))
    else:
        typer.echo(sentence(done, dropped=drop_old))


def say_dropped(space_id: int, removed: int, *, as_json: bool) -> None:
    """How many vectors are gone."""
    said = json.dumps({"space_id": space_id, "removed": removed})
    typer.echo(said if as_json else f"Dropped space {space_id} with {removed:,} vectors.")


def sentence(done: Reembedded, *, dropped: bool) -> str:
    """What was done, and what could not be."""
    made = f"{done.vectors:,} vectors for {done.memories:,} memories in {done.seconds:.1f} s"
    space = f"space {done.space_id} ({done.model}, {done.dim} dimensions)"
    if done.space_id == done.previous_space_id:
        said = f"Made {made}; {space} stays in use."
    elif dropped:
        said = f"Made {made}; {space} is now in use, and space {done.previous_space_id} is dropped."
    else:
        old = done.previous_space_id
        said = f"Made {made}; {space} is now in use. To drop the old one: pgfuse reembed --drop-space {old}"
    if done.without_text:
        said += f"\n{done.without_text:,} vectors had been given without a text and could not be made again."
    if done.all_zero:
        said += f"\n{done.all_zero:,} texts have no word that the model knows, and so no vector."
    return said
