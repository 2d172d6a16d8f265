"""A call that fails changes nothing, and leaves the caller's transaction as it was."""

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg.pq import TransactionStatus

import pgfuse
from tests.integration.fake_embedder import FakeEmbedder, NoEmbedder, vector_of

MANY = [{"external_id": str(n), "content": f"text {n}", "session_id": "s", "position": n} for n in range(1200)]
COUNTS = """
SELECT (SELECT count(*) FROM pgfuse.memories), (SELECT count(*) FROM pgfuse.vectors),
       (SELECT count(*) FROM pgfuse.postings), (SELECT count(*) FROM pgfuse.facets),
       (SELECT count(*) FROM pgfuse.lexical_stats)
"""


class Named:
    """An embedder that says which model it is."""

    def __init__(self, name: str, dim: int) -> None:
        self.name = name
        self.dim = dim

    def embed(self, texts: list[str]) -> Any:
        return np.array([vector_of(text, self.dim) for text in texts])


class Moody(FakeEmbedder):
    """Answers as told from its second call on."""

    def __init__(self, answer: Callable[[int], Any]) -> None:
        super().__init__()
        self.answer = answer

    def __call__(self, texts: Any) -> Any:
        good = super().__call__(texts)
        return good if len(self.calls) == 1 else self.answer(len(texts))


def counts(conn: psycopg.Connection) -> Any:
    return conn.execute(COUNTS).fetchone()


def broken_vectors(conn: psycopg.Connection) -> None:
    conn.execute("ALTER TABLE pgfuse.vectors ADD CONSTRAINT broken CHECK (memory_id < 0)")


EMBEDDERS: list[tuple[Any, type[Exception], str]] = [
    (FakeEmbedder(fails_at="text 999"), pgfuse.EmbedderError, "the model fell over"),
    (Moody(lambda count: np.ones((count, 3))), pgfuse.EmbeddingMismatch, "3 dimensions"),
    (Moody(lambda count: np.full((count, 256), np.nan)), pgfuse.EmbedderError, "NaN"),
    (Moody(lambda count: np.ones((count - 1, 256))), pgfuse.EmbedderError, "199 vectors for 200 texts"),
    (Moody(lambda count: ["x"] * count), pgfuse.EmbedderError, "list of numbers"),
]


@pytest.mark.parametrize("autocommit", [False, True])
@pytest.mark.parametrize(("embedder", "error", "message"), EMBEDDERS)
def test_an_embedder_that_fails_in_the_second_batch(
    shared_db: str, embedder: FakeEmbedder, error: type[Exception], message: str, autocommit: bool
) -> None:
    embedder.calls.clear()
    with psycopg.connect(shared_db, autocommit=autocommit) as conn:
        with pytest.raises(error, match=message):
            pgfuse.remember(conn, "p", MANY, embedder=embedder)
        assert len(embedder.calls) == 2
        assert conn.info.transaction_status == (TransactionStatus.IDLE if autocommit else TransactionStatus.INTRANS)
        assert counts(conn) == (0, 0, 0, 0, 0)


def test_work_done_before_in_the_transaction_stays(conn: psycopg.Connection) -> None:
    pgfuse.remember(conn, "p", [{"external_id": "1", "content": "first"}], embedder=FakeEmbedder())
    before = counts(conn)
    with pytest.raises(pgfuse.EmbedderError):
        pgfuse.remember(conn, "p", MANY, embedder=FakeEmbedder(fails_at="text 999"))
    assert counts(conn) == before
    assert len(pgfuse.remember(conn, "p", MANY, embedder=FakeEmbedder())) == 1200


def test_a_database_error_undoes_everything(conn: psycopg.Connection) -> None:
    broken_vectors(conn)
    with pytest.raises(psycopg.errors.CheckViolation):
        pgfuse.remember(conn, "p", [{"content": "x", "facets": {"a": "b"}}], embedder=FakeEmbedder())
    assert counts(conn) == (0, 0, 0, 0, 0)


def test_a_bad_memory_at_the_end_stops_all(conn: psycopg.Connection) -> None:
    with pytest.raises(pgfuse.InvalidInput, match=r"memories\[1200\]: content is empty"):
        pgfuse.remember(conn, "p", [*MANY, {"content": ""}], embedder=NoEmbedder())
    assert counts(conn) == (0, 0, 0, 0, 0)


def test_a_savepoint_of_the_callers_survives(conn: psycopg.Connection) -> None:
    with conn.transaction(), pytest.raises(pgfuse.EmbedderError):
        pgfuse.remember(conn, "p", MANY, embedder=FakeEmbedder(fails_at="text 5"))
    with pytest.raises(ZeroDivisionError), conn.transaction():
        pgfuse.remember(conn, "p", MANY[:10], embedder=FakeEmbedder())
        raise ZeroDivisionError
    assert counts(conn) == (0, 0, 0, 0, 0)


def test_in_a_failed_transaction_the_error_is_postgresqls(conn: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.DivisionByZero):
        conn.execute("SELECT 1 / 0")
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        pgfuse.remember(conn, "p", MANY[:1], embedder=NoEmbedder())


def test_a_keyboard_interrupt_undoes_the_call(conn: psycopg.Connection) -> None:
    def interrupted(_: list[str]) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pgfuse.remember(conn, "p", MANY, embedder=interrupted)
    assert counts(conn) == (0, 0, 0, 0, 0)


def test_a_cancelled_task_undoes_the_call(shared_db: str) -> None:
    async def cancelled() -> Any:
        async with await psycopg.AsyncConnection.connect(shared_db) as conn:
            await conn.execute("SELECT 1")
            embedder = FakeEmbedder()
            task = asyncio.create_task(pgfuse.aremember(conn, "p", MANY, embedder=embedder))
            while len(embedder.calls) < 2:
                await asyncio.sleep(0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return await (await conn.execute(COUNTS)).fetchone()

    assert asyncio.run(cancelled()) == (0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("embedder", "message"),
    [
        (Named("other-model", 256), r"'other-model'.*'wordllama'.*reembed"),
        (Named("wordllama", 3), "3"),
        (FakeEmbedder(dim=3), "3"),
    ],
)
def test_another_model_or_dimension_is_refused_before_anything_is_written(
    conn: psycopg.Connection, embedder: Any, message: str
) -> None:
    conn.execute("ALTER TABLE pgfuse.memories ADD CONSTRAINT untouched CHECK (id < 0)")
    with pytest.raises(pgfuse.EmbeddingMismatch, match=message):
        pgfuse.remember(conn, "p", MANY[:3], embedder=embedder)


def test_a_vector_of_another_dimension_is_refused_by_name(conn: psycopg.Connection) -> None:
    memories: list[dict[str, Any]] = [{"content": "x"}, {"content": "y", "embeddings": {"vec_full": [1.0, 2.0]}}]
    with pytest.raises(pgfuse.EmbeddingMismatch, match=r"memories\[1\].*embeddings\.vec_full.* 2 .*256"):
        pgfuse.remember(conn, "p", memories, embedder=NoEmbedder())


def test_a_database_without_pgfuse(empty_db: str) -> None:
    with psycopg.connect(empty_db) as conn:
        with pytest.raises(pgfuse.SchemaMismatch, match="pgfuse migrate"):
            pgfuse.remember(conn, "p", MANY[:1], embedder=NoEmbedder())
        with pytest.raises(pgfuse.SchemaMismatch, match="pgfuse migrate"):
            pgfuse.forget(conn, "p", ids=[1])
        assert conn.execute("SELECT 1").fetchone() == (1,)


def test_a_lost_connection_is_reported_as_such(db: str) -> None:
    with psycopg.connect(db) as conn, psycopg.connect(db, autocommit=True) as other:

        def cut(texts: list[str]) -> Any:
            other.execute("SELECT pg_terminate_backend(%s)", (conn.info.backend_pid,))
            return FakeEmbedder()(texts)

        with pytest.raises(psycopg.OperationalError):
            pgfuse.remember(conn, "p", MANY[:1], embedder=cut)
        assert counts(other) == (0, 0, 0, 0, 0)
