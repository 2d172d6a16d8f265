"""`pgfuse migrate`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from pgfuse.cli.database import DatabaseUrl, Json, database

if TYPE_CHECKING:
    from pgfuse.migrate import Status

Dim = Annotated[int | None, typer.Option(help="Dimension of the vectors of a new database, 1 to 4000.  [default: 256]")]
Model = Annotated[str | None, typer.Option(help="Embedding model of a new database.  [default: wordllama]")]
Sql = Annotated[bool, typer.Option("--sql", help="Print the SQL and touch no database.")]
Revision = Annotated[str | None, typer.Option(help="Stop at this revision, as in pgfuse_0001.")]
Downgrade = Annotated[str | None, typer.Option(help="Go back to this revision; `base` removes pgfuse.")]


def command(
    database_url: DatabaseUrl = None,
    dim: Dim = None,
    model: Model = None,
    sql: Sql = False,
    revision: Revision = None,
    downgrade: Downgrade = None,
    as_json: Json = False,
) -> None:
    """Bring a database to this version's schema. Safe to run at any time, and by several at once."""
    from pgfuse import migrate

    migrate.Space(dim, model)  # refused before a server is started for it
    if downgrade is not None and (sql or revision or dim or model):
        raise typer.BadParameter("--downgrade goes with none of --sql, --revision, --dim and --model.")
    if sql:
        typer.echo(migrate.offline_sql(dim=dim, model=model, revision=revision or migrate.HEAD), nl=False)
        return
    with database(database_url) as url:
        before = migrate.status(url)
        if downgrade is None:
            migrate.upgrade(url, dim=dim, model=model, revision=revision or migrate.HEAD)
        else:
            migrate.downgrade(url, revision=migrate.BASE if downgrade == "base" else downgrade)
        after = migrate.status(url)
    if as_json:
        typer.echo(json.dumps({"before": asdict(before), "after": asdict(after)}))
    else:
        typer.echo(sentence(before, after))


def sentence(before: Status, after: Status) -> str:
    """What the command did."""
    if after.version is None:
        return "Removed pgfuse from the database." if before.version else "The database holds nothing of pgfuse's."
    space = f"vectors of {after.model} with {after.dim} dimensions"
    if before.version == after.version:
        return f"Already at schema version {after.version}: {space}. Nothing to do."
    return f"Migrated to schema version {after.version}: {space}."
