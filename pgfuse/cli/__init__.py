"""The command line: the only room that prints, reads the environment or exits."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from pgfuse.cli import bench, demo, doctor, export, forget, ingest, migrate, recall, reembed, serve_db, settings, tune
from pgfuse.cli import eval as evaluate
from pgfuse.cli.failures import in_words


class Commands(TyperGroup):
    """All commands; an error that a user can act on is told in a paragraph and ends with exit code 1."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            said = in_words(error)
            if said is None:
                raise
            typer.secho(f"Error: {said}", err=True, fg="red")
            raise typer.Exit(1) from error


app = typer.Typer(
    name="pgfuse",
    cls=Commands,
    help="Hybrid retrieval inside PostgreSQL.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.command)
app.command("migrate")(migrate.command)
app.command("ingest")(ingest.command)
app.command("recall")(recall.command)
app.command("forget")(forget.command)
app.command("export")(export.command)
app.command("reembed")(reembed.command)
app.add_typer(settings.app, name="settings")
app.command("eval")(evaluate.command)
app.command("tune")(tune.command)
app.command("bench")(bench.command)
app.command("doctor")(doctor.command)
app.command("serve-db")(serve_db.command)


def main() -> None:
    """The `pgfuse` script."""
    app()
