"""Where judged queries come from: the options of `eval` and `tune`, and how they are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgfuse.cli.notes import told_once
from pgfuse.cli.progress import Progress

if TYPE_CHECKING:
    from pgfuse.evaluate.preparation import Prepared, Source

Folder = Annotated[
    Path | None, typer.Argument(metavar="DIR", help="A folder with corpus.jsonl, queries.jsonl and qrels.tsv.")
]
Vectors = Annotated[
    str | None, typer.Option(help="Use DIR's own vectors: corpus.NAME.npy and queries.NAME.npy.", metavar="NAME")
]
Model = Annotated[str | None, typer.Option(help="Embed DIR with this model.  [default: wordllama]")]
ProfileKey = Annotated[
    str | None,
    typer.Option(help="The field of DIR's lines that tells profiles apart.  [default: conv, where all lines have it]"),
]
Exclude = Annotated[
    list[str] | None, typer.Option("--exclude-category", help="Leave out DIR's queries of this category; repeatable.")
]


def read_source(
    folder: Path | None, vectors: str | None, model: str | None, profile_key: str | None, exclude: list[str] | None
) -> Source | None:
    """The folder to read, or None where none is given."""
    from pgfuse.evaluate.preparation import Source

    if folder is None:
        if vectors or model or profile_key or exclude:
            raise typer.BadParameter("--vectors, --model, --profile-key and --exclude-category go with a folder.")
        return None
    if vectors and model:
        raise typer.BadParameter("Give --vectors or --model, not both.")
    options = {"model": model} if model else {}
    return Source(folder, vectors, profile_key=profile_key, exclude=tuple(exclude or ()), **options)


@contextmanager
def progress() -> Iterator[Progress]:
    """How far the work has come, with the library's warnings told once."""
    with Progress("queries") as shown, told_once(shown.note):
        yield shown


def prepare(address: str, source: Source, shown: Progress) -> Prepared:
    """The questions of a folder, which is stored in the scratch database beside the one named."""
    from pgfuse.evaluate import preparation

    return preparation.prepare(address, source, lambda done, total: shown.update("Storing the folder", 0, done, total))
