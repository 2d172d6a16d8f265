"""One table with the memories of many profiles, large and small, mixed at random."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psycopg

from benchmarks import server
from benchmarks.embedding import Vectors, embed
from benchmarks.load import bulk, copy_memories, copy_vectors
from benchmarks.progress import say
from benchmarks.texts import short_texts

FIXED = 1_000  # the profile of this size has the same memories in every crowd
SIZES = (10, 100, FIXED, 10_000, 100_000)
OTHERS = 400
QUERIES = 200
RARE = 100
SEED = 7


@dataclass(frozen=True)
class Crowd:
    """Where it is, which rows belong to which profile, all vectors, and queries that are not among them."""

    url: str
    members: dict[str, slice]
    vectors: Vectors
    queries: list[str]
    query_vectors: Vectors


def sizes_for(rows: int) -> tuple[int, ...]:
    """Profiles up to a tenth of the rows, and one that has half of them."""
    return (*(size for size in SIZES if size <= rows // 10), rows // 2)


def profile_of(size: int) -> str:
    """The name of the profile of a size."""
    return f"p{size}"


def make(url: str, rows: int, sizes: Sequence[int], data: Path | None) -> Crowd:
    """Generate, embed and load a crowd into a database of its own; memory n is text n - 1."""
    say(f"a crowd of {rows:,}: texts")
    texts = short_texts(data, rows + QUERIES, SEED)
    queries, texts = texts[:QUERIES], texts[QUERIES:]
    vectors = embed(texts)
    members, names = _profiles(rows, sizes)
    made = server.make_migrated(url, f"crowd_{rows}")
    with psycopg.connect(made, autocommit=True) as conn, bulk(conn):
        say(f"a crowd of {rows:,}: loading")
        order = np.random.default_rng(SEED).permutation(rows).tolist()
        copy_memories(conn, ((names[n], n + 1, str(n), texts[n], _metadata(n)) for n in order))
        copy_vectors(conn, ((names[n], n + 1, vectors[n]) for n in order))
    return Crowd(made, members, vectors, queries, embed(queries))


def _metadata(number: int) -> dict[str, bool]:
    return {"rare": True} if number % RARE == 0 else {}


def _profiles(rows: int, sizes: Sequence[int]) -> tuple[dict[str, slice], list[str]]:
    members, names = {}, []
    for size in sorted(sizes, key=lambda size: size != FIXED):
        members[profile_of(size)] = slice(len(names), len(names) + size)
        names += [profile_of(size)] * size
    rest = rows - len(names)
    others = max(1, rest // OTHERS)
    return members, names + [f"other{n % others}" for n in range(rest)]
