"""A host application that runs our revisions in its own Alembic history, with its own `env.py`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from pgfuse import migrate

Fingerprint = Callable[[str], list[str]]

INI = """
[alembic]
script_location = {host}
path_separator = newline
version_locations =
    {host}/versions
    {ours}
sqlalchemy.url = {url}
"""
SYNC_ENV = """
import sqlalchemy as sa
from alembic import context

engine = sa.create_engine(context.config.get_main_option("sqlalchemy.url"), poolclass=sa.NullPool)
with engine.connect() as connection:
    context.configure(connection=connection, target_metadata=None)
    with context.begin_transaction():
        context.run_migrations()
"""
ASYNC_ENV = """
import asyncio
import sqlalchemy as sa
from alembic import context
from sqlalchemy.ext.asyncio import create_async_engine

def migrate(connection):
    context.configure(connection=connection, target_metadata=None)
    with context.begin_transaction():
        context.run_migrations()

async def main():
    engine = create_async_engine(context.config.get_main_option("sqlalchemy.url"), poolclass=sa.NullPool)
    async with engine.connect() as connection:
        await connection.run_sync(migrate)
    await engine.dispose()

asyncio.run(main())
"""
REVISION = """
from alembic import op

revision = "host_0001"
down_revision = None
branch_labels = ("host",)
depends_on = "pgfuse_0001"

def upgrade():
    op.execute("CREATE TABLE notes (id int)")

def downgrade():
    op.execute("DROP TABLE notes")
"""


def make_host(folder: Path, *, url: str, driver: str, env: str) -> None:
    (folder / "host" / "versions").mkdir(parents=True)
    (folder / "host" / "env.py").write_text(env)
    (folder / "host" / "versions" / "host_0001.py").write_text(REVISION)
    address = make_url(url).set(drivername=driver).render_as_string(hide_password=False).replace("%", "%%")
    places = {"host": folder / "host", "ours": migrate.resource("migrations") / "versions"}
    (folder / "alembic.ini").write_text(INI.format(url=address, **places))


def alembic(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "alembic", *arguments]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("driver", "env"), [("postgresql+psycopg", SYNC_ENV), ("postgresql+asyncpg", ASYNC_ENV)])
def test_a_host_history(
    tmp_path: Path, empty_db: str, db: str, fingerprint: Fingerprint, driver: str, env: str
) -> None:
    make_host(tmp_path, url=empty_db, driver=driver, env=env)
    alembic(tmp_path, "upgrade", "heads")
    assert fingerprint(empty_db) == fingerprint(db)
    with psycopg.connect(empty_db) as connection:
        versions = connection.execute("SELECT version_num FROM public.alembic_version ORDER BY 1").fetchall()
        assert ("host_0001",) in versions
        assert connection.execute("SELECT to_regclass('public.notes') IS NOT NULL").fetchone() == (True,)
    alembic(tmp_path, "downgrade", "base")
    with psycopg.connect(empty_db) as connection:
        left = "SELECT to_regnamespace('pgfuse'), to_regclass('public.notes')"
        assert connection.execute(left).fetchone() == (None, None)


def test_a_host_chooses_the_space(tmp_path: Path, empty_db: str) -> None:
    make_host(tmp_path, url=empty_db, driver="postgresql+psycopg", env=SYNC_ENV)
    alembic(tmp_path, "-x", "dim=768", "-x", "model=mine", "upgrade", "heads")
    assert migrate.status(empty_db) == migrate.Status(1, "mine", 768)
