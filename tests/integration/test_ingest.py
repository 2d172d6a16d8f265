"""Ingest stores every line that it can, once, and says what became of the others."""

import io
import json
import os
import random
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from pgfuse import InvalidInput
from pgfuse.errors import DatabaseUnavailable
from pgfuse.ingest import KEPT_FAILURES, Failure, Summary, ingest
from tests.integration.derived import check_all
from tests.integration.fake_embedder import DIM, FakeEmbedder, NoEmbedder, vector_of

KILLS = 3
IN_SMALL_BATCHES = "import pgfuse.ingest; pgfuse.ingest.BATCH_LINES = 100; from pgfuse.cli import main; main()"


@pytest.fixture
def auto(db: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(db, autocommit=True) as connection:
        yield connection


def lines(*records: Any) -> io.BytesIO:
    return io.BytesIO(
        b"".join(item if isinstance(item, bytes) else json.dumps(item).encode() + b"\n" for item in records)
    )


def counts(summary: Summary) -> tuple[int, int, int, int, int]:
    return summary.read, summary.new, summary.changed, summary.unchanged, summary.failed


def take(conn: psycopg.Connection, *records: Any, **options: Any) -> Summary:
    return ingest(conn, lines(*records), profile_id="p", **({"embedder": FakeEmbedder()} | options))


def rows(conn: psycopg.Connection, columns: str = "external_id, content") -> list[Any]:
    return conn.execute(f"SELECT {columns} FROM pgfuse.memories ORDER BY id").fetchall()


def drop_hnsw(url: str) -> None:
    """Insertion into HNSW takes most of the time of a bulk load."""
    with psycopg.connect(url, autocommit=True) as connection:
        for (name,) in connection.execute("SELECT name FROM pgfuse.space_indexes(1)").fetchall():
            connection.execute(f"DROP INDEX pgfuse.{name}")


EVERYTHING = {
    "external_id": "e1",
    "profile_id": "q",
    "kind": "semantic",
    "granularity": "turn",
    "session_id": "s",
    "project_id": "r",
    "position": 3,
    "content": "Bäume wachsen",
    "user_text": "wachsen sie?",
    "assistant_text": "ja",
    "task_tag": "wald",
    "tags": ["x", "y"],
    "language": "german",
    "memory_score": 0.5,
    "metadata": {"a": {"b": [1, None]}},
    "occurred_at": "2026-01-31T12:00:00+00:00",
    "created_at": "2026-02-01T12:00:00+00:00",
    "facets": {"events": "planting"},
}


def test_every_column_arrives(auto: psycopg.Connection) -> None:
    assert counts(take(auto, EVERYTHING)) == (1, 1, 0, 0, 0)
    columns = [name for name in EVERYTHING if name not in ("language", "facets")]
    (row,) = rows(auto, f"{', '.join(columns)}, language::text, pgfuse.stored_facets(profile_id, id)")
    stored = dict(zip([*columns, "language", "facets"], row, strict=True))
    for name in ("occurred_at", "created_at"):
        stored[name] = stored[name].isoformat()
    assert stored == EVERYTHING
    check_all(auto)


def test_new_unchanged_and_changed_lines_are_told_apart(auto: psycopg.Connection) -> None:
    one, two, three = ({"external_id": str(n), "content": f"text {n}"} for n in range(3))
    assert counts(take(auto, one, two)) == (2, 2, 0, 0, 0)
    assert counts(take(auto, one, two | {"content": "other"}, three)) == (3, 1, 1, 1, 0)
    assert rows(auto) == [("0", "text 0"), ("1", "other"), ("2", "text 2")]
    check_all(auto)


def test_the_same_file_again_writes_and_embeds_nothing(auto: psycopg.Connection) -> None:
    records = [{"content": f"text {n}", "session_id": "s", "position": n, "user_text": f"{n}?"} for n in range(50)]
    assert counts(take(auto, *records)) == (50, 50, 0, 0, 0)
    query = """
        SELECT m.xmin::text, v.xmin::text FROM pgfuse.memories m JOIN pgfuse.vectors v ON v.memory_id = m.id
        ORDER BY m.id, v.route
    """
    before = auto.execute(query).fetchall()
    assert counts(take(auto, *records, embedder=NoEmbedder())) == (50, 0, 0, 50, 0)
    assert auto.execute(query).fetchall() == before


def test_equal_lines_without_an_id_are_one_memory(auto: psycopg.Connection) -> None:
    record = {"content": "twice", "tags": ["t"]}
    assert counts(take(auto, record, record, {"content": "once"})) == (3, 2, 0, 1, 0)
    assert counts(take(auto, {"content": "before it"}, record)) == (2, 1, 0, 1, 0)
    assert len(rows(auto)) == 3


def test_of_lines_with_one_id_the_last_counts(auto: psycopg.Connection) -> None:
    summary = take(auto, *({"external_id": "x", "content": f"version {n}"} for n in range(3)))
    assert counts(summary) == (3, 1, 2, 0, 0)
    assert rows(auto) == [("x", "version 2")]
    check_all(auto)


def test_lines_of_several_profiles(auto: psycopg.Connection) -> None:
    records = [{"external_id": "same", "content": f"of {name}", "profile_id": name} for name in "abc"]
    assert counts(take(auto, *records)) == (3, 3, 0, 0, 0)
    assert rows(auto, "profile_id, content") == [("a", "of a"), ("b", "of b"), ("c", "of c")]


BAD = [
    (b"{not json}\n", "the line is not JSON"),
    ({"content": ""}, "content is empty"),
    ({"content": "a\0b"}, "NUL"),
    ({"content": "a", "colour": "red"}, "unknown field 'colour'"),
    ({"content": "a", "memory_score": 2}, "memory_score: 2 is not allowed"),
    ({"content": "a", "language": "klingon"}, 'text search configuration "klingon" does not exist'),
    ({"content": "a", "kind": "k" * 9000}, "at most 1024 are allowed"),
    (
        {"content": "a", "embeddings": {"vec_full": [1.0, 2.0]}},
        f"has 2 dimensions, but the space in use (wordllama) has {DIM}",
    ),
    (
        {"content": "a", "embeddings": {"vec_full": [1.0] * DIM}, "embedding_model": "other"},
        "its vectors are of 'other'",
    ),
    ({"content": "a", "profile_id": ["p"]}, "profile_id"),
]


def test_bad_lines_are_reported_by_number_and_the_rest_goes_in(auto: psycopg.Connection) -> None:
    records = [record for bad, _ in BAD for record in ({"content": f"good before {bad!r:.200}"}, bad)]
    seen: list[Failure] = []
    summary = take(auto, *records, failed=seen.append)
    assert counts(summary) == (2 * len(BAD), len(BAD), 0, 0, len(BAD))
    assert {failure.line for failure in seen} == {2 * n + 2 for n in range(len(BAD))}
    assert sorted(summary.failures, key=lambda f: f.line) == sorted(seen, key=lambda f: f.line)
    for failure, (_, reason) in zip(sorted(seen, key=lambda f: f.line), BAD, strict=True):
        assert reason in failure.reason
    assert len(rows(auto)) == len(BAD)
    check_all(auto)


@pytest.mark.parametrize("bad", [{"content": ""}, {"content": "a", "language": "klingon"}])
def test_strict_stops_at_a_bad_line(
    auto: psycopg.Connection, bad: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgfuse.ingest.BATCH_LINES", 2)
    good = [{"external_id": str(n), "content": f"text {n}"} for n in range(6)]
    with pytest.raises(InvalidInput, match=r"Line 4: .*Stopped there"):
        take(auto, *good[:3], bad, *good[3:], strict=True)
    assert {"0", "1"} <= {row[0] for row in rows(auto)} <= {"0", "1", "2"}


def test_a_provider_that_fails_ends_it(auto: psycopg.Connection) -> None:
    with pytest.raises(Exception, match="the model fell over"):
        take(auto, {"content": "good"}, {"content": "poison"}, embedder=FakeEmbedder(fails_at="poison"))
    assert rows(auto) == []


def test_given_vectors_are_stored_as_they_are(auto: psycopg.Connection) -> None:
    vector = vector_of("any").tolist()
    record = {"content": "a", "embeddings": {"vec_full": vector}, "embedding_model": "wordllama"}
    assert counts(take(auto, record, embedder=NoEmbedder())) == (1, 1, 0, 0, 0)
    (stored,) = auto.execute("SELECT embedding::real[] FROM pgfuse.vectors").fetchone() or ()
    assert np.array_equal(np.float32(stored), np.float32(vector))


def test_a_connection_that_does_not_commit_is_refused(conn: psycopg.Connection) -> None:
    with pytest.raises(InvalidInput, match="autocommit"):
        ingest(conn, lines())


def test_an_empty_file(auto: psycopg.Connection) -> None:
    assert counts(take(auto)) == (0, 0, 0, 0, 0)


def test_progress_comes_after_every_batch(auto: psycopg.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgfuse.ingest.BATCH_LINES", 2)
    seen: list[tuple[int, int]] = []
    stream = [{"content": f"text {n}"} for n in range(5)]
    take(auto, *stream, progress=lambda so_far: seen.append((so_far.read, so_far.new)))
    assert seen == [(2, 2), (4, 4), (5, 5)]


def test_memory_stays_constant(auto: psycopg.Connection) -> None:
    class Endless(io.RawIOBase):
        """Lines that are never in memory at once."""

        def __init__(self) -> None:
            self.left = 5_000

        def readline(self, size: int | None = -1, /) -> bytes:
            self.left -= 1
            return b'{"content": ""}\n' if self.left >= 0 else b""

    ingest(auto, lines({"content": "warm up"}), profile_id="p", embedder=FakeEmbedder())
    tracemalloc.start()
    try:
        summary = ingest(auto, Endless(), profile_id="p")  # type: ignore[arg-type]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert counts(summary) == (5_000, 0, 0, 0, 5_000)
    assert len(summary.failures) == KEPT_FAILURES
    assert peak < 1_000_000


def test_a_batch_is_also_bounded_in_bytes(auto: psycopg.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgfuse.ingest.BATCH_BYTES", 1000)
    seen: list[int] = []
    take(
        auto, *({"content": f"{n} {'word ' * 150}"} for n in range(4)), progress=lambda so_far: seen.append(so_far.new)
    )
    assert seen == [2, 4]


def test_a_server_that_goes_away(db: str) -> None:
    def pull_the_plug(_: Summary) -> None:
        with psycopg.connect(db, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", (connection.info.backend_pid,))

    records = [{"content": f"text {n}"} for n in range(1500)]
    connection = psycopg.connect(db, autocommit=True)
    drop_hnsw(db)
    with pytest.raises(DatabaseUnavailable, match=r"after 1,000 lines .* Run the same command again"):
        take(connection, *records, progress=pull_the_plug)
    connection.close()
    with psycopg.connect(db, autocommit=True) as again:
        assert counts(take(again, *records)) == (1500, 500, 0, 1000, 0)
        check_all(again)


@pytest.fixture
def big_file(tmp_path: Path) -> Path:
    path = tmp_path / "big.jsonl"
    with path.open("w") as file:
        for n in range(1500):
            user = {"user_text": f"question {n}"} if n % 3 == 0 else {}
            record = {"content": f"memory {n} of {n % 7}", "session_id": f"s{n // 10}", "position": n % 10, **user}
            file.write(json.dumps(record | ({"external_id": f"m{n}"} if n % 2 else {})) + "\n")
    return path


def wait_until(check: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.02)


def stored(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT count(*) FROM pgfuse.memories").fetchone()
    return int(row[0]) if row else 0


def has_progressed(url: str, before: int, running: subprocess.Popen[bytes]) -> bool:
    return stored(url) > before or running.poll() is not None


def pids(url: str) -> Iterable[int]:
    query = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with psycopg.connect(url) as connection:
        return [row[0] for row in connection.execute(query)]


def test_killed_again_and_again_it_ends_complete(db: str, big_file: Path) -> None:
    """Every memory is whole or absent after a kill, and the next run completes them."""
    drop_hnsw(db)
    command = [sys.executable, "-c", IN_SMALL_BATCHES, "ingest", str(big_file), "--profile", "p"]
    environment = os.environ | {"PGFUSE_DATABASE_URL": db}
    for _ in range(KILLS):
        running = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(partial(has_progressed, db, stored(db), running))
        time.sleep(random.random() / 3)
        running.kill()
        running.wait()
        wait_until(lambda: not pids(db))
        with psycopg.connect(db) as connection:
            check_all(connection)
    with psycopg.connect(db, autocommit=True) as connection, big_file.open("rb") as file:
        summary = ingest(connection, file, profile_id="p")
        assert (summary.read, summary.changed, summary.failed) == (1500, 0, 0)
        assert stored(db) == 1500
        check_all(connection)
