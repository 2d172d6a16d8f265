"""The index is read until it brings nothing better: in clusters, and in noise, where a graph leads astray."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

import pgfuse
from pgfuse.vectors import to_binary

pytestmark = pytest.mark.slow
DIM, ROWS = 96, 16_000
MEMORIES = (
    "INSERT INTO pgfuse.memories (profile_id, content) SELECT 'p', 'memory ' || i FROM generate_series(1, %s) AS i"
)
COPY = "COPY pgfuse.vectors (profile_id, memory_id, space_id, route, embedding) FROM STDIN (FORMAT BINARY)"


def clustered(rng: np.random.Generator) -> NDArray[np.float32]:
    centres = rng.normal(size=(200, DIM))
    return (centres[np.arange(ROWS) % 200] + 0.4 * rng.normal(size=(ROWS, DIM))).astype(np.float32)


def random(rng: np.random.Generator) -> NDArray[np.float32]:
    return rng.normal(size=(ROWS, DIM)).astype(np.float32)


@pytest.mark.parametrize("make", [clustered, random])
def test_the_nearest_are_found_in_structure_and_in_noise(
    make: Callable[[np.random.Generator], NDArray[np.float32]], make_db: Callable[..., str]
) -> None:
    rng = np.random.default_rng(5)
    vectors = make(rng)
    url = make_db(dim=DIM, model="mine")
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute("DROP INDEX pgfuse.vectors_hnsw_1_vec_full")
        conn.execute(MEMORIES, [ROWS])
        with conn.cursor() as cursor, cursor.copy(COPY) as copy:
            copy.set_types(["text", "int8", "int4", "text", "bytea"])
            for number, vector in enumerate(vectors, 1):
                copy.write_row(("p", number, 1, "vec_full", to_binary(vector)))
        conn.execute("SELECT pgfuse.create_space_indexes(1)")
        conn.execute("VACUUM ANALYZE pgfuse.vectors")
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        right = 0
        for number in range(5):
            query = vectors[number] + 0.3 * rng.normal(size=DIM)
            found = pgfuse.recall(conn, None, "p", embedding=query, preset="semantic", top_k=10)
            nearest = np.argsort(-(units @ query))[:10] + 1
            assert found.trace["routes"]["vec_full"]["method"].startswith("hnsw")
            right += len({hit.id for hit in found} & set(nearest.tolist()))
    assert right >= 47
