"""The caller owns its connection: transactions, settings, row factories and errors are as they were."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row, namedtuple_row, scalar_row, tuple_row
from sqlalchemy import create_engine, text
from sqlalchemy.exc import PendingRollbackError
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

import pgfuse
from pgfuse import migrate
from tests.oracle.corpus import Doc, insert

pytest_plugins = ("tests.sql.fixtures",)
Connection = psycopg.Connection[Any]
QUERY = [1, 0, 0]
REFUSED: dict[str, Callable[[Connection], object]] = {
    "dimension": lambda conn: pgfuse.recall(conn, "x", "p", embedding=[1]),
    "too many dimensions": lambda conn: pgfuse.recall(conn, "x", "p", embedding=[1] * 20000),
    "zeros": lambda conn: pgfuse.recall(conn, "x", "p", embedding=[0, 0, 0]),
    "setting": lambda conn: pgfuse.recall(conn, "x", "p", embedding=QUERY, settings={"rrf_k": 0}),
    "filter": lambda conn: pgfuse.recall(conn, "x", "p", embedding=QUERY, since="soon"),
    "stored setting": lambda conn: pgfuse.set_settings(conn, "p", rrf_k=0),
    "rollback": lambda conn: pgfuse.rollback_settings(conn, "p", 99),
    "why_not": lambda conn: pgfuse.why_not(conn, "x", "p", 1, embedding=[1]),
    "remember": lambda conn: pgfuse.remember(conn, "p", [{"content": ""}]),
}


@pytest.fixture
def filled(make_db: Callable[..., str]) -> str:
    url = make_db(dim=3, model="the-callers-own")
    with psycopg.connect(url) as conn:
        insert(conn, [Doc(id=1, content="apple", vectors={"vec_full": QUERY})])
    return url


def sqlalchemy_url(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://")


def status(conn: Connection) -> TransactionStatus:
    return conn.info.transaction_status


@pytest.mark.parametrize("call", REFUSED)
@pytest.mark.parametrize("known", [False, True])
def test_a_refused_call_leaves_the_transaction_usable(call: str, known: bool, small: Connection) -> None:
    if known:
        pgfuse.recall(small, "x", "p", embedding=QUERY)
    insert(small, [Doc(id=1, content="apple")])
    with pytest.raises(pgfuse.PgfuseError):
        REFUSED[call](small)
    assert status(small) == TransactionStatus.INTRANS
    assert small.execute("SELECT count(*) FROM pgfuse.memories").fetchone() == (1,)


@pytest.mark.parametrize("call", REFUSED)
def test_with_autocommit_no_transaction_is_left_open(call: str, small_url: str) -> None:
    with psycopg.connect(small_url, autocommit=True) as conn:
        with pytest.raises(pgfuse.PgfuseError):
            REFUSED[call](conn)
        assert status(conn) == TransactionStatus.IDLE
        pgfuse.recall(conn, "x", "p", embedding=QUERY)
        assert status(conn) == TransactionStatus.IDLE


def test_inside_a_savepoint_of_the_callers(small: Connection) -> None:
    small.execute("SELECT 1")
    with small.transaction():
        insert(small, [Doc(id=1, content="apple")])
        with small.transaction():
            insert(small, [Doc(id=2, content="apple")])
            with pytest.raises(pgfuse.InvalidSettings):
                pgfuse.recall(small, "apple", "p", embedding=QUERY, settings={"nope": 1})
            assert len(pgfuse.recall(small, "apple", "p", embedding=QUERY)) == 2
        assert len(pgfuse.recall(small, "apple", "p", embedding=QUERY)) == 2


def test_nothing_is_committed_behind_the_callers_back(filled: str) -> None:
    with psycopg.connect(filled) as conn, psycopg.connect(filled, autocommit=True) as other:
        insert(conn, [Doc(id=2, content="apple")])
        pgfuse.recall(conn, "apple", "p", embedding=QUERY)
        pgfuse.set_settings(conn, "p", rrf_k=7)
        pgfuse.why_not(conn, "apple", "p", 1, embedding=QUERY)
        with pytest.raises(pgfuse.PgfuseError):
            pgfuse.recall(conn, "apple", "p", embedding=[1])
        assert len(pgfuse.recall(other, "apple", "p", embedding=QUERY)) == 1
        assert pgfuse.get_settings(other, "p")["rrf_k"] == 60
        conn.rollback()
        assert len(pgfuse.recall(conn, "apple", "p", embedding=QUERY)) == 1


def test_an_aborted_transaction_is_told_as_such(small: Connection) -> None:
    with pytest.raises(psycopg.Error):
        small.execute("SELECT 1 / 0")
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        pgfuse.recall(small, "apple", "p", embedding=QUERY)
    small.rollback()
    assert len(pgfuse.recall(small, "apple", "p", embedding=QUERY)) == 0


def test_a_cancelled_recall_leaves_the_transaction_usable(small: Connection) -> None:
    pgfuse.recall(small, "apple", "p", embedding=QUERY)
    insert(small, [Doc(id=n, content="apple " * 50) for n in range(200)])
    small.execute("SET LOCAL statement_timeout = '1ms'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        pgfuse.recall(small, "apple pear " * 9000, "p", embedding=QUERY)
    small.execute("SET LOCAL statement_timeout = 0")
    assert small.execute("SELECT count(*) FROM pgfuse.memories").fetchone() == (200,)


def test_a_read_only_transaction_will_do(filled: str) -> None:
    with psycopg.connect(filled) as conn:
        conn.read_only = True
        assert len(pgfuse.recall(conn, "apple", "p", embedding=QUERY, preset="memory")) == 1
        assert pgfuse.why_not(conn, "apple", "p", 1, embedding=QUERY)["found"]
        assert pgfuse.get_settings(conn, "p")


@pytest.mark.parametrize("level", list(psycopg.IsolationLevel))
def test_any_isolation_level_will_do(level: psycopg.IsolationLevel, filled: str) -> None:
    with psycopg.connect(filled) as conn:
        conn.isolation_level = level
        assert len(pgfuse.recall(conn, "apple", "p", embedding=QUERY)) == 1


SHOWN = "SELECT name, setting FROM pg_settings WHERE name <> 'transaction_isolation' ORDER BY name"


@pytest.mark.parametrize("autocommit", [True, False])
def test_session_settings_are_what_they_were(autocommit: bool, small_url: str) -> None:
    with psycopg.connect(small_url, autocommit=autocommit) as conn:
        pgfuse.recall(conn, "apple", "p", embedding=QUERY)
        for name, value in {
            "hnsw.ef_search": "33",
            "hnsw.iterative_scan": "strict_order",
            "enable_sort": "off",
            "search_path": "pg_catalog, public",
        }.items():
            conn.execute("SELECT set_config(%s, %s, false)", [name, value])
        before = conn.execute(SHOWN).fetchall()
        pgfuse.recall(conn, "apple", "p", embedding=QUERY, preset="memory")
        assert conn.execute(SHOWN).fetchall() == before
        with pytest.raises(pgfuse.PgfuseError):
            pgfuse.recall(conn, "apple", "p", embedding=[1])
        assert conn.execute(SHOWN).fetchall() == before


@pytest.mark.parametrize("factory", [tuple_row, dict_row, namedtuple_row, scalar_row])
def test_any_row_factory_and_cursor_of_the_callers(factory: Any, filled: str) -> None:
    for cursor in (psycopg.Cursor, psycopg.ClientCursor, psycopg.RawCursor):
        with psycopg.connect(filled, row_factory=factory, cursor_factory=cursor) as conn:
            assert [hit.content for hit in pgfuse.recall(conn, "apple", "p", embedding=QUERY)] == ["apple"]
            assert pgfuse.get_settings(conn, "p")["rrf_k"] == 60
            assert conn.row_factory is factory


def test_a_search_path_of_the_callers(filled: str) -> None:
    with psycopg.connect(filled) as conn:
        conn.execute("SET search_path = ''")
        assert len(pgfuse.recall(conn, "apple", "p", embedding=QUERY)) == 1
        assert len(pgfuse.recall(conn, "apple", "p")) == 1


def test_a_dead_connection_is_told_as_such(filled: str) -> None:
    with psycopg.connect(filled, autocommit=True) as conn, psycopg.connect(filled, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [conn.info.backend_pid])
        with pytest.raises(psycopg.OperationalError, match="terminat|closed|lost"):
            pgfuse.recall(conn, "apple", "p", embedding=QUERY)
        with pytest.raises(psycopg.OperationalError, match="closed"):
            pgfuse.recall(conn, "apple", "p", embedding=QUERY)


def test_a_connection_that_dies_inside_a_transaction(filled: str) -> None:
    with psycopg.connect(filled, autocommit=True) as other:
        conn = psycopg.connect(filled)
        conn.execute("SELECT 1")
        other.execute("SELECT pg_terminate_backend(%s)", [conn.info.backend_pid])
        with pytest.raises(psycopg.OperationalError, match="terminat|closed|lost"):
            pgfuse.recall(conn, "apple", "p", embedding=QUERY)
        conn.close()


@pytest.mark.parametrize("conn", [None, "postgresql://", 5, object()])
def test_what_is_no_connection_is_refused(conn: Any) -> None:
    with pytest.raises(pgfuse.InvalidInput, match="conn is a"):
        pgfuse.recall(conn, "apple", "p", embedding=QUERY)


@pytest.fixture
def engine(filled: str) -> Iterator[Any]:
    engine = create_engine(sqlalchemy_url(filled), poolclass=NullPool)
    yield engine
    engine.dispose()


def test_a_sqlalchemy_connection(engine: Any, filled: str) -> None:
    with engine.connect() as conn:
        assert [hit.id for hit in pgfuse.recall(conn, "apple", "p", embedding=QUERY)] == [1]
        pgfuse.set_settings(conn, "p", rrf_k=9)
        conn.commit()
    with engine.connect() as conn:
        pgfuse.set_settings(conn, "p", rrf_k=10)
        conn.rollback()
        assert pgfuse.get_settings(conn, "p")["rrf_k"] == 9
        with pytest.raises(pgfuse.InvalidSettings):
            pgfuse.recall(conn, "apple", "p", embedding=QUERY, settings={"nope": 1})
        assert conn.execute(text("SELECT 1")).scalar() == 1


def test_a_sqlalchemy_session_commits_what_was_done_through_it(engine: Any, filled: str) -> None:
    with Session(engine) as session:
        session.execute(text("INSERT INTO pgfuse.memories (profile_id, id, content) VALUES ('p', 2, 'apple')"))
        assert len(pgfuse.recall(session, "apple", "p", embedding=QUERY)) == 2
        with pytest.raises(pgfuse.EmbeddingMismatch):
            pgfuse.recall(session, "apple", "p", embedding=[1])
        pgfuse.set_settings(session, "p", rrf_k=11)
        session.commit()
    with psycopg.connect(filled) as conn:
        assert len(pgfuse.recall(conn, "apple", "p", embedding=QUERY)) == 2
        assert pgfuse.get_settings(conn, "p")["rrf_k"] == 11


def test_a_sqlalchemy_session_that_only_pgfuse_used_commits_too(engine: Any, filled: str) -> None:
    with Session(engine) as session, session.begin():
        pgfuse.set_settings(session, "p", rrf_k=12)
    with Session(engine) as session:
        pgfuse.set_settings(session, "p", rrf_k=13)
        session.commit()
    with Session(engine) as session:
        pgfuse.set_settings(session, "p", rrf_k=14)
    with psycopg.connect(filled) as conn:
        assert pgfuse.get_settings(conn, "p")["rrf_k"] == 13


def test_a_broken_sqlalchemy_session_is_sqlalchemys_to_tell(engine: Any) -> None:
    with Session(engine) as session:
        session.begin()
        session.connection().connection.driver_connection.close()
        with pytest.raises((psycopg.OperationalError, PendingRollbackError)):
            pgfuse.recall(session, "apple", "p", embedding=QUERY)
        session.invalidate()


def test_a_sqlalchemy_connection_on_another_driver_is_refused() -> None:
    with create_engine("sqlite://").connect() as conn, pytest.raises(pgfuse.InvalidInput, match="psycopg"):
        pgfuse.recall(conn, "apple", "p", embedding=QUERY)


@pytest.mark.anyio
async def test_an_async_connection(filled: str) -> None:
    async with await psycopg.AsyncConnection.connect(filled) as conn:
        assert [hit.id for hit in await pgfuse.arecall(conn, "apple", "p", embedding=QUERY, top_k=3)] == [1]
        for bad in ({"embedding": [1]}, {"embedding": QUERY, "settings": {"nope": 1}}):
            with pytest.raises(pgfuse.PgfuseError):
                await pgfuse.arecall(conn, "apple", "p", **bad)
        assert conn.info.transaction_status == TransactionStatus.INTRANS
        assert (await pgfuse.aget_settings(conn, "p"))["rrf_k"] == 60
        assert (await pgfuse.aset_settings(conn, "p", rrf_k=9))["rrf_k"] == 9
        assert len(await pgfuse.asettings_history(conn, "p")) == 1
        assert (await pgfuse.arollback_settings(conn, "p"))["rrf_k"] == 60
        assert (await pgfuse.awhy_not(conn, "apple", "p", 1, embedding=QUERY))["found"]
        with pytest.raises(TypeError, match="tpo_k"):
            await pgfuse.arecall(conn, "apple", "p", tpo_k=3)


@pytest.mark.anyio
async def test_async_sqlalchemy(filled: str) -> None:
    engine = create_async_engine(sqlalchemy_url(filled), poolclass=NullPool)
    async with engine.connect() as conn:
        assert len(await pgfuse.arecall(conn, "apple", "p", embedding=QUERY)) == 1
        await pgfuse.aset_settings(conn, "p", rrf_k=9)
        await conn.commit()
    async with AsyncSession(engine) as session:
        assert (await pgfuse.aget_settings(session, "p"))["rrf_k"] == 9
        await pgfuse.aset_settings(session, "p", rrf_k=10)
        await session.commit()
    async with AsyncSession(engine) as session:
        assert (await pgfuse.aget_settings(session, "p"))["rrf_k"] == 10
    await engine.dispose()


@pytest.mark.anyio
async def test_sync_and_async_are_not_mixed(filled: str) -> None:
    async with await psycopg.AsyncConnection.connect(filled) as conn:
        with pytest.raises(pgfuse.InvalidInput, match="arecall"):
            pgfuse.recall(conn, "apple", "p", embedding=QUERY)  # type: ignore[arg-type]
    with psycopg.connect(filled) as sync, pytest.raises(pgfuse.InvalidInput, match="without the a"):
        await pgfuse.arecall(sync, "apple", "p", embedding=QUERY)  # type: ignore[arg-type]


@pytest.mark.parametrize("threshold", [None, 0])
def test_behind_a_pooler_each_transaction_may_be_another_connection(threshold: int | None, filled: str) -> None:
    connections = [psycopg.connect(filled, prepare_threshold=threshold) for _ in range(3)]
    for number in range(9):
        conn = connections[number % 3]
        assert len(pgfuse.recall(conn, "apple", "p", embedding=QUERY)) == 1
        conn.execute("DISCARD PLANS")
        conn.commit()
    for conn in connections:
        conn.close()


def test_a_database_without_pgfuse(empty_db: str) -> None:
    with psycopg.connect(empty_db) as conn:
        for call in (
            lambda: pgfuse.recall(conn, "apple", "p"),
            lambda: pgfuse.recall(conn, "apple", "p", embedding=QUERY),
            lambda: pgfuse.get_settings(conn, "p"),
            lambda: pgfuse.set_settings(conn, "p", rrf_k=1),
            lambda: pgfuse.why_not(conn, "apple", "p", 1, embedding=QUERY),
        ):
            with pytest.raises(pgfuse.SchemaMismatch, match="pgfuse migrate"):
                call()
            assert conn.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize(("version", "advice"), [(0, "pgfuse migrate"), (99, "upgrade the package")])
@pytest.mark.parametrize("known", [True, False])
def test_an_older_or_newer_schema(version: int, advice: str, known: bool, filled: str) -> None:
    with psycopg.connect(filled) as conn:
        if known:
            pgfuse.recall(conn, "apple", "p", embedding=QUERY)
        conn.execute(
            f"CREATE OR REPLACE FUNCTION pgfuse.schema_version() RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN {version}"
        )
        with pytest.raises(pgfuse.SchemaMismatch, match=f"version {version}.*{advice}"):
            pgfuse.recall(conn, "apple", "p", embedding=QUERY)
        assert conn.execute("SELECT 1").fetchone() == (1,)


def test_a_schema_that_is_gone_is_told_as_such_to_a_process_that_knew_it(filled: str) -> None:
    with psycopg.connect(filled, autocommit=True) as conn:
        pgfuse.recall(conn, "apple", "p", embedding=QUERY)
        conn.execute("DROP SCHEMA pgfuse CASCADE")
        with pytest.raises(pgfuse.SchemaMismatch, match="pgfuse migrate"):
            pgfuse.recall(conn, "apple", "p", embedding=QUERY)
        migrate.upgrade(filled, dim=3, model="the-callers-own")
        assert len(pgfuse.recall(conn, "apple", "p", embedding=QUERY)) == 0
