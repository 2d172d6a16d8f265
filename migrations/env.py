"""Runs the migrations online, or prints them (`--sql`); the URL comes from `-x url=`, a program or the environment."""

import os
from typing import Any

import sqlalchemy as sa
from alembic import context

from pgfuse.revisions import LOCK, confirm_space, requested_space

URL_VARIABLE = "PGFUSE_DATABASE_URL"
SCHEMA = "CREATE SCHEMA IF NOT EXISTS pgfuse"
SETTINGS: dict[str, Any] = {"version_table_schema": "pgfuse", "target_metadata": None}


def database_url() -> sa.URL:
    given = context.get_x_argument(as_dictionary=True).get("url") or context.config.attributes.get("url")
    text = given or os.environ.get(URL_VARIABLE)
    if not text:
        raise SystemExit(f"No database was named: pass -x url=postgresql://..., or set {URL_VARIABLE}.")
    url = sa.make_url(text)
    return url.set(drivername="postgresql+psycopg") if url.drivername in ("postgresql", "postgres") else url


def migrate() -> None:
    """The lock comes before the version is read, so that migrators at the same time do not repeat each other's work."""
    with context.begin_transaction():
        context.execute(LOCK)
        context.execute(SCHEMA)
        context.run_migrations()
        if not context.is_offline_mode():
            confirm_space(context.get_bind())


def migrate_offline() -> None:
    # With its own parameter style psycopg would have each percent sign of the SQL doubled.
    context.configure(dialect_name="postgresql", dialect_opts={"paramstyle": "named"}, literal_binds=True, **SETTINGS)
    migrate()


def migrate_online() -> None:
    engine = sa.create_engine(database_url(), poolclass=sa.NullPool)
    with engine.connect() as connection:
        context.configure(connection=connection, **SETTINGS)
        migrate()


requested_space()
if context.is_offline_mode():
    migrate_offline()
else:
    migrate_online()
