"""One recall is one round trip: counted by the server's ReadyForQuery messages, as libpq itself traces them."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

import pgfuse
from pgfuse import migrate
from tests.oracle.corpus import Doc, insert

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="libpq traces to a file descriptor on Linux only")
Connection = psycopg.Connection[Any]
DIM = 256


class Trips:
    """How many round trips a block took."""

    number = 0


@contextmanager
def counted(conn: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> Iterator[Trips]:
    trips = Trips()
    with tempfile.TemporaryFile() as file:
        conn.pgconn.trace(file.fileno())
        try:
            yield trips
        finally:
            conn.pgconn.untrace()
            os.lseek(file.fileno(), 0, os.SEEK_SET)
            trips.number = file.read().count(b"ReadyForQuery")


def embed(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0] * DIM for _ in texts]


WAYS: dict[str, dict[str, Any]] = {
    "embedding": {"embedding": [1.0] * DIM},
    "embedder": {"embedder": embed},
    "the space's own model": {},
    "mmr": {"embedding": [1.0] * DIM, "mmr": True},
    "memory": {"embedding": [1.0] * DIM, "preset": "memory"},
    "everything": {
        "embedding": [1.0] * DIM,
        "tags": ["x"],
        "max_tokens": 10,
        "group_by": "session",
        "settings": {"neighbors": 2},
    },
}


@pytest.fixture
def filled(db: str) -> str:
    with psycopg.connect(db) as conn:
        insert(
            conn, [Doc(id=n, content=f"apple {n}", vectors={"vec_full": [1.0] * (DIM - 1) + [n]}) for n in range(1, 20)]
        )
    return db


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("autocommit", [True, False])
def test_a_recall_is_one_round_trip(way: str, autocommit: bool, filled: str) -> None:
    with psycopg.connect(filled, autocommit=autocommit) as conn:
        conn.execute("SELECT 1")
        assert pgfuse.recall(conn, "apple", "p", **WAYS["the space's own model"])
        numbers = []
        for _ in range(8):
            with counted(conn) as trips:
                pgfuse.recall(conn, "apple", "p", **WAYS[way])
            numbers.append(trips.number)
    assert numbers == [1] * 8


@pytest.mark.parametrize("way", ["embedding", "embedder"])
def test_the_first_recall_of_a_process_needs_no_more_with_autocommit(way: str, filled: str) -> None:
    with psycopg.connect(filled, autocommit=True) as conn, counted(conn) as trips:
        assert pgfuse.recall(conn, "apple", "p", **WAYS[way])
    assert trips.number == 1


def test_a_refused_recall_is_one_round_trip_too(filled: str) -> None:
    with psycopg.connect(filled, autocommit=True) as conn:
        pgfuse.recall(conn, "apple", "p", embedding=[1.0] * DIM)
        with counted(conn) as trips, pytest.raises(pgfuse.EmbeddingMismatch):
            pgfuse.recall(conn, "apple", "p", embedding=[1.0])
    assert trips.number == 1


@pytest.mark.parametrize("threshold", [None, 0, 5])
def test_prepared_or_not(threshold: int | None, filled: str) -> None:
    with psycopg.connect(filled, autocommit=True, prepare_threshold=threshold) as conn:
        answers = {tuple(hit.id for hit in pgfuse.recall(conn, "apple", "p", embedding=[1.0] * DIM)) for _ in range(8)}
        with counted(conn) as trips:
            pgfuse.recall(conn, "apple", "p", embedding=[1.0] * DIM)
    assert trips.number == 1
    assert len(answers) == 1


@pytest.mark.anyio
async def test_an_async_recall_is_one_round_trip(filled: str) -> None:
    async with await psycopg.AsyncConnection.connect(filled, autocommit=True) as conn:
        await pgfuse.arecall(conn, "apple", "p", embedding=[1.0] * DIM)
        with counted(conn) as trips:
            assert await pgfuse.arecall(conn, "apple", "p", embedding=[1.0] * DIM)
    assert trips.number == 1


def test_a_switched_space_is_noticed(make_db: Callable[..., str]) -> None:
    url = make_db(dim=3, model="the-callers-own")
    with psycopg.connect(url, autocommit=True) as conn:
        insert(conn, [Doc(id=1, content="apple", vectors={"vec_full": [1, 0, 0]})])
        assert pgfuse.recall(conn, "apple", "p", embedding=[1, 0, 0])[0].routes == ("lexical", "vec_full")
        migrate.upgrade(url)
        conn.execute("SELECT pgfuse.activate_space(pgfuse.create_space('another', 2))")
        with pytest.raises(pgfuse.EmbeddingMismatch, match=r"3 dimensions.*another.*2"):
            pgfuse.recall(conn, "apple", "p", embedding=[1, 0, 0])
        assert pgfuse.recall(conn, "apple", "p", embedding=[1, 0])[0].routes == ("lexical",)
