"""One server a run, a template database migrated once, and cheap copies of it.

The server is PGFUSE_TEST_DSN, else a container when PGFUSE_TEST_DOCKER=1 (PGFUSE_TEST_IMAGE names its image), else
the embedded one in a temporary folder. Take `conn` where a rollback will do, `db` where commits matter.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from pgfuse import embedded, migrate

DEFAULT_IMAGE = "pgvector/pgvector:pg18"
FAST = ("ALTER SYSTEM SET fsync = off", "ALTER SYSTEM SET synchronous_commit = off", "SELECT pg_reload_conf()")
numbers = itertools.count(1)


def with_database(url: str, name: str) -> str:
    """The same server's URL for another database."""
    return make_url(url).set(database=name).render_as_string(hide_password=False)


def execute(url: str, *statements: str | sql.Composed) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def container_url() -> Iterator[str]:
    from testcontainers.community.postgres import PostgresContainer

    image = os.environ.get("PGFUSE_TEST_IMAGE") or DEFAULT_IMAGE
    with PostgresContainer(image, driver=None).with_command("postgres -c fsync=off") as container:
        yield container.get_connection_url()


def embedded_url() -> Iterator[str]:
    # not in pytest's own folder: each pytest run closes that to the account that root's servers run under
    with tempfile.TemporaryDirectory(prefix="pgfuse-") as folder, embedded.start(folder) as server:
        execute(server.url, *FAST)
        yield server.url


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """The URL of the server's maintenance database, with a role that may create databases."""
    if dsn := os.environ.get("PGFUSE_TEST_DSN"):
        yield dsn
    elif os.environ.get("PGFUSE_TEST_DOCKER") == "1":
        yield from container_url()
    else:
        yield from embedded_url()


@pytest.fixture(scope="session")
def databases(server_url: str) -> Iterator[Callable[[str | None], str]]:
    """Make a database, from a template where one is named, and return its URL."""
    made: list[str] = []

    def create(template: str | None = None) -> str:
        name = f"pgfuse_test_{os.getpid()}_{next(numbers)}"
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        execute(server_url, statement.format(sql.Identifier(name), sql.Identifier(template or "template0")))
        made.append(name)
        return with_database(server_url, name)

    yield create
    for name in made if os.environ.get("PGFUSE_TEST_DSN") else ():  # other servers go with all their databases
        execute(server_url, sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def template(databases: Callable[[str | None], str]) -> str:
    """The name of a migrated database that nobody is connected to."""
    url = databases(None)
    migrate.upgrade(url)
    return str(make_url(url).database)


@pytest.fixture
def db(databases: Callable[[str | None], str], template: str) -> str:
    """The URL of a migrated database of the test's own."""
    return databases(template)


@pytest.fixture
def empty_db(databases: Callable[[str | None], str]) -> str:
    """The URL of a database without pgfuse."""
    return databases(None)


@pytest.fixture
def make_db(databases: Callable[[str | None], str]) -> Callable[..., str]:
    """Make a database migrated for another dimension or model, and return its URL."""

    def make(dim: int | None = None, model: str | None = None) -> str:
        url = databases(None)
        migrate.upgrade(url, dim=dim, model=model)
        return url

    return make


@pytest.fixture(scope="session")
def shared_db(databases: Callable[[str | None], str], template: str) -> str:
    """The URL of the migrated database that `conn` connects to; nothing may be committed in it."""
    return databases(template)


@pytest.fixture
def conn(shared_db: str) -> Iterator[psycopg.Connection]:
    """A connection in a transaction that is rolled back after the test."""
    with psycopg.connect(shared_db) as connection:
        yield connection
        connection.rollback()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests (`@pytest.mark.anyio`) run on asyncio, which psycopg needs."""
    return "asyncio"
