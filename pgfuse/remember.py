"""Remember and forget: memories in, with their vectors, all or nothing."""

from collections.abc import Iterable, Mapping
from typing import Any

import psycopg

from pgfuse.batch import remember_steps
from pgfuse.connections import AsyncSource, SyncSource, async_connection, database_key, sync_connection
from pgfuse.errors import InvalidInput
from pgfuse.memory_rows import memory_rows
from pgfuse.queries import FORGET
from pgfuse.steps import Query, Steps, arun_again, run_again
from pgfuse.texts import check_ids, check_profile, check_text, shown
from pgfuse.types import Memory

Memories = Iterable[Memory | Mapping[str, Any]]


def remember(conn: SyncSource, profile_id: str, memories: Memories, *, embedder: Any = None) -> list[int]:
    """Store memories in a profile and return their ids in the order given.

    A memory whose `external_id` is known replaces the stored one; the same text is neither embedded nor written again.
    """
    rows, key = memory_rows(memories), database_key(sync_connection(conn))
    try:
        profile = check_profile(profile_id)
        stored = run_again(conn, lambda: remember_steps(profile, rows, embedder, key))
        return [one.id for one in stored]
    except psycopg.Error as error:
        raise input_error(error) from error


async def aremember(conn: AsyncSource, profile_id: str, memories: Memories, *, embedder: Any = None) -> list[int]:
    """`remember` on an async connection."""
    rows, key = memory_rows(memories), database_key(await async_connection(conn))
    try:
        profile = check_profile(profile_id)
        stored = await arun_again(conn, lambda: remember_steps(profile, rows, embedder, key))
        return [one.id for one in stored]
    except psycopg.Error as error:
        raise input_error(error) from error


def forget(
    conn: SyncSource,
    profile_id: str,
    *,
    ids: Iterable[int] | None = None,
    external_ids: Iterable[str] | None = None,
    session_ids: Iterable[str] | None = None,
) -> int:
    """Remove memories by id, external id or session, with everything derived, and return how many there were."""
    params = _forget_params(profile_id, ids, external_ids, session_ids)
    return run_again(conn, lambda: _forget_steps(params))


async def aforget(
    conn: AsyncSource,
    profile_id: str,
    *,
    ids: Iterable[int] | None = None,
    external_ids: Iterable[str] | None = None,
    session_ids: Iterable[str] | None = None,
) -> int:
    """`forget` on an async connection."""
    params = _forget_params(profile_id, ids, external_ids, session_ids)
    return await arun_again(conn, lambda: _forget_steps(params))


def input_error(error: psycopg.Error) -> Exception:
    """The database's own refusals that are the input's fault; any other error stays what it is."""
    if isinstance(error, psycopg.errors.UndefinedObject) and "text search configuration" in str(error):
        return InvalidInput(f"language: {error.diag.message_primary}; list the known ones with psql's \\dF.")
    if isinstance(error, psycopg.errors.ProgramLimitExceeded):
        return InvalidInput(f"A memory is too long to be indexed ({error.diag.message_primary}); split it into chunks.")
    return error


def _texts(name: str, values: Iterable[Any] | None) -> list[str] | None:
    if values is None:
        return None
    if not isinstance(values, Iterable):
        raise InvalidInput(f"{name}: {shown(values)} is not allowed; it must be a list of texts.")
    return [check_text(name, value) for value in ([values] if isinstance(values, str) else values)]


def _forget_params(
    profile_id: str,
    ids: Iterable[int] | None,
    external_ids: Iterable[str] | None,
    session_ids: Iterable[str] | None,
) -> dict[str, Any]:
    if ids is None and external_ids is None and session_ids is None:
        raise InvalidInput("Nothing says what to forget; give ids, external_ids or session_ids.")
    return {
        "profile_id": check_profile(profile_id),
        "ids": None if ids is None else check_ids("ids", ids),
        "external_ids": _texts("external_ids", external_ids),
        "session_ids": _texts("session_ids", session_ids),
    }


def _forget_steps(params: dict[str, Any]) -> Steps[int]:
    rows = yield Query(FORGET, params)
    return int(rows[0]["removed"])
