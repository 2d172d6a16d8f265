"""Ingest: a stream of JSON lines into memories, batch by batch, in constant memory."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import psycopg

from pgfuse.batch import Stored, remember_steps
from pgfuse.connections import database_key
from pgfuse.errors import DatabaseUnavailable, EmbeddingMismatch, InvalidInput
from pgfuse.lines import Input, Line, read_input, read_lines
from pgfuse.memory_rows import MemoryRow, memory_row
from pgfuse.remember import input_error
from pgfuse.spaces import Space, current_space
from pgfuse.steps import run

BATCH_LINES = 1000
BATCH_BYTES = 16_000_000
KEPT_FAILURES = 100
FIRST_ANALYZE = 5000
ANALYZE = "ANALYZE pgfuse.memories, pgfuse.vectors, pgfuse.postings, pgfuse.facets"
REFUSALS = (InvalidInput, psycopg.DataError, psycopg.IntegrityError)


@dataclass(frozen=True)
class Failure:
    """A line that could not be stored, and why."""

    line: int
    reason: str


@dataclass
class Summary:
    """What an ingest has done so far; of the failures only the first hundred are kept."""

    read: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    failed: int = 0
    seconds: float = 0.0
    bytes_read: int = 0
    failures: list[Failure] = field(default_factory=list)

    @property
    def stored(self) -> int:
        """Lines whose memory is in the database."""
        return self.new + self.changed + self.unchanged

    @property
    def rows_per_second(self) -> float:
        """Lines read by time taken."""
        return self.read / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class Entry:
    """A checked line."""

    line: int
    profile_id: str
    row: MemoryRow
    embedding_model: str | None

    @property
    def key(self) -> tuple[str, str]:
        """What makes it one memory."""
        return self.profile_id, self.row.columns["external_id"]


def ingest(
    conn: psycopg.Connection[Any],
    stream: BinaryIO,
    *,
    profile_id: str | None = None,
    strict: bool = False,
    embedder: Any = None,
    progress: Callable[[Summary], None] = lambda _: None,
    failed: Callable[[Failure], None] = lambda _: None,
) -> Summary:
    """Store every line of a stream as a memory, and tell how many were new, changed, unchanged or could not be.

    Each thousand lines are a transaction of their own, so `conn` must be in autocommit mode. A line is known again by
    its `external_id` (or `_id`, or `id`), and one without by all it says: after a kill, run the same again.
    A line that cannot be stored is passed to `failed`, or with `strict` raised. `progress` is called after each batch.
    """
    if not conn.autocommit:
        raise InvalidInput(
            "conn is not in autocommit mode; ingest commits every batch, so connect with autocommit=True."
        )
    work = _Ingest(conn, strict, embedder, failed)
    try:
        for line in read_lines(stream):
            if work.is_full():
                work.flush()
                progress(work.summary)
            work.add(line, profile_id)
        work.flush()
    except psycopg.OperationalError as error:
        raise _broken_off(error, work) from error
    progress(work.summary)
    return work.summary


def _broken_off(error: psycopg.OperationalError, work: "_Ingest") -> Exception:
    if not work.conn.closed:
        return error
    return DatabaseUnavailable(
        f"The connection was lost after {work.summary.stored:,} lines ({' '.join(str(error).split())}). "
        "Run the same command again when the server is back: what is stored is not stored twice."
    )


class _Ingest:
    """The lines collected for the next batch, and the account of those before."""

    def __init__(
        self, conn: psycopg.Connection[Any], strict: bool, embedder: Any, failed: Callable[[Failure], None]
    ) -> None:
        self.conn, self.strict, self.embedder, self.failed = conn, strict, embedder, failed
        self.key = database_key(conn)
        self.space: Space = run(conn, current_space())
        self.summary = Summary()
        self.started = time.perf_counter()
        self.entries: dict[tuple[str, str], Entry] = {}
        self.bytes = 0
        self.analyze_at = FIRST_ANALYZE

    def is_full(self) -> bool:
        return len(self.entries) >= BATCH_LINES or self.bytes >= BATCH_BYTES

    def add(self, line: Line, profile_id: str | None) -> None:
        """Check a line and put it into the batch."""
        self.summary.read += 1
        self.summary.bytes_read = line.end
        self.bytes += len(line.text or b"")
        try:
            entry = _entry(line.number, read_input(line, profile_id))
        except InvalidInput as error:
            self.fail(line.number, error)
            return
        before = self.entries.get(entry.key)
        if before and before.row.columns == entry.row.columns and not before.row.vectors and not entry.row.vectors:
            self.summary.unchanged += 1
            return
        if before:  # the later line wins, here as in another batch
            self.flush()
        self.entries[entry.key] = entry

    def fail(self, line: int, error: Exception) -> None:
        """Count and report a line, or stop at it."""
        failure = Failure(line, _reason(error))
        if self.strict:
            raise InvalidInput(
                f"Line {line}: {failure.reason} Stopped there, with {self.summary.stored:,} lines stored."
            )
        self.summary.failed += 1
        if len(self.summary.failures) < KEPT_FAILURES:
            self.summary.failures.append(failure)
        self.failed(failure)

    def flush(self) -> None:
        """Store the batch, each profile in a transaction of its own."""
        if self.summary.new >= self.analyze_at:  # a table that has just grown tenfold is planned for as it was
            self.conn.execute(ANALYZE)
            self.analyze_at *= 10
        by_profile: dict[str, list[Entry]] = {}
        for entry in self.entries.values():
            by_profile.setdefault(entry.profile_id, []).append(entry)
        for profile_id, entries in by_profile.items():
            self.store_switched(profile_id, entries)
        self.entries, self.bytes = {}, 0
        self.summary.seconds = time.perf_counter() - self.started

    def store_switched(self, profile_id: str, entries: Sequence[Entry]) -> None:
        """Store, and once more when another space was taken into use at this very moment."""
        try:
            self.store(profile_id, self.of_space(entries))
        except EmbeddingMismatch:
            before, self.space = self.space, run(self.conn, current_space())
            if before == self.space:
                raise
            self.store(profile_id, self.of_space(entries))

    def of_space(self, entries: Sequence[Entry]) -> list[Entry]:
        """The lines whose vectors, if any, are of the space in use; the others fail."""
        fitting = []
        for entry in entries:
            try:
                _check_space(entry, self.space)
                fitting.append(entry)
            except InvalidInput as error:
                self.fail(entry.line, error)
        return fitting

    def store(self, profile_id: str, entries: Sequence[Entry]) -> None:
        """Store lines of a profile; when the database refuses them, halve until the ones to blame are found."""
        if not entries:
            return
        try:
            self.count(self.remember(profile_id, [entry.row for entry in entries]))
        except REFUSALS as error:
            if len(entries) == 1:
                self.fail(entries[0].line, error)
                return
            middle = len(entries) // 2
            self.store(profile_id, entries[:middle])
            self.store(profile_id, entries[middle:])

    def remember(self, profile_id: str, rows: list[MemoryRow]) -> list[Stored]:
        try:
            return run(self.conn, remember_steps(profile_id, rows, self.embedder, self.key))
        except psycopg.Error as error:
            raise input_error(error) from error

    def count(self, stored: Sequence[Stored]) -> None:
        changes = [one.change for one in stored]
        self.summary.new += changes.count("new")
        self.summary.changed += changes.count("changed")
        self.summary.unchanged += changes.count("unchanged")


def _entry(line: int, given: Input) -> Entry:
    if given.embedding_model is not None and not isinstance(given.embedding_model, str):
        raise InvalidInput(f"embedding_model: {given.embedding_model!r:.100} is not allowed; it must be a text.")
    try:
        return Entry(line, given.profile_id, memory_row(given.memory), given.embedding_model)
    except RecursionError as error:
        raise InvalidInput("metadata is nested too deeply.") from error


def _check_space(entry: Entry, space: Space) -> None:
    vectors = entry.row.vectors
    if vectors and entry.embedding_model not in (None, space.model):
        raise InvalidInput(
            f"its vectors are of {entry.embedding_model!r}, but the space in use is of {space.model!r}; "
            "leave embeddings out to have the text embedded again."
        )
    for route, vector in vectors.items():
        if len(vector) != space.dim:
            raise InvalidInput(
                f"embeddings.{route} has {len(vector)} dimensions, "
                f"but the space in use ({space.model}) has {space.dim}."
            )


def _reason(error: Exception) -> str:
    said = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return " ".join((said or str(error)).split())
