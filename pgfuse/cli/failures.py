"""Errors in words: what went wrong, and the next step."""

from __future__ import annotations

import psycopg
from psycopg import errors as pg

from pgfuse.errors import PgfuseError, translate

NEXT_STEP: dict[type[Exception], str] = {
    pg.InvalidPassword: "Check the user and password in the URL.",
    pg.InvalidAuthorizationSpecification: "Check the user in the URL, and that the server's pg_hba.conf lets it in.",
    pg.InvalidCatalogName: "Create the database first, for example with createdb, or check its name in the URL.",
    pg.InsufficientPrivilege: (
        "Use a role that may create schemas in this database (GRANT CREATE ON DATABASE name TO role), and have "
        "a superuser run CREATE EXTENSION vector and CREATE EXTENSION btree_gin where the role may not."
    ),
    pg.DependentObjectsStillExist: "Drop the objects of yours that are named there first; nothing was changed.",
    pg.LockNotAvailable: "Another transaction holds the lock; try again when it has ended.",
    pg.QueryCanceled: "Raise statement_timeout for this role, or try again when the server is less busy.",
    pg.DiskFull: "Make room on the server's disk and try again; nothing was half written.",
    pg.ReadOnlySqlTransaction: "This server is a read-only standby; name the primary in the URL.",
}
NO_VECTOR = (
    "Install pgvector 0.8.0 or later on the server (the image pgvector/pgvector:pg18 has it, "
    "and so has the embedded server of pip install 'pgfuse[embedded]'), then run the command again."
)
NO_SERVER = (
    "Start the server, or correct the host and port in the URL. Without --database-url and PGFUSE_DATABASE_URL pgfuse "
    "uses an embedded server of its own."
)
CHECK_URL = "Check host, port, user, password and database in the URL, as in postgresql://user:password@host:5432/name."
WHEN_CONNECTING = {  # libpq gives no SQLSTATE for a connection that was refused
    "password authentication failed": "Check the user and password in the URL.",
    "no password supplied": "Put the password in the URL, in PGPASSWORD or in ~/.pgpass.",
    "does not exist": "Create that database or role first, or correct its name in the URL.",
    "Connection refused": NO_SERVER,
    "No such file or directory": NO_SERVER,
    "timeout expired": NO_SERVER,
    "failed to resolve host": NO_SERVER,
    "too many clients": "Close other connections, or raise max_connections on the server.",
}


def in_words(error: BaseException) -> str | None:
    """One paragraph for an error that a user can do something about; None for one that is a fault of pgfuse's."""
    original = getattr(error, "orig", None) or error  # SQLAlchemy wraps what psycopg raised
    if isinstance(original, psycopg.Error):
        original = translate(original) or original
    if isinstance(original, PgfuseError):
        return _paragraph(str(original))
    return _database_error(original) if isinstance(original, psycopg.Error) else None


def _database_error(error: psycopg.Error) -> str | None:
    said = error.diag.message_primary or str(error)
    if "extension" in said and "vector" in said and isinstance(error, pg.FeatureNotSupported | pg.UndefinedFile):
        return _paragraph(said, NO_VECTOR)
    for kind, step in NEXT_STEP.items():
        if isinstance(error, kind):
            return _paragraph(said, step)
    if error.sqlstate is None and isinstance(error, psycopg.OperationalError | psycopg.ProgrammingError):
        steps = (step for part, step in WHEN_CONNECTING.items() if part in said)
        return _paragraph(said, next(steps, CHECK_URL))
    return None


def _paragraph(said: str, step: str = "") -> str:
    said = " ".join(said.split())
    stop = "" if said.endswith((".", "?")) else "."
    return f"{said}{stop} {step}" if step else said
