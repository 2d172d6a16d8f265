"""Which database a command works on: the one named, else an embedded server of pgfuse's own."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Annotated

import psycopg
import typer

from pgfuse.errors import DatabaseUnavailable

DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database-url",
        envvar="PGFUSE_DATABASE_URL",
        show_envvar=True,
        help="The database, as postgresql://user:password@host:5432/name. Default: an embedded server.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


@contextlib.contextmanager
def database(url: str | None) -> Iterator[str]:
    """The URL to work on; with none given the embedded server runs for as long as the block does."""
    if url:
        yield url.replace("postgresql+psycopg://", "postgresql://", 1)
        return
    if sys.platform == "win32":
        raise DatabaseUnavailable("The embedded server needs Linux or macOS. Pass --database-url.")
    from pgfuse import embedded

    with embedded.start(os.environ.get("PGFUSE_HOME")) as server:
        typer.echo(f"Embedded PostgreSQL, data in {server.data_dir}", err=True)
        yield server.url


@contextlib.contextmanager
def connect(url: str | None, *, autocommit: bool = False) -> Iterator[psycopg.Connection]:
    """A connection to the database; committed when the block ends well, rolled back when it does not."""
    with database(url) as address, psycopg.connect(address, autocommit=autocommit) as connection:
        yield connection
