"""`pgfuse export`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TextIO

import typer

from pgfuse.cli.database import DatabaseUrl, connect
from pgfuse.cli.options import Profile
from pgfuse.cli.progress import Progress
from pgfuse.export import export

Out = Annotated[Path | None, typer.Option("--out", "-o", help="The file to write.  [default: standard output]")]
Vectors = Annotated[bool, typer.Option("--vectors", help="With the vectors of the space in use.")]


def command(profile: Profile, out: Out = None, vectors: Vectors = False, database_url: DatabaseUrl = None) -> None:
    """Write a profile's memories as JSON lines that `pgfuse ingest` takes back.

    Example: pgfuse export --profile ada --out ada.jsonl

    Ids are left out, as they belong to the database; a memory without an external_id gets one when it is ingested.
    """
    count = 0
    with connect(database_url) as connection, written(out) as lines, Progress("memories") as progress:
        for count, record in enumerate(export(connection, profile, vectors=vectors), 1):
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")
            if count % 1000 == 0:
                progress.update("Exporting", count, 0, None)
    typer.echo(f"Exported {count:,} {'memory' if count == 1 else 'memories'}{f' to {out}' if out else ''}.", err=True)


@contextmanager
def written(out: Path | None) -> Iterator[TextIO]:
    """Where the lines go; a file appears under its name only when it is complete."""
    if out is None:
        yield typer.get_text_stream("stdout", encoding="utf-8")
        return
    partial = out if out.exists() and not out.is_file() else out.with_name(f"{out.name}.part")
    try:
        with partial.open("w", encoding="utf-8") as lines:
            yield lines
        if partial != out:
            partial.replace(out)
    except OSError as error:
        raise typer.BadParameter(f"{out} cannot be written: {error.strerror}.") from error
