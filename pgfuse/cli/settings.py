"""`pgfuse settings`."""

from __future__ import annotations

import json
from typing import Annotated, Any

import psycopg
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import pgfuse
from pgfuse.cli.database import DatabaseUrl, Json, connect
from pgfuse.cli.options import read_settings

app = typer.Typer(
    help="Read and change how a profile is searched; every change is kept and can be rolled back.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Profile = Annotated[str | None, typer.Option("--profile", "-p", help="The profile whose settings are meant.")]
Default = Annotated[bool, typer.Option("--database-default", help="The database's own settings, for all profiles.")]
Changes = Annotated[list[str], typer.Argument(help="name=value …; null takes a setting back, preset=… starts afresh.")]
Version = Annotated[int | None, typer.Option(min=0, help="The version to go back to.  [default: the one before]")]

Settings = dict[str, Any]


def meant(profile: str | None, database_default: bool) -> str | None:
    """Whose settings: a profile's name, or None for the database's."""
    if (profile is None) != database_default:
        raise typer.BadParameter("Give either --profile or --database-default.")
    if profile == "":
        raise typer.BadParameter("--profile is empty.")
    return profile


@app.command("get")
def get(
    profile: Profile = None, database_default: Default = False, as_json: Json = False, database_url: DatabaseUrl = None
) -> None:
    """Show the settings in force, and where each comes from.

    Example: pgfuse settings get --profile ada
    """
    target = meant(profile, database_default)
    with connect(database_url) as connection:
        settings = pgfuse.get_settings(connection, target)
        origins = layers(connection, target)
    show(settings, origins, as_json=as_json)


@app.command("set")
def set_(
    changes: Changes,
    profile: Profile = None,
    database_default: Default = False,
    as_json: Json = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Change settings; they count from the next call on.

    Example: pgfuse settings set fusion=rrf weights.lexical=0.5 --profile ada
    """
    target, wanted = meant(profile, database_default), read_settings(changes)
    with connect(database_url) as connection:
        settings = pgfuse.set_settings(connection, target, **wanted)
        origins = layers(connection, target)
    show(settings, origins, as_json=as_json)


@app.command("history")
def history(
    profile: Profile = None, database_default: Default = False, as_json: Json = False, database_url: DatabaseUrl = None
) -> None:
    """Show every version of the settings, with its time and who made it.

    Example: pgfuse settings history --profile ada
    """
    target = meant(profile, database_default)
    with connect(database_url) as connection:
        versions = pgfuse.settings_history(connection, target)
    if as_json:
        typer.echo(json.dumps([version | {"changed_at": version["changed_at"].isoformat()} for version in versions]))
    elif versions:
        Console().print(history_table(versions))
    else:
        typer.echo("There are no settings of its own; those of the database or the built-in ones are in force.")


@app.command("rollback")
def rollback(
    version: Version = None,
    profile: Profile = None,
    database_default: Default = False,
    as_json: Json = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Go back to an earlier version; 0 is none of its own. The rollback is itself a new version.

    Example: pgfuse settings rollback --version 1 --profile ada
    """
    target = meant(profile, database_default)
    with connect(database_url) as connection:
        settings = pgfuse.rollback_settings(connection, target, version)
        origins = layers(connection, target)
    show(settings, origins, as_json=as_json)


def layers(connection: psycopg.Connection, target: str | None) -> list[tuple[str, Settings]]:
    """The layers that settings come from, nearest first."""
    owners = [("profile", target)] if target else []
    found = []
    for name, owner in [*owners, ("database", None)]:
        versions = pgfuse.settings_history(connection, owner)
        found.append((name, versions[-1]["settings"] if versions else {}))
    return found


def origin(name: str, origins: list[tuple[str, Settings]]) -> str:
    """The nearest layer that has a setting, or its preset."""
    for layer, settings in origins:
        if name in settings:
            return layer
        if "preset" in settings:
            return f"{layer}: {settings['preset']}"
    return "built in"


def show(settings: Settings, origins: list[tuple[str, Settings]], *, as_json: bool) -> None:
    """The settings, one a line."""
    if as_json:
        typer.echo(json.dumps(settings))
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("setting", "value", "from"):
        table.add_column(heading)
    for name, value in sorted(settings.items()):
        if name != "weights":
            table.add_row(name, Text(plain(value)), origin(name, origins))
    inner = [(layer, weights_of(own)) for layer, own in origins]
    for route, weight in sorted(settings["weights"].items(), key=lambda item: (-item[1], item[0])):
        table.add_row(f"weights.{route}", Text(plain(weight)), origin(route, inner))
    Console().print(table)


def weights_of(own: Settings) -> Settings:
    """The weights that a layer sets, by itself or through its preset."""
    preset = {"preset": own["preset"]} if "preset" in own else {}
    return {**preset, **own.get("weights", {})}


def history_table(versions: list[dict[str, Any]]) -> Table:
    """Versions, oldest first."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("version", "time", "by", "settings"):
        table.add_column(heading)
    for version in versions:
        when = f"{version['changed_at']:%Y-%m-%d %H:%M:%S}"
        table.add_row(str(version["version"]), when, Text(version["changed_by"]), Text(plain(version["settings"])))
    return table


def plain(value: Any) -> str:
    """A value as it would be written on the command line."""
    return value if isinstance(value, str) else json.dumps(value)
