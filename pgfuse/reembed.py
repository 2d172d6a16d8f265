"""Reembed: build a space of another model beside the one in use, then switch to it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import errors as pg
from psycopg.rows import DictRow, dict_row

from pgfuse import embedders
from pgfuse.errors import DatabaseUnavailable, EmbeddingMismatch, PgfuseError, translate
from pgfuse.missing_vectors import EMBEDDING, Filled, fill
from pgfuse.online_indexes import build_indexes
from pgfuse.spaces import Space, current_space
from pgfuse.steps import run

__all__ = ["EMBEDDING", "Reembedded", "drop_space", "reembed"]

PASSES = 5
POLL_SECONDS = 0.5
SWITCH_ATTEMPTS = 60

NO_TIMEOUTS = "SELECT set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false)"
TRY_LOCK = "SELECT pg_try_advisory_lock(hashtextextended('pgfuse.reembed', 0)) AS mine"
CREATE = "SELECT pgfuse.create_space(model => %(model)s, dim => %(dim)s, indexed => false) AS space_id"
ACTIVATE = "SELECT pgfuse.activate_space(space => %(space_id)s)"
DROP = "SELECT pgfuse.drop_space(space => %(space_id)s) AS removed"
# Writers wait in line behind this lock, so it must not itself wait long.
STOP_WRITERS = (
    "SET LOCAL lock_timeout = '2s'",
    "LOCK TABLE pgfuse.memories IN SHARE MODE",
    "SET LOCAL lock_timeout = 0",
)
WITHOUT_TEXT = r"""
SELECT count(*) AS vectors
FROM pgfuse.vectors v JOIN pgfuse.memories m ON m.profile_id = v.profile_id AND m.id = v.memory_id
WHERE v.space_id = %(space_id)s AND (
    (v.route = 'vec_user' AND coalesce(m.user_text, '') !~ '\S')
    OR (v.route = 'vec_asst' AND coalesce(m.assistant_text, '') !~ '\S')
    OR (starts_with(v.route, 'facet_') AND NOT EXISTS (
        SELECT FROM pgfuse.facets f
        WHERE f.profile_id = v.profile_id AND f.memory_id = v.memory_id AND v.route = 'facet_' || f.name)))
"""

Connection = psycopg.Connection[DictRow]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Reembedded:
    """What a reembed did. `without_text` vectors of the space before were given by callers and cannot be made again."""

    space_id: int
    model: str
    dim: int
    previous_space_id: int
    memories: int
    vectors: int
    all_zero: int
    without_text: int
    seconds: float


def reembed(
    url: str,
    embedder: Any = None,
    *,
    dim: int | None = None,
    progress: Progress = lambda _stage, _done, _total: None,
) -> Reembedded:
    """Embed every memory with another model while reads and writes go on, then switch to it in one transaction.

    Commits as it goes, on a connection of its own: after a kill, call it again and it goes on. Without an `embedder`,
    or with the one in use, it makes the vectors and indexes that the space in use lacks. The vectors of the space
    before stay until `drop_space`. `progress` is called with a stage's name, what is done of it, and how much it is.
    """
    started = time.perf_counter()
    with _connection(url) as conn:
        before = run(conn, current_space())
        chosen = _embedder(before.model if embedder is None else embedder, dim)
        _wait_alone(conn, progress)
        space = _space(conn, chosen)
        filled = _fill_all(conn, space, chosen, progress)
        build_indexes(conn, space.space_id, progress)
        if space != before:
            filled = filled.then(_switch(conn, space, chosen, progress))
        lost = _one(conn, WITHOUT_TEXT, space_id=before.space_id)["vectors"] if space != before else 0
    return Reembedded(
        space_id=space.space_id,
        model=space.model,
        dim=space.dim,
        previous_space_id=before.space_id,
        memories=filled.memories,
        vectors=filled.vectors,
        all_zero=filled.all_zero,
        without_text=lost,
        seconds=time.perf_counter() - started,
    )


def drop_space(url: str, space_id: int) -> int:
    """Remove a space that is not in use, with its vectors and indexes, and return how many vectors it had."""
    with _connection(url) as conn:
        run(conn, current_space())
        return int(_one(conn, DROP, space_id=space_id)["removed"])


@contextmanager
def _connection(url: str) -> Iterator[Connection]:
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as conn:
        conn.execute(NO_TIMEOUTS)
        try:
            yield conn
        except psycopg.Error as error:
            raise _in_words(error, conn) from error


def _in_words(error: psycopg.Error, conn: Connection) -> Exception:
    if isinstance(error, psycopg.OperationalError) and conn.closed:
        return DatabaseUnavailable(
            f"The connection was lost ({' '.join(str(error).split())}). "
            "Run the same command again when the server is back: it goes on where it stopped."
        )
    return translate(error) or error


def _one(conn: Connection, query: str, **parameters: Any) -> DictRow:
    row = conn.execute(query, parameters).fetchone()
    if row is None:
        raise PgfuseError("The database gave no answer.")
    return row


def _embedder(embedder: Any, dim: int | None) -> embedders.Embedder:
    if isinstance(embedder, str) and embedder.startswith("openai:") and dim is not None:
        chosen = embedders.load(embedder, dimensions=dim)
    else:
        chosen = embedders.as_embedder(embedder)
    if dim not in (None, chosen.dim):
        raise EmbeddingMismatch(f"{chosen.name} gives {chosen.dim} dimensions, not {dim}; leave the dimension out.")
    return chosen


def _wait_alone(conn: Connection, progress: Progress) -> None:
    """Only one reembed at a time; the server may still be at work for one that was killed."""
    # Polled, because a statement that waits would in turn hold up the other's CREATE INDEX CONCURRENTLY.
    while not _one(conn, TRY_LOCK)["mine"]:
        progress("waiting for another reembed to end", 0, 1)
        time.sleep(POLL_SECONDS)


def _space(conn: Connection, embedder: embedders.Embedder) -> Space:
    made = _one(conn, CREATE, model=embedder.name, dim=embedder.dim)
    return Space(made["space_id"], embedder.name, embedder.dim)


def _fill_all(conn: Connection, space: Space, embedder: embedders.Embedder, progress: Progress) -> Filled:
    """Fill the space; what a writer was just changing is left for the next pass."""
    filled = Filled()
    for _ in range(PASSES):
        filled = filled.then(fill(conn, space, embedder, progress))
        if not filled.left:
            break
    return filled


def _switch(conn: Connection, space: Space, embedder: embedders.Embedder, progress: Progress) -> Filled:
    """Catch up with the writers and take the space into use, in one transaction."""
    filled = _fill_all(conn, space, embedder, progress)
    for attempt in range(SWITCH_ATTEMPTS):
        try:
            with conn.transaction():
                for statement in STOP_WRITERS:
                    conn.execute(statement)
                last = fill(conn, space, embedder, progress, writers_wait=True)
                conn.execute(ACTIVATE, {"space_id": space.space_id})
            return filled.then(last)
        except pg.LockNotAvailable:
            progress("waiting for a writer's transaction to end", attempt, SWITCH_ATTEMPTS)
            time.sleep(POLL_SECONDS)
    raise PgfuseError(
        f"Space {space.space_id} is complete but not in use: a transaction that writes memories has been open for "
        "minutes. End it, then run the same command again to switch."
    )
