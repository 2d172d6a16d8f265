"""Calls as steps: each is written once as a generator of steps, and run on a sync or an async connection."""

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row

from pgfuse.connections import AsyncSource, SyncSource, async_connection, sync_connection
from pgfuse.errors import translate
from pgfuse.vectors import RealArray, RealArrayDumper

T = TypeVar("T")
Row = dict[str, Any]

ATTEMPTS = 4


@dataclass(frozen=True)
class Query:
    """A statement; the step's answer is its rows. Guarded, its failure leaves the caller's transaction usable.

    It is never prepared: the functions that it calls keep their own plans, and preparing would be a second round trip.
    """

    sql: str
    params: dict[str, Any]
    guarded: bool = False


@dataclass(frozen=True)
class Copy:
    """Rows to copy into a table."""

    sql: str
    types: Sequence[str]
    rows: Iterable[Sequence[Any]]


@dataclass(frozen=True)
class Work:
    """Work that needs no database, such as embedding; async callers run it in a thread."""

    function: Callable[[], Any]


Step = Query | Copy | Work
Steps = Generator[Step, Any, T]


def run(source: SyncSource, steps: Steps[T], *, guarded: bool = True) -> T:
    """Run steps on a connection; guarded, a failure undoes them and leaves the caller's transaction usable."""
    conn = sync_connection(source)
    try:
        with _savepoint(conn) if guarded else nullcontext():
            return _drive(conn, steps)
    except psycopg.Error as error:
        raise translate(error) or error from error


async def arun(source: AsyncSource, steps: Steps[T], *, guarded: bool = True) -> T:
    """The same as `run` on an async connection."""
    conn = await async_connection(source)
    try:
        async with _asavepoint(conn) if guarded else nullcontext():
            return await _adrive(conn, steps)
    except psycopg.Error as error:
        raise translate(error) or error from error


def run_again(source: SyncSource, make: Callable[[], Steps[T]]) -> T:
    """Run steps, again after a deadlock with another writer: the savepoint has undone them and freed their locks."""
    for _ in range(ATTEMPTS - 1):
        try:
            return run(source, make())
        except psycopg.errors.DeadlockDetected:
            continue
    return run(source, make())


async def arun_again(source: AsyncSource, make: Callable[[], Steps[T]]) -> T:
    """The same as `run_again` on an async connection."""
    for _ in range(ATTEMPTS - 1):
        try:
            return await arun(source, make())
        except psycopg.errors.DeadlockDetected:
            continue
    return await arun(source, make())


def _drive(conn: psycopg.Connection[Any], steps: Steps[T]) -> T:
    answer: Any = None
    try:
        while True:
            step = steps.send(answer)
            if isinstance(step, Query):
                with _guard(conn, step.guarded), psycopg.Cursor(conn, row_factory=dict_row) as cursor:
                    cursor.adapters.register_dumper(RealArray, RealArrayDumper)
                    answer = cursor.execute(step.sql, step.params, prepare=False, binary=True).fetchall()
            elif isinstance(step, Copy):
                with psycopg.Cursor(conn) as cursor, cursor.copy(step.sql) as copy:
                    copy.set_types(step.types)
                    for row in step.rows:
                        copy.write_row(row)
            else:
                answer = step.function()
    except StopIteration as stop:
        result: T = stop.value
        return result


async def _adrive(conn: psycopg.AsyncConnection[Any], steps: Steps[T]) -> T:
    answer: Any = None
    try:
        while True:
            step = steps.send(answer)
            if isinstance(step, Query):
                async with _aguard(conn, step.guarded), psycopg.AsyncCursor(conn, row_factory=dict_row) as cursor:
                    cursor.adapters.register_dumper(RealArray, RealArrayDumper)
                    answer = await (await cursor.execute(step.sql, step.params, prepare=False, binary=True)).fetchall()
            elif isinstance(step, Copy):
                async with psycopg.AsyncCursor(conn) as cursor, cursor.copy(step.sql) as copy:
                    copy.set_types(step.types)
                    for row in step.rows:
                        await copy.write_row(row)
            else:
                answer = await asyncio.to_thread(step.function)
    except StopIteration as stop:
        result: T = stop.value
        return result


def _owns_transaction(conn: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> bool:
    return conn.autocommit and conn.info.transaction_status == TransactionStatus.IDLE


@contextmanager
def _savepoint(conn: psycopg.Connection[Any]) -> Iterator[None]:
    # conn.transaction() would commit on an idle connection without autocommit, where the caller's transaction begins
    if _owns_transaction(conn):
        with conn.transaction():
            yield
        return
    conn.execute("SAVEPOINT pgfuse_call")
    try:
        yield
    except BaseException:
        if not conn.closed:
            conn.execute("ROLLBACK TO SAVEPOINT pgfuse_call")
            conn.execute("RELEASE SAVEPOINT pgfuse_call")
        raise
    conn.execute("RELEASE SAVEPOINT pgfuse_call")


@asynccontextmanager
async def _asavepoint(conn: psycopg.AsyncConnection[Any]) -> AsyncIterator[None]:
    if _owns_transaction(conn):
        async with conn.transaction():
            yield
        return
    await conn.execute("SAVEPOINT pgfuse_call")
    try:
        yield
    except BaseException:
        if not conn.closed:
            await conn.execute("ROLLBACK TO SAVEPOINT pgfuse_call")
            await conn.execute("RELEASE SAVEPOINT pgfuse_call")
        raise
    await conn.execute("RELEASE SAVEPOINT pgfuse_call")


def _guard(conn: psycopg.Connection[Any], wanted: bool) -> AbstractContextManager[None]:
    return _savepoint(conn) if wanted and not _owns_transaction(conn) else nullcontext()


def _aguard(conn: psycopg.AsyncConnection[Any], wanted: bool) -> AbstractAsyncContextManager[None]:
    return _asavepoint(conn) if wanted and not _owns_transaction(conn) else nullcontext()
