"""`pgfuse forget`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

import pgfuse
from pgfuse.cli.database import DatabaseUrl, Json, connect
from pgfuse.cli.options import Profile

Id = Annotated[list[int] | None, typer.Option("--id", help="A memory by its id; may be repeated.")]
ExternalId = Annotated[list[str] | None, typer.Option("--external-id", help="A memory by your key; may be repeated.")]
Session = Annotated[list[str] | None, typer.Option("--session", help="Every memory of a session; may be repeated.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count what would be removed.")]

MATCHING = """
SELECT count(*) FROM pgfuse.memories m
WHERE m.profile_id = %(profile_id)s
    AND (m.id = ANY (%(ids)s) OR m.external_id = ANY (%(external_ids)s) OR m.session_id = ANY (%(session_ids)s))
"""


def command(
    profile: Profile,
    id_: Id = None,
    external_id: ExternalId = None,
    session: Session = None,
    dry_run: DryRun = False,
    as_json: Json = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Remove memories of a profile, with their vectors and words. Asks nothing: try --dry-run first.

    Example: pgfuse forget --profile ada --session 2026-01-31 --dry-run
    """
    if not (id_ or external_id or session):
        raise typer.BadParameter("Say what to forget, with --id, --external-id or --session.")
    wanted = {"ids": id_ or None, "external_ids": external_id or None, "session_ids": session or None}
    with connect(database_url) as connection:
        if dry_run:
            pgfuse.get_settings(connection, profile)  # SchemaMismatch in words where there is nothing to count
            row = connection.execute(MATCHING, {"profile_id": profile, **wanted}).fetchone()
            count = row[0] if row else 0
        else:
            count = pgfuse.forget(connection, profile, ids=id_, external_ids=external_id, session_ids=session)
    if as_json:
        typer.echo(json.dumps({"profile_id": profile, "removed": 0 if dry_run else count, "matching": count}))
    else:
        typer.echo(f"{'Would forget' if dry_run else 'Forgot'} {count:,} {'memory' if count == 1 else 'memories'}.")
