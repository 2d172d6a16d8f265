"""From what callers have (psycopg or SQLAlchemy) to a psycopg connection."""

from typing import TYPE_CHECKING, Any, TypeAlias

import psycopg

from pgfuse.errors import InvalidInput

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
    from sqlalchemy.orm import Session

SyncSource: TypeAlias = "psycopg.Connection[Any] | Connection | Session"
AsyncSource: TypeAlias = "psycopg.AsyncConnection[Any] | AsyncConnection | AsyncSession"


def sync_connection(source: SyncSource) -> psycopg.Connection[Any]:
    """The psycopg connection under a psycopg or SQLAlchemy connection or session."""
    if isinstance(source, psycopg.Connection):
        return source
    bound: Any = source
    if hasattr(bound, "get_bind"):
        bound = bound.connection()
    if hasattr(bound, "in_transaction") and not bound.in_transaction():
        # SQLAlchemy begins on first use; it must know of the transaction that it is to commit
        bound.begin()
    driver = getattr(getattr(bound, "connection", None), "driver_connection", None)
    if isinstance(driver, psycopg.Connection):
        return driver
    raise InvalidInput(
        f"conn is a {type(source).__name__}; it must be a psycopg.Connection, or a SQLAlchemy Connection or Session "
        "on psycopg (postgresql+psycopg://). For async connections use the functions that begin with a: arecall …"
    )


async def async_connection(source: AsyncSource) -> psycopg.AsyncConnection[Any]:
    """The psycopg connection under an async psycopg or SQLAlchemy connection or session."""
    if isinstance(source, psycopg.AsyncConnection):
        return source
    if hasattr(source, "sync_session"):
        source = await source.connection()
    if hasattr(source, "get_raw_connection"):
        if not source.in_transaction():
            await source.begin()
        driver = (await source.get_raw_connection()).driver_connection
        if isinstance(driver, psycopg.AsyncConnection):
            return driver
    raise InvalidInput(
        f"conn is a {type(source).__name__}; it must be a psycopg.AsyncConnection, or a SQLAlchemy AsyncConnection or "
        "AsyncSession on psycopg. For ordinary connections use the functions without the a, such as pgfuse.recall."
    )


def database_key(conn: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> tuple[str, int, str]:
    """What tells one database from another in this process."""
    return conn.info.host, conn.info.port, conn.info.dbname
