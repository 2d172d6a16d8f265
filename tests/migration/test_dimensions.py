"""Each dimension that pgvector can index migrates, is indexed in the right type and is searched through the index."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from pgfuse import migrate
from pgfuse.errors import InvalidInput

INDEX = "SELECT pg_get_indexdef('pgfuse.vectors_hnsw_1_vec_full'::regclass)"


def vector(dim: int, hot: int) -> str:
    return str([1.0 if place == hot % dim else 0.01 for place in range(dim)])


@pytest.mark.parametrize("dim", [1, 3, 63, 64, 256, 1536, 2000, 3072, 4000])
def test_a_dimension_migrates_indexes_and_searches(make_db: Callable[..., str], dim: int) -> None:
    placed = f"{'vector' if dim < 64 else 'halfvec'}({min(dim, 3984) + 16})"
    with psycopg.connect(make_db(dim=dim, model="mine")) as connection:
        definition = connection.execute(INDEX).fetchone()
        assert definition is not None
        assert f"::{placed})" in definition[0]
        add_memories(connection, dim)
        found = connection.execute(
            "SELECT content FROM pgfuse.recall('p', NULL, %s::vector, 1, '{}')", (vector(dim, 2),)
        ).fetchall()
        assert found == [("memory 2",)] or dim == 1
        assert uses_index(connection, dim, placed)


def add_memories(connection: psycopg.Connection, dim: int) -> None:
    for number in range(3):
        row = connection.execute(
            "INSERT INTO pgfuse.memories (profile_id, content) VALUES ('p', %s) RETURNING id", (f"memory {number}",)
        ).fetchone()
        assert row is not None
        connection.execute(
            "INSERT INTO pgfuse.vectors (profile_id, memory_id, space_id, route, embedding)"
            " VALUES ('p', %s, 1, 'vec_full', %s::vector)",
            (row[0], vector(dim, number)),
        )


def uses_index(connection: psycopg.Connection, dim: int, placed: str) -> bool:
    connection.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
    plan = connection.execute(
        f"EXPLAIN SELECT memory_id FROM pgfuse.vectors WHERE space_id = 1 AND route = 'vec_full'"
        f" ORDER BY pgfuse.placed_vector(embedding, profile_id, route)::{placed}"
        f" <=> pgfuse.placed_vector('{vector(dim, 1)}', 'p', 'vec_full')::{placed} LIMIT 3"
    )
    return any("vectors_hnsw_1_vec_full" in line for (line,) in plan)


@pytest.mark.parametrize("dim", [4001, 0, -1, 100_000])
def test_a_dimension_that_cannot_be_indexed_is_refused(empty_db: str, dim: int) -> None:
    with pytest.raises(InvalidInput, match=rf"A dimension of {dim} was given, and pgvector can index 1 to 4000"):
        migrate.upgrade(empty_db, dim=dim)
    with psycopg.connect(empty_db) as connection:
        assert connection.execute("SELECT to_regnamespace('pgfuse')").fetchone() == (None,)


def test_a_dimension_that_is_no_number_is_refused() -> None:
    with pytest.raises(InvalidInput, match="dim=big was given; give a whole number from 1 to 4000"):
        migrate.Space.parse({"dim": "big"})


def test_an_empty_model_is_refused() -> None:
    with pytest.raises(InvalidInput, match="An empty model name"):
        migrate.offline_sql(model=" ")
