"""`pgfuse ingest`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from pgfuse.cli.database import DatabaseUrl, Json, connect
from pgfuse.cli.notes import told_once
from pgfuse.cli.progress import Progress
from pgfuse.ingest import KEPT_FAILURES, Failure, Summary, ingest

Source = Annotated[str, typer.Argument(metavar="FILE|DIR|-", help="A JSONL file, a BEIR folder, or - for stdin.")]
Profile = Annotated[str | None, typer.Option("--profile", "-p", help="Where lines go that name no profile_id.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first line that cannot be stored.")]


def command(
    source: Source,
    profile: Profile = None,
    strict: Strict = False,
    as_json: Json = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Store every line of a JSONL file as a memory. Run it again after a kill, or any time: nothing is stored twice.

    Example: pgfuse ingest notes.jsonl --profile ada

    A line has the columns of a memory: content (or user_text and assistant_text), external_id, kind, granularity,
    session_id, project_id, position, task_tag, tags, language, memory_score, metadata, occurred_at, created_at, facets,
    embeddings, and profile_id, which goes before --profile. A line is known again by its external_id (or _id, or id);
    one without gets an id made of all it says, so that equal lines are one memory. Of lines with the same external_id
    the last one counts.

    A line with text instead of content is one of a corpus, as in a BEIR folder's corpus.jsonl: title and text are the
    content, role is metadata.speaker (a name also stands before the content; user and assistant decide the side),
    session is session_id, turn is position, time is occurred_at; conv is the profile when none is given, else a part
    of session_id. All other keys go into metadata.

    Each 1,000 lines are one transaction. A line that cannot be stored is reported by its number and left out, and the
    exit code is then 1.
    """
    shown = 0

    def report(failure: Failure) -> None:
        nonlocal shown
        shown += 1
        if shown <= KEPT_FAILURES:
            progress.note(f"Line {failure.line}: {failure.reason}")
        elif shown == KEPT_FAILURES + 1:
            progress.note("Further lines that fail are only counted.")

    with (
        opened(source) as (stream, size),
        connect(database_url, autocommit=True) as connection,
        Progress("lines") as progress,
        told_once(progress.note),
    ):
        progress.update("Ingesting", 0, 0, size)
        summary = ingest(
            connection,
            stream,
            profile_id=profile,
            strict=strict,
            progress=lambda so_far: progress.update("Ingesting", so_far.read, so_far.bytes_read, size),
            failed=report,
        )
    typer.echo(json.dumps(as_data(summary)) if as_json else sentence(summary))
    raise typer.Exit(1 if summary.failed else 0)


@contextmanager
def opened(source: str) -> Iterator[tuple[BinaryIO, int | None]]:
    """The bytes to read, and how many there are, where that is known."""
    if source == "-":
        yield typer.get_binary_stream("stdin"), None
        return
    path = Path(source)
    if path.is_dir():
        path /= "corpus.jsonl"
    try:
        with path.open("rb") as stream:
            yield stream, path.stat().st_size
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be read: {error.strerror}.") from error


def as_data(summary: Summary) -> dict[str, object]:
    """The summary for programs."""
    data = asdict(summary)
    del data["bytes_read"]
    return data | {"rows_per_second": round(summary.rows_per_second, 1)}


def sentence(summary: Summary) -> str:
    """The summary for people."""
    return (
        f"Read {summary.read:,} lines in {summary.seconds:.1f} s ({summary.rows_per_second:,.0f}/s): "
        f"{summary.new:,} new, {summary.changed:,} changed, {summary.unchanged:,} unchanged, {summary.failed:,} failed."
    )
