"""How fast memories go in: python -m benchmarks.ingest [ROWS], with langchain-postgres installed beside pgfuse.

All four ways run one after the other on one server, with the same texts and the same wordllama vectors.
"""

import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import psycopg

import pgfuse
from benchmarks.results import Figure, save, show
from pgfuse import embedded, embedders, migrate
from pgfuse.vectors import to_binary

BATCH = 1000
MEMORIES = "COPY pgfuse.memories (profile_id, content) FROM STDIN"
VECTORS = "COPY pgfuse.vectors (profile_id, memory_id, space_id, route, embedding) FROM STDIN (FORMAT BINARY)"
WHO = ("Ana", "Leo", "Nora", "Tom", "Ida", "Max")
WHAT = ("booked", "cancelled", "moved", "forgot", "paid for", "asked about", "liked", "complained about")
THING = (
    "the dentist",
    "a train to Ghent",
    "the swimming lesson",
    "invoice",
    "the standing desk",
    "dinner",
    "the tax form",
)
WHEN = ("on Monday", "last week", "in March", "before lunch", "at half past nine", "yesterday")


def texts(rows: int) -> list[str]:
    """Short sentences, each with a number of its own."""
    rng = random.Random(11)
    return [f"{rng.choice(WHO)} {rng.choice(WHAT)} {rng.choice(THING)} {n} {rng.choice(WHEN)}" for n in range(rows)]


def batches(items: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]


def timed(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def remember(url: str, items: list[str], profile: str) -> None:
    with psycopg.connect(url) as conn:
        for part in batches(items):
            memories = [{"content": text, "external_id": f"{profile}:{text}"} for text in part]
            pgfuse.remember(conn, profile, memories)
            conn.commit()


def copy(url: str, items: list[str], vectors: np.ndarray[Any, Any]) -> None:
    with psycopg.connect(url) as conn:
        for start in range(0, len(items), BATCH):
            with conn.cursor() as cursor:
                with cursor.copy(MEMORIES) as rows:
                    for text in items[start : start + BATCH]:
                        rows.write_row(("copied", text))
                cursor.execute(
                    "SELECT id FROM pgfuse.memories WHERE profile_id = 'copied' ORDER BY id DESC LIMIT %s", (BATCH,)
                )
                ids = [row[0] for row in cursor.fetchall()][::-1]
                with cursor.copy(VECTORS) as rows:
                    rows.set_types(("text", "int8", "int4", "text", "bytea"))
                    for memory, vector in zip(ids, vectors[start : start + BATCH], strict=False):
                        rows.write_row(("copied", memory, 1, "vec_full", to_binary(vector)))
            conn.commit()


def langchain(url: str, items: list[str]) -> None:
    from langchain_core.embeddings import Embeddings
    from langchain_postgres import PGVector

    class Wordllama(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [vector.tolist() for vector in embedders.embed_documents(embedders.load(), texts)]

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    store = PGVector(
        Wordllama(), connection=url.replace("postgresql://", "postgresql+psycopg://"), embedding_length=256
    )
    for part in batches(items):
        store.add_texts(part)


def without_hnsw(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as conn:
        for (name,) in conn.execute("SELECT name FROM pgfuse.space_indexes(1)").fetchall():
            conn.execute(f"DROP INDEX pgfuse.{name}")


def measure(rows: int) -> list[Figure]:
    """Run the four ways; rates in rows a second, ratios to pgfuse without HNSW."""
    items = texts(rows)
    vectors = embedders.embed_documents(embedders.load(), items)
    with tempfile.TemporaryDirectory(prefix="pgfuse-bench-") as folder, embedded.start(folder) as server:
        migrate.upgrade(server.url)
        url = server.url
        indexed = timed(lambda: remember(url, items, "indexed"))
        again = timed(lambda: remember(url, items, "indexed"))
        copied_indexed = timed(lambda: copy(url, items, vectors))
        with psycopg.connect(url, autocommit=True) as conn:
            conn.execute("TRUNCATE pgfuse.memories CASCADE")
        without_hnsw(url)
        plain = timed(lambda: remember(url, items, "plain"))
        copied = timed(lambda: copy(url, items, vectors))
        peer = timed(lambda: langchain(url, items))
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        Figure("remember, HNSW present", rows / indexed, "rows/s"),
        Figure("remember the same again, times faster", indexed / again, "times"),
        Figure("remember, without HNSW", rows / plain, "rows/s"),
        Figure("plain COPY with HNSW, no embedding: remember takes", indexed / copied_indexed, "times"),
        Figure("plain COPY without HNSW, no embedding: remember takes", plain / copied, "times"),
        Figure("langchain-postgres add_texts", rows / peer, "rows/s"),
        Figure(
            "remember without HNSW against langchain-postgres (no vector index), times faster", peer / plain, "times"
        ),
        Figure("peak memory of the client", resident, "MB"),
    ]


if __name__ == "__main__":
    found = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
    show(found)
    save(found, "ingest")
