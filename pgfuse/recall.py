"""Recall: the right memories for a query, in one call."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg

from pgfuse import log, selection
from pgfuse.connections import AsyncSource, SyncSource, async_connection, database_key, sync_connection
from pgfuse.errors import EmbeddingMismatch, InvalidInput, from_sqlstate
from pgfuse.queries import RECALL, SCHEMA_VERSION, WHY_NOT
from pgfuse.query_vector import QueryVector, forget_space, is_known, mark_known, resolve
from pgfuse.spaces import check_version
from pgfuse.steps import Query, Row, Steps, arun, run
from pgfuse.texts import check_ids, check_json, check_profile, searchable, shown
from pgfuse.types import Hit, Recall, RetrievalMode, Vector
from pgfuse.vectors import to_text

Texts = str | Sequence[str] | None
Time = datetime | str | None


@dataclass(frozen=True)
class Request:
    """A checked recall, ready to be sent."""

    profile_id: str
    query: str | None
    top_k: int
    options: dict[str, Any]
    embedding: Any
    embedder: Any
    count_tokens: Callable[[str], int]


def recall(
    conn: SyncSource,
    query: str | None,
    profile_id: str,
    *,
    top_k: int = 8,
    embedding: Vector | None = None,
    embedder: Any = None,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    session_ids: Texts = None,
    project_id: str | None = None,
    exclude_ids: Iterable[int] = (),
    kinds: Texts = None,
    granularity: Texts = None,
    tags: Texts = None,
    metadata: Mapping[str, Any] | None = None,
    since: Time = None,
    until: Time = None,
    as_of: Time = None,
    mmr: bool | None = None,
    group_by: str | None = None,
    per_group: int | None = None,
    max_tokens: int | None = None,
    count_tokens: Callable[[str], int] = selection.characters_by_four,
) -> Recall:
    """The memories of a profile that answer a query best, each with the account of why.

    Filters (`session_ids` to `as_of`) act inside every route. `settings` and `preset` override the profile's for this
    call.
    """
    request = _request(**locals())
    return run(conn, _recall_steps(request, database_key(sync_connection(conn))), guarded=False)


async def arecall(conn: AsyncSource, query: str | None, profile_id: str, **options: Any) -> Recall:
    """`recall` on an async connection, with the same keyword arguments."""
    request = _request(query=query, profile_id=profile_id, **{**_DEFAULTS, **_known(options)})
    return await arun(conn, _recall_steps(request, database_key(await async_connection(conn))), guarded=False)


def why_not(conn: SyncSource, query: str | None, profile_id: str, id: int, **options: Any) -> dict[str, Any]:
    """Why a memory is not among the hits: the filters that keep it out, its true rank and score in every route, and its
    fused score against the last hit's. Takes the keyword arguments of `recall`."""
    request = _request(query=query, profile_id=profile_id, **{**_DEFAULTS, **_known(options)})
    return run(conn, _why_not_steps(request, database_key(sync_connection(conn)), id))


async def awhy_not(conn: AsyncSource, query: str | None, profile_id: str, id: int, **options: Any) -> dict[str, Any]:
    """`why_not` on an async connection."""
    request = _request(query=query, profile_id=profile_id, **{**_DEFAULTS, **_known(options)})
    return await arun(conn, _why_not_steps(request, database_key(await async_connection(conn)), id))


_DEFAULTS: dict[str, Any] = dict(recall.__kwdefaults__ or {})


def _known(options: dict[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(options) - set(_DEFAULTS))
    if unknown:
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}; known are {', '.join(sorted(_DEFAULTS))}")
    return options


def _request(**given: Any) -> Request:
    query, top_k = given["query"], given["top_k"]
    if query is not None and not isinstance(query, str):
        raise InvalidInput(f"query: {shown(query)} is not allowed; it must be a text or None.")
    if not isinstance(top_k, int) or isinstance(top_k, bool) or not 1 <= top_k <= 1000:
        raise InvalidInput(f"top_k: {shown(top_k)} is not allowed; it must be a whole number from 1 to 1000.")
    if not isinstance(given["profile_id"], str) or not given["profile_id"].replace("\0", ""):
        raise InvalidInput(
            f"profile_id: {given['profile_id']!r:.100} is not allowed; it must be a text that is not empty."
        )
    if not callable(given["count_tokens"]):
        raise InvalidInput(f"count_tokens: {shown(given['count_tokens'])} is not allowed; it must be a function.")
    if query is None and given["embedding"] is None:
        raise InvalidInput("There is neither a query nor an embedding; give at least one.")
    return Request(
        profile_id=check_profile(given["profile_id"]),
        query=None if query is None else searchable(query),
        top_k=top_k,
        options=_options(given),
        embedding=given["embedding"],
        embedder=given["embedder"],
        count_tokens=given["count_tokens"],
    )


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    settings = given["settings"]
    if settings is not None and not isinstance(settings, Mapping):
        raise InvalidInput(f"settings: {shown(settings)} is not allowed; it must be a dict of settings.")
    own = dict(settings or {})
    own |= {name: given[name] for name in ("mmr", "group_by", "per_group", "max_tokens") if given[name] is not None}
    options = {
        "preset": given["preset"],
        "settings": own or None,
        "session_ids": _texts("session_ids", given["session_ids"]),
        "project_id": given["project_id"],
        "exclude_ids": check_ids("exclude_ids", given["exclude_ids"]) or None,
        "kinds": _texts("kinds", given["kinds"]),
        "granularity": _texts("granularity", given["granularity"]),
        "tags": _texts("tags", given["tags"]),
        "metadata": given["metadata"],
        "since": _time(given["since"]),
        "until": _time(given["until"]),
        "as_of": _time(given["as_of"]),
    }
    return {name: value for name, value in options.items() if value is not None}


def _texts(name: str, value: Any) -> Any:
    if value is not None and not isinstance(value, Iterable):
        raise InvalidInput(f"{name}: {shown(value)} is not allowed; it must be a text or a list of texts.")
    return value if value is None or isinstance(value, str) else list(value)


def _time(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _parameters(request: Request, vector: QueryVector) -> dict[str, Any]:
    options = request.options | ({"model": vector.model} if vector.model else {})
    return {
        "profile_id": request.profile_id,
        "query": request.query,
        "embedding": vector.array,
        "top_k": request.top_k,
        "options": check_json("A filter or setting", options),
    }


def _recall_steps(request: Request, key: tuple[str, int, str]) -> Steps[Recall]:
    started = time.perf_counter()
    for attempt in (1, 2):
        vector = yield from resolve(request.query, request.embedding, request.embedder, key)
        params = _parameters(request, vector) | {"schema_version": SCHEMA_VERSION}
        rows: list[Row] = yield Query(RECALL, params, guarded=not is_known(key))
        mark_known(key)
        error = _error(rows)
        if isinstance(error, EmbeddingMismatch) and vector.guessed and attempt == 1:
            forget_space(key)  # the space was switched since it was last read
            continue
        break
    if error:
        raise error
    result = _result(rows, request, vector)
    result.trace["latency_ms"] = (time.perf_counter() - started) * 1000
    log.recalled(result)
    return result


def _error(rows: list[Row]) -> Exception | None:
    failed = (rows[-1]["trace"] or {}).get("error") if rows else None
    if not failed:
        return None
    if "version" in failed:
        check_version(failed["version"])
    known = from_sqlstate(failed["sqlstate"], failed["message"], failed["hint"])
    return known or psycopg.errors.lookup(failed["sqlstate"])(failed["message"])


def _result(rows: list[Row], request: Request, vector: QueryVector) -> Recall:
    trace = rows[-1]["trace"]
    trace["mode"] = RetrievalMode(trace["mode"])
    if vector.reason:
        trace["reason"] = vector.reason
    hits = selection.select(rows[:-1], request.top_k, trace)
    hits = selection.pack(hits, trace["settings"]["max_tokens"], request.count_tokens, trace)
    trace["top"] = [{"id": hit.id, "final_score": hit.final_score, "routes": _parts(hit)} for hit in hits[:5]]
    return Recall(tuple(hits), trace)


def _parts(hit: Hit) -> dict[str, float]:
    return {name: part["contribution"] for name, part in hit.explain["routes"].items()}


def _why_not_steps(request: Request, key: tuple[str, int, str], id: int) -> Steps[dict[str, Any]]:
    wanted = check_ids("id", [id])[0]
    vector = yield from resolve(request.query, request.embedding, request.embedder, key)
    given = {"embedding": vector.array and to_text(vector.array.vector), "memory_id": wanted}
    rows = yield Query(WHY_NOT, _parameters(request, vector) | given)
    answer: dict[str, Any] = rows[0]["answer"]
    return answer
