"""The same calls on SQLAlchemy and async connections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg.pq import TransactionStatus
from sqlalchemy import create_engine, text
from sqlalchemy.exc import PendingRollbackError
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

import pgfuse
from pgfuse.connections import sync_connection
from pgfuse.vectors import RealArray, RealArrayDumper
from tests.oracle.corpus import Doc, insert

pytest_plugins = ("tests.sql.fixtures",)
Connection = psycopg.Connection[Any]
QUERY = [1, 0, 0]


@pytest.fixture
def filled(small_copy: str) -> str:
    with psycopg.connect(small_copy) as conn:
        insert(conn, [Doc(id=1, content="apple", vectors={"vec_full": QUERY})])
    return small_copy


def sqlalchemy_url(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://")


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
        sync_connection(session).close()
        with pytest.raises((psycopg.OperationalError, PendingRollbackError)):
            pgfuse.recall(session, "apple", "p", embedding=QUERY)
        session.invalidate()


def test_a_sqlalchemy_connection_on_another_driver_is_refused() -> None:
    with create_engine("sqlite://").connect() as conn, pytest.raises(pgfuse.InvalidInput, match="psycopg"):
        pgfuse.recall(conn, "apple", "p", embedding=QUERY)


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
async def test_sync_and_async_are_not_mixed(filled: str) -> None:
    async with await psycopg.AsyncConnection.connect(filled) as conn:
        with pytest.raises(pgfuse.InvalidInput, match="arecall"):
            pgfuse.recall(conn, "apple", "p", embedding=QUERY)  # type: ignore[arg-type]
    with psycopg.connect(filled) as sync, pytest.raises(pgfuse.InvalidInput, match="without the a"):
        await pgfuse.arecall(sync, "apple", "p", embedding=QUERY)  # type: ignore[arg-type]


def test_a_query_vector_arrives_to_the_last_bit(conn: psycopg.Connection) -> None:
    given = np.array([0.1, -1e-38, 3e38, 0.0, 1 / 3], dtype=np.float32)
    with conn.cursor() as cursor:
        cursor.adapters.register_dumper(RealArray, RealArrayDumper)
        row = cursor.execute("SELECT %s", [RealArray(given)]).fetchone()
    assert row is not None
    assert np.array(row[0], dtype=np.float32).tolist() == given.tolist()
