"""The connections callers have: SQLAlchemy, async, and both."""

from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

import pgfuse
from tests.integration.fake_embedder import FakeEmbedder

MEMORY = {"external_id": "a", "content": "x", "facets": {"events": "y"}}
BAD = [{"content": "fine"}, {"content": "poison"}]
COUNT = "SELECT count(*) FROM pgfuse.memories"


def sqlalchemy_url(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://")


def engine_for(url: str, **options: Any) -> Engine:
    return create_engine(sqlalchemy_url(url), **options)


def test_a_sqlalchemy_connection(db: str) -> None:
    engine = engine_for(db)
    with engine.connect() as conn:
        ids = pgfuse.remember(conn, "p", [MEMORY], embedder=FakeEmbedder())
        assert conn.execute(text("SELECT id FROM pgfuse.memories")).scalars().all() == ids
        conn.rollback()
        assert conn.scalar(text(COUNT)) == 0
        pgfuse.remember(conn, "p", [MEMORY], embedder=FakeEmbedder())
        conn.commit()
    with engine.begin() as conn:
        assert pgfuse.forget(conn, "p", external_ids=["a"]) == 1
    with engine.connect() as conn:
        assert conn.scalar(text(COUNT)) == 0
    engine.dispose()


def test_a_sqlalchemy_session(db: str) -> None:
    engine = engine_for(db)
    with Session(engine) as session:
        pgfuse.remember(session, "p", [MEMORY], embedder=FakeEmbedder())
        with pytest.raises(pgfuse.EmbedderError):
            pgfuse.remember(session, "p", BAD, embedder=FakeEmbedder(fails_at="poison"))
        assert session.scalar(text(COUNT)) == 1
        session.commit()
        assert session.scalar(text(COUNT)) == 1
        assert pgfuse.forget(session, "p", external_ids="a") == 1
        session.rollback()
        assert session.scalar(text(COUNT)) == 1
    engine.dispose()


def test_a_sqlalchemy_connection_with_autocommit(db: str) -> None:
    engine = engine_for(db, isolation_level="AUTOCOMMIT")
    with engine.connect() as conn, engine.connect() as other:
        with pytest.raises(pgfuse.EmbedderError):
            pgfuse.remember(conn, "p", BAD, embedder=FakeEmbedder(fails_at="poison"))
        pgfuse.remember(conn, "p", [MEMORY], embedder=FakeEmbedder())
        assert other.scalar(text(COUNT)) == 1
    engine.dispose()


def test_another_driver_is_refused_by_name(db: str) -> None:
    class Stranger:
        """A connection of something else."""

    stranger: Any = Stranger()
    with pytest.raises(pgfuse.InvalidInput, match="conn is a Stranger"):
        pgfuse.remember(stranger, "p", [MEMORY])


@pytest.mark.anyio
@pytest.mark.parametrize("autocommit", [False, True])
async def test_async(db: str, autocommit: bool) -> None:
    async with await psycopg.AsyncConnection.connect(db, autocommit=autocommit) as conn:
        ids = await pgfuse.aremember(conn, "p", [MEMORY, {"content": "z"}], embedder=FakeEmbedder())
        assert len(ids) == 2
        with pytest.raises(pgfuse.EmbedderError):
            await pgfuse.aremember(conn, "p", BAD, embedder=FakeEmbedder(fails_at="poison"))
        with pytest.raises(pgfuse.InvalidInput, match="language"):
            await pgfuse.aremember(conn, "p", [{"content": "x", "language": "klingon"}], embedder=FakeEmbedder())
        assert await pgfuse.aforget(conn, "p", ids=ids[1:]) == 1
        assert (await (await conn.execute(COUNT)).fetchone()) == (1,)


@pytest.mark.anyio
async def test_async_sqlalchemy(db: str) -> None:
    engine = create_async_engine(sqlalchemy_url(db))
    async with AsyncSession(engine) as session:
        await pgfuse.aremember(session, "p", [MEMORY], embedder=FakeEmbedder())
        with pytest.raises(pgfuse.EmbedderError):
            await pgfuse.aremember(session, "p", BAD, embedder=FakeEmbedder(fails_at="poison"))
        await session.commit()
        assert await pgfuse.aforget(session, "p", external_ids=["a"]) == 1
        await session.rollback()
    async with engine.connect() as conn:
        assert await pgfuse.aforget(conn, "p", external_ids=["a"]) == 1
        await conn.commit()
        assert await conn.scalar(text(COUNT)) == 0
    await engine.dispose()
