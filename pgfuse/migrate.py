"""Bring a database to this package's schema, take it back, or print the SQL that would."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from alembic import command
from alembic.config import Config
from alembic.util import CommandError

from pgfuse.errors import InvalidInput, SchemaMismatch
from pgfuse.revisions import Space

__all__ = ["BASE", "HEAD", "Space", "Status", "downgrade", "offline_sql", "resource", "status", "upgrade"]

HEAD = "pgfuse@head"
BASE = "pgfuse@base"


@dataclass(frozen=True)
class Status:
    """The schema version a database has (none before the first migration), and the vectors it was made for."""

    version: int | None = None
    model: str | None = None
    dim: int | None = None


def status(url: str) -> Status:
    """What a database is migrated to."""
    with psycopg.connect(url) as connection:
        migrated = "SELECT to_regproc('pgfuse.schema_version'), to_regclass('pgfuse.spaces')"
        found = connection.execute(migrated).fetchone()
        if found is None or None in found:
            return Status()
        query = "SELECT pgfuse.schema_version(), model, dim FROM (SELECT) AS one LEFT JOIN pgfuse.spaces ON active"
        row = connection.execute(query).fetchone()
        return Status(*row) if row else Status()


def upgrade(url: str, *, dim: int | None = None, model: str | None = None, revision: str = HEAD) -> None:
    """Migrate the database; a new one is made for vectors of `model` with `dim` dimensions (wordllama and 256)."""
    with _in_words(revision):
        command.upgrade(_config(url=url, pgfuse=_space(dim, model)), revision)


def downgrade(url: str, *, revision: str = BASE) -> None:
    """Take the database back to a revision; the default drops everything of pgfuse's and nothing else."""
    with _in_words(revision):
        command.downgrade(_config(url=url), revision)


def offline_sql(*, dim: int | None = None, model: str | None = None, revision: str = HEAD) -> str:
    """The SQL of an upgrade from nothing, for databases that programs may not migrate."""
    output = io.StringIO()
    with _in_words(revision):
        command.upgrade(_config(output, pgfuse=_space(dim, model)), revision, sql=True)
    return output.getvalue()


def resource(name: str) -> Path:
    """The folder `migrations` or `sql`: inside the package when installed, beside it in a checkout."""
    package = Path(__file__).resolve().parent
    inside = package / name
    return inside if inside.is_dir() else package.parent / name


@contextlib.contextmanager
def _in_words(revision: str) -> Iterator[None]:
    """Alembic's complaint about a revision, as an error of ours with the next step."""
    try:
        yield
    except CommandError as error:
        if revision in (HEAD, BASE):
            raise SchemaMismatch(
                f"The database is at a revision that this package does not have ({error}). "
                "Install the newer pgfuse that migrated it."
            ) from error
        raise InvalidInput(f"The revision {revision} cannot be used: {error}. `alembic history` lists them.") from error


def _space(dim: int | None, model: str | None) -> dict[str, Any]:
    space = Space(dim, model)
    return {"dim": space.dim, "model": space.model}


def _config(output: io.StringIO | None = None, **attributes: Any) -> Config:
    config = Config(output_buffer=output, attributes=attributes)
    config.set_main_option("script_location", str(resource("migrations")).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    return config
