"""A scratch database beside the user's own, so that an evaluation leaves no trace in what it is run against."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import make_url

from pgfuse import migrate
from pgfuse.errors import PgfuseError
from pgfuse.evaluate.documents import Memories
from pgfuse.remember import forget, remember

BATCH = 1000
GONE = """
SELECT external_id FROM pgfuse.memories WHERE profile_id = %s AND NOT coalesce(external_id = ANY (%s), false)
"""


def database(url: str, model: str, dim: int) -> str:
    """The URL of the scratch database for vectors of a model, made and migrated where it does not exist yet.

    Its name is made from the schema's SQL, so that another version of pgfuse never measures with this one's functions.
    """
    base = make_url(url)
    digest = hashlib.sha256(migrate.offline_sql(dim=dim, model=model).encode()).hexdigest()[:10]
    name = f"{(base.database or 'postgres')[:40]}_eval_{digest}"
    _create(url, name)
    scratch = base.set(database=name).render_as_string(hide_password=False)
    migrate.upgrade(scratch, dim=dim, model=model)
    return scratch


def _create(url: str, name: str) -> None:
    with psycopg.connect(url, autocommit=True) as conn:
        if conn.execute("SELECT FROM pg_database WHERE datname = %s", (name,)).fetchone():
            return
        try:
            conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        except psycopg.errors.DuplicateDatabase:
            return  # another evaluation was quicker
        except psycopg.errors.InsufficientPrivilege as error:
            raise PgfuseError(
                f"Evaluating a folder needs a scratch database ({name}), and this role may not create one. "
                "Grant it CREATEDB, or leave --database-url out to use an embedded server."
            ) from error


def store(url: str, grouped: Memories, done: Callable[[int], object]) -> None:
    """Store the memories of each profile, and forget what is no longer among them; `done` hears of each batch."""
    with psycopg.connect(url, autocommit=True) as conn:
        for profile, memories in grouped.items():
            _forget_others(conn, profile, memories)
        missing = sum(map(len, grouped.values())) - _size(conn, grouped)
        with _bulk(conn) if missing > BATCH else nullcontext():
            for profile, memories in grouped.items():
                for start in range(0, len(memories), BATCH):
                    batch = memories[start : start + BATCH]
                    remember(conn, profile, batch)
                    done(len(batch))


@contextmanager
def _bulk(conn: psycopg.Connection) -> Iterator[None]:
    """Without the vector indexes while much is stored: to build them afterwards takes half the time."""
    for (name,) in conn.execute("SELECT i.name FROM pgfuse.spaces s, pgfuse.space_indexes(s.space_id) i").fetchall():
        conn.execute(sql.SQL("DROP INDEX IF EXISTS pgfuse.{}").format(sql.Identifier(name)))
    yield
    conn.execute("SELECT pgfuse.create_space_indexes(space_id) FROM pgfuse.spaces")
    conn.execute("VACUUM ANALYZE")


def _forget_others(conn: psycopg.Connection, profile: str, memories: Iterable[dict[str, Any]]) -> None:
    kept = [memory["external_id"] for memory in memories]
    gone = [row[0] for row in conn.execute(GONE, (profile, kept))]
    if gone:
        forget(conn, profile, external_ids=gone)


def _size(conn: psycopg.Connection, grouped: Memories) -> int:
    query = "SELECT count(*) FROM pgfuse.memories WHERE profile_id = ANY (%s)"
    row = conn.execute(query, (list(grouped),)).fetchone()
    return int(row[0]) if row else 0
