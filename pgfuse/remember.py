"""Remember and forget: memories in, with their vectors, all or nothing."""

import hashlib
import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray

from pgfuse import embedders
from pgfuse.connections import AsyncSource, SyncSource, async_connection, database_key, sync_connection
from pgfuse.errors import EmbeddingMismatch, InvalidInput
from pgfuse.memory_rows import MemoryRow, memory_rows
from pgfuse.queries import COMPARE_MEMORIES, COPY_VECTORS, FORGET, PRUNE_VECTORS, STORE_MEMORIES
from pgfuse.query_vector import remember_space
from pgfuse.spaces import Space, current_space
from pgfuse.steps import Copy, Query, Row, Steps, Work, arun, run
from pgfuse.texts import check_text
from pgfuse.types import Memory
from pgfuse.vectors import to_binary

BATCH = 1000
VECTOR_TYPES = ("text", "int8", "int4", "text", "uuid", "bytea")

logger = logging.getLogger("pgfuse")

Memories = Iterable[Memory | Mapping[str, Any]]
Key = tuple[int, str]


def remember(conn: SyncSource, profile_id: str, memories: Memories, *, embedder: Any = None) -> list[int]:
    """Store memories in a profile and return their ids in the order given.

    A memory whose `external_id` is known replaces the stored one; the same text is neither embedded nor written again.
    """
    rows, key = memory_rows(memories), database_key(sync_connection(conn))
    return _as_input_error(lambda: run(conn, _remember_steps(_profile(profile_id), rows, embedder, key)))


async def aremember(conn: AsyncSource, profile_id: str, memories: Memories, *, embedder: Any = None) -> list[int]:
    """`remember` on an async connection."""
    rows, key = memory_rows(memories), database_key(await async_connection(conn))
    try:
        return await arun(conn, _remember_steps(_profile(profile_id), rows, embedder, key))
    except psycopg.Error as error:
        raise _input_error(error) from error


def forget(
    conn: SyncSource, profile_id: str, *, ids: Iterable[int] | None = None, external_ids: Iterable[str] | None = None,
    session_ids: Iterable[str] | None = None,
) -> int:  # fmt: skip
    """Remove memories by id, external id or session, with everything derived from them, and return how many there were."""
    return run(conn, _forget_steps(_profile(profile_id), ids, external_ids, session_ids))


async def aforget(
    conn: AsyncSource, profile_id: str, *, ids: Iterable[int] | None = None, external_ids: Iterable[str] | None = None,
    session_ids: Iterable[str] | None = None,
) -> int:  # fmt: skip
    """`forget` on an async connection."""
    return await arun(conn, _forget_steps(_profile(profile_id), ids, external_ids, session_ids))


def _profile(profile_id: object) -> str:
    if not check_text("profile_id", profile_id):
        raise InvalidInput("profile_id is empty; it must name the profile.")
    return str(profile_id)


def _as_input_error(call: Any) -> Any:
    try:
        return call()
    except psycopg.Error as error:
        raise _input_error(error) from error


def _input_error(error: psycopg.Error) -> Exception:
    """The database's own refusals that are the input's fault; any other error stays what it is."""
    if isinstance(error, psycopg.errors.UndefinedObject) and "text search configuration" in str(error):
        return InvalidInput(f"language: {error.diag.message_primary}; list the known ones with psql's \\dF.")
    if isinstance(error, psycopg.errors.ProgramLimitExceeded):
        return InvalidInput(f"A memory is too long to be indexed ({error.diag.message_primary}); split it into chunks.")
    return error


def _texts(name: str, values: Iterable[Any] | None) -> list[str] | None:
    if values is None:
        return None
    return [check_text(name, value) for value in ([values] if isinstance(values, str) else values)]


def _forget_steps(profile_id: str, ids: Iterable[int] | None, external_ids: Iterable[str] | None, session_ids: Iterable[str] | None) -> Steps[int]:
    if ids is None and external_ids is None and session_ids is None:
        raise InvalidInput("Nothing says what to forget; give ids, external_ids or session_ids.")
    params = {
        "profile_id": profile_id,
        "ids": None if ids is None else [int(id) for id in ids],
        "external_ids": _texts("external_ids", external_ids),
        "session_ids": _texts("session_ids", session_ids),
    }
    rows = yield Query(FORGET, params)
    return int(rows[0]["removed"])


@dataclass
class Batch:
    """A part of a call on its way into the database."""

    profile_id: str
    rows: Sequence[MemoryRow]
    space: Space
    embedder: Any
    made: dict[Key, NDArray[np.float32]]

    def source(self, key: Key) -> UUID:
        """What a vector is made from, as a fingerprint: the text, or the vector that the caller gave."""
        row, route = self.rows[key[0]], key[1]
        given = row.vectors.get(route)
        data = row.texts[route].encode() if given is None else given.tobytes()
        return UUID(bytes=hashlib.md5(data, usedforsecurity=False).digest())

    def wanted(self) -> list[Key]:
        """Every (memory, route) that should have a vector."""
        return [(index, route) for index, row in enumerate(self.rows) for route in sorted(row.texts.keys() | row.vectors.keys())]

    def json(self, ordinals: Iterable[int]) -> str:
        """The columns of some memories, as the SQL functions take them."""
        return json.dumps([{"ordinal": ordinal, **self.rows[ordinal].columns} for ordinal in ordinals])


def _remember_steps(profile_id: str, rows: list[MemoryRow], embedder: Any, key: tuple[str, int, str]) -> Steps[list[int]]:
    space = yield from current_space()
    remember_space(key, space)
    chosen = _embedder(space, rows, embedder)
    ids: list[int] = []
    for start in range(0, len(rows), BATCH):
        ids += yield from _batch_steps(Batch(profile_id, rows[start : start + BATCH], space, chosen, {}))
    return ids


def _embedder(space: Space, rows: Sequence[MemoryRow], embedder: Any) -> Any:
    """The embedder to use, checked against the space; None where every vector is given or none can be made."""
    for index, row in enumerate(rows):
        for route, vector in row.vectors.items():
            if len(vector) != space.dim:
                raise EmbeddingMismatch(f"memories[{index}]: embeddings.{route} has {len(vector)} dimensions, but the space in use ({space.model}) has {space.dim}.")
    if all(row.texts.keys() <= row.vectors.keys() for row in rows):
        return None
    if embedder is None:
        return space.model if embedders.is_loadable(space.model) else _no_embedder(space, rows)
    chosen = embedders.as_embedder(embedder)
    if not chosen.name.startswith("callable:") and chosen.name != space.model:
        raise EmbeddingMismatch(
            f"The embedder is {chosen.name!r}, but the space in use is of {space.model!r}: use that model, or build a new space with `pgfuse reembed`."
        )
    return chosen


def _no_embedder(space: Space, rows: Sequence[MemoryRow]) -> None:
    if any(row.vectors for row in rows):
        return  # the caller brings vectors; a route without one is reported by `pgfuse doctor`
    raise InvalidInput(
        f"The space in use is of {space.model!r}, which is not a model that pgfuse can load: pass embedder= or embeddings= with each memory."
    )


def _batch_steps(batch: Batch) -> Steps[list[int]]:
    known = yield from _known_steps(batch)
    wanted = {key: batch.source(key) for key in batch.wanted() if key[1] in batch.rows[key[0]].vectors or batch.embedder is not None}
    missing = [key for key, source in wanted.items() if known.get(key[0], {}).get("sources", {}).get(key[1]) != str(source)]
    yield from _make_vectors(batch, missing)
    changed = [index for index in range(len(batch.rows)) if not known.get(index, {}).get("same")]
    ids = {index: row["id"] for index, row in known.items()}
    if changed:
        stored = yield Query(STORE_MEMORIES, {"profile_id": batch.profile_id, "memories": batch.json(changed)})
        ids |= {row["ordinal"]: row["id"] for row in stored}
    if changed or missing:
        yield from _store_vectors(batch, wanted, ids, sorted({*changed, *(key[0] for key in missing)}))
    return [ids[index] for index in range(len(batch.rows))]


def _known_steps(batch: Batch) -> Steps[dict[int, Row]]:
    keyed = [index for index, row in enumerate(batch.rows) if row.columns["external_id"] is not None]
    if not keyed:
        return {}
    params = {"profile_id": batch.profile_id, "space": batch.space.space_id, "memories": batch.json(keyed)}
    rows: list[Row] = yield Query(COMPARE_MEMORIES, params)
    return {row["ordinal"]: row for row in rows}


def _make_vectors(batch: Batch, keys: Sequence[Key]) -> Steps[None]:
    """Take the vectors that the caller gave and embed the rest; an all-zero vector has no cosine and is left out."""
    texts = [key for key in keys if key[1] not in batch.rows[key[0]].vectors]
    batch.made |= {key: batch.rows[key[0]].vectors[key[1]] for key in keys if key[1] in batch.rows[key[0]].vectors}
    if texts:
        vectors = yield Work(lambda: _embed(batch, [batch.rows[index].texts[route] for index, route in texts]))
        batch.made |= dict(zip(texts, vectors, strict=True))
    zero = [key for key in keys if not batch.made[key].any()]
    if zero:
        logger.warning("%d vectors are all zeros and are not stored; those memories are missing from these routes: %s", len(zero), sorted({r for _, r in zero}))


def _embed(batch: Batch, texts: list[str]) -> NDArray[np.float32]:
    embedder = embedders.load(batch.embedder) if isinstance(batch.embedder, str) else batch.embedder
    vectors = embedders.embed_documents(embedder, texts)
    if vectors.shape[1] != batch.space.dim:
        raise EmbeddingMismatch(f"{embedder.name} gives {vectors.shape[1]} dimensions, but the space in use ({batch.space.model}) has {batch.space.dim}.")
    return vectors


def _store_vectors(batch: Batch, wanted: Mapping[Key, UUID], ids: Mapping[int, int], touched: Sequence[int]) -> Steps[None]:
    keys = [key for key in wanted if key[0] in set(touched)]
    present = yield Query(PRUNE_VECTORS, {
        "profile_id": batch.profile_id, "space": batch.space.space_id, "ids": [ids[index] for index in touched],
        "wanted_ids": [ids[key[0]] for key in keys], "wanted_routes": [key[1] for key in keys], "wanted_sources": [wanted[key] for key in keys],
    })  # fmt: skip
    there = {(row["id"], row["route"]) for row in present}
    absent = [key for key in keys if (ids[key[0]], key[1]) not in there]
    # another writer may have changed a memory since it was compared
    yield from _make_vectors(batch, [key for key in absent if key not in batch.made])
    yield Copy(COPY_VECTORS, VECTOR_TYPES, _vector_rows(batch, wanted, ids, absent))


def _vector_rows(batch: Batch, wanted: Mapping[Key, UUID], ids: Mapping[int, int], keys: Sequence[Key]) -> Iterator[Sequence[Any]]:
    for key in keys:
        vector = batch.made[key]
        if vector.any():
            yield batch.profile_id, ids[key[0]], batch.space.space_id, key[1], wanted[key], to_binary(vector)
