"""The errors pgfuse raises, and how a SQLSTATE becomes one of them."""

from typing import ClassVar

import psycopg


class PgfuseError(Exception):
    """Something that pgfuse was asked to do could not be done."""

    sqlstate: ClassVar[str | None] = None


class InvalidInput(PgfuseError, ValueError):
    """An argument is not usable; the message says which, what was given and what is allowed."""

    sqlstate = "PF001"


class InvalidSettings(PgfuseError, ValueError):
    """A setting is unknown, of the wrong type or out of range."""

    sqlstate = "PF002"


class EmbeddingMismatch(PgfuseError):
    """A vector has the wrong dimension, or comes from another model than the stored ones."""

    sqlstate = "PF003"


class SchemaMismatch(PgfuseError):
    """The database is not migrated, or is older or newer than this package."""

    sqlstate = "PF004"


class EmbedderError(PgfuseError):
    """An embedding model or its server failed."""


class DatabaseUnavailable(PgfuseError):
    """No database could be reached or started."""


BY_SQLSTATE = {
    kind.sqlstate: kind for kind in (InvalidInput, InvalidSettings, EmbeddingMismatch, SchemaMismatch) if kind.sqlstate
}

NOT_MIGRATED = "The schema pgfuse is missing or incomplete in this database: run `pgfuse migrate` and try again."
MISSING_OBJECT = {"3F000", "42883", "42P01", "42704", "42703"}


def from_sqlstate(sqlstate: str | None, message: str, hint: str | None = None) -> PgfuseError | None:
    """The pgfuse error for a SQLSTATE, or None when it is not ours to translate."""
    if sqlstate in BY_SQLSTATE:
        return BY_SQLSTATE[sqlstate](f"{message} {hint}" if hint else message)
    if sqlstate in MISSING_OBJECT and "pgfuse" in message and "text search" not in message:
        return SchemaMismatch(f"{NOT_MIGRATED} ({message})")
    return None


def translate(error: psycopg.Error) -> PgfuseError | None:
    """The pgfuse error that a psycopg error stands for, or None."""
    return from_sqlstate(error.sqlstate, error.diag.message_primary or str(error), error.diag.message_hint)
