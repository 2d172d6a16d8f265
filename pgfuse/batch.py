"""A batch of memories on its way into the database: compare, embed what is new, store."""

import hashlib
import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from pgfuse import embedders
from pgfuse.errors import EmbeddingMismatch, InvalidInput
from pgfuse.memory_rows import MemoryRow
from pgfuse.queries import COMPARE_MEMORIES, COPY_VECTORS, PRUNE_VECTORS, STORE_MEMORIES
from pgfuse.query_vector import remember_space
from pgfuse.spaces import Space, current_space
from pgfuse.steps import Copy, Query, Row, Steps, Work
from pgfuse.vectors import to_binary

SIZE = 1000
VECTOR_TYPES = ("text", "int8", "int4", "text", "uuid", "bytea")

logger = logging.getLogger("pgfuse")

Key = tuple[int, str]


def fingerprint(data: bytes) -> UUID:
    """What a vector was made from, in 16 bytes."""
    return UUID(bytes=hashlib.md5(data, usedforsecurity=False).digest())


@dataclass(frozen=True)
class Stored:
    """What became of one memory."""

    id: int
    change: Literal["new", "changed", "unchanged"]


@dataclass
class Batch:
    """Some memories of one profile, and the vectors made for them so far; a key is (place in the batch, route)."""

    profile_id: str
    rows: Sequence[MemoryRow]
    space: Space
    embedder: embedders.Embedder | str | None
    made: dict[Key, NDArray[np.float32]] = field(default_factory=dict)

    def wanted(self) -> dict[Key, UUID]:
        """Every vector that there should be, with the fingerprint of its text or of the vector that the caller gave."""
        return {
            (index, route): fingerprint(
                row.vectors[route].tobytes() if route in row.vectors else row.texts[route].encode()
            )
            for index, row in enumerate(self.rows)
            for route in sorted(row.vectors.keys() | (row.texts.keys() if self.embedder else set()))
        }

    def json(self, ordinals: Iterable[int]) -> str:
        """The columns of some memories, as the SQL functions take them."""
        return json.dumps([{"ordinal": ordinal, **self.rows[ordinal].columns} for ordinal in ordinals])


def remember_steps(
    profile_id: str, rows: list[MemoryRow], embedder: Any, key: tuple[str, int, str]
) -> Steps[list[Stored]]:
    """Store checked memories, batch by batch, and tell what became of each."""
    space = yield from current_space()
    remember_space(key, space)
    _check_dimensions(space, rows)
    chosen = _embedder(space, rows, embedder)
    stored: list[Stored] = []
    for start in range(0, len(rows), SIZE):
        stored += yield from _batch_steps(Batch(profile_id, rows[start : start + SIZE], space, chosen))
    return stored


def _check_dimensions(space: Space, rows: Sequence[MemoryRow]) -> None:
    for index, row in enumerate(rows):
        for route, vector in row.vectors.items():
            if len(vector) != space.dim:
                raise EmbeddingMismatch(
                    f"memories[{index}]: embeddings.{route} has {len(vector)} dimensions, "
                    f"but the space in use ({space.model}) has {space.dim}."
                )


def _embedder(space: Space, rows: Sequence[MemoryRow], embedder: Any) -> embedders.Embedder | str | None:
    """The embedder to use, checked against the space; None where every vector is given, or none can be made."""
    if all(row.texts.keys() <= row.vectors.keys() for row in rows):
        return None
    if embedder is None:
        if embedders.is_loadable(space.model):
            return space.model
        _warn_of_missing(space, rows)
        return None
    chosen = embedders.as_embedder(embedder)
    if not chosen.name.startswith("callable:") and chosen.name != space.model:
        raise EmbeddingMismatch(
            f"The embedder is {chosen.name!r}, but the space in use is of {space.model!r}: use that model, "
            "or build a new space with `pgfuse reembed`."
        )
    return chosen


def _warn_of_missing(space: Space, rows: Sequence[MemoryRow]) -> None:
    """Only the caller has vectors of this space; memories without one are stored, and found by their words alone."""
    bare = sum(not row.vectors for row in rows)
    if bare:
        logger.warning(
            "%d memories come without embeddings, and pgfuse cannot load the model %r of the space in use: "
            "they are missing from the vector routes",
            *(bare, space.model),
        )


def _batch_steps(batch: Batch) -> Steps[list[Stored]]:
    known = yield from _known_steps(batch)
    wanted = batch.wanted()
    missing = [key for key, source in wanted.items() if _stored_source(known, key) != str(source)]
    yield from _make_vectors(batch, missing)
    changed = {index for index in range(len(batch.rows)) if not known.get(index, {}).get("same")}
    ids = {index: row["id"] for index, row in known.items()}
    if changed:
        rows = yield Query(STORE_MEMORIES, {"profile_id": batch.profile_id, "memories": batch.json(sorted(changed))})
        ids |= {row["ordinal"]: row["id"] for row in rows}
    touched = changed | {index for index, route in missing if batch.made[index, route].any()}
    if touched:
        yield from _store_vectors(batch, wanted, ids, touched)
    return [Stored(ids[index], _change(index, known, touched)) for index in range(len(batch.rows))]


def _change(index: int, known: Mapping[int, Row], touched: set[int]) -> Literal["new", "changed", "unchanged"]:
    if index not in known:
        return "new"
    return "changed" if index in touched else "unchanged"


def _known_steps(batch: Batch) -> Steps[dict[int, Row]]:
    keyed = [index for index, row in enumerate(batch.rows) if row.columns["external_id"] is not None]
    if not keyed:
        return {}
    params = {"profile_id": batch.profile_id, "space": batch.space.space_id, "memories": batch.json(keyed)}
    rows: list[Row] = yield Query(COMPARE_MEMORIES, params)
    return {row["ordinal"]: row for row in rows}


def _stored_source(known: Mapping[int, Row], key: Key) -> str | None:
    source: str | None = known[key[0]]["sources"].get(key[1]) if key[0] in known else None
    return source


def _make_vectors(batch: Batch, keys: Sequence[Key]) -> Steps[None]:
    """Take the vectors that the caller gave, and embed the rest."""
    given = {key: batch.rows[key[0]].vectors[key[1]] for key in keys if key[1] in batch.rows[key[0]].vectors}
    texts = [key for key in keys if key not in given]
    batch.made |= given
    if texts:
        vectors = yield Work(lambda: _embed(batch, [batch.rows[index].texts[route] for index, route in texts]))
        batch.made |= dict(zip(texts, vectors, strict=True))
    zero = sorted({route for index, route in keys if not batch.made[index, route].any()})
    if zero:
        logger.warning("all-zero vectors are not stored; some memories are missing from %s", ", ".join(zero))


def _embed(batch: Batch, texts: list[str]) -> NDArray[np.float32]:
    embedder = embedders.load(batch.embedder) if isinstance(batch.embedder, str) else batch.embedder
    if embedder is None:
        raise InvalidInput("There is no embedder for these memories.")
    vectors = embedders.embed_documents(embedder, texts)
    if vectors.shape[1] != batch.space.dim:
        raise EmbeddingMismatch(
            f"{embedder.name} gives {vectors.shape[1]} dimensions, "
            f"but the space in use ({batch.space.model}) has {batch.space.dim}."
        )
    return vectors


def _store_vectors(batch: Batch, wanted: Mapping[Key, UUID], ids: Mapping[int, int], touched: set[int]) -> Steps[None]:
    keys = [key for key in wanted if key[0] in touched]
    params = {
        "profile_id": batch.profile_id,
        "space": batch.space.space_id,
        "ids": [ids[index] for index in sorted(touched)],
        "wanted_ids": [ids[index] for index, _ in keys],
        "wanted_routes": [route for _, route in keys],
        "wanted_sources": [wanted[key] for key in keys],
    }
    there = {(row["id"], row["route"]) for row in (yield Query(PRUNE_VECTORS, params))}
    absent = [key for key in keys if (ids[key[0]], key[1]) not in there]
    # another writer may have changed a memory since it was compared
    yield from _make_vectors(batch, [key for key in absent if key not in batch.made])
    rows = list(_vector_rows(batch, wanted, ids, absent))
    if rows:
        yield Copy(COPY_VECTORS, VECTOR_TYPES, rows)


def _vector_rows(
    batch: Batch, wanted: Mapping[Key, UUID], ids: Mapping[int, int], keys: Sequence[Key]
) -> Iterator[Sequence[Any]]:
    """Rows for COPY. An all-zero vector has no cosine and is left out: the memory is missing from that route."""
    for key in keys:
        vector = batch.made[key]
        if vector.any():
            yield batch.profile_id, ids[key[0]], batch.space.space_id, key[1], wanted[key], to_binary(vector)
