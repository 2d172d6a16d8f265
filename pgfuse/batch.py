"""Memories on their way into the database: compare, embed what is new, lock, store."""

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
from pgfuse.queries import COMPARE_MEMORIES, COPY_VECTORS, LOCK_CALL, PRUNE_VECTORS, STORE_MEMORIES
from pgfuse.query_vector import remember_space
from pgfuse.route_texts import route_texts
from pgfuse.spaces import Space, current_space
from pgfuse.steps import Copy, Query, Row, Steps, Work
from pgfuse.vectors import to_binary

SIZE = 1000
GIVEN = 5
CHARACTERS = 16_000_000
VECTOR_TYPES = ("text", "int8", "int4", "text", "uuid", "bytea")

logger = logging.getLogger("pgfuse")

Key = tuple[int, str]
Change = Literal["new", "changed", "unchanged"]


def text_fingerprint(text: str) -> UUID:
    """What a vector was made from, in 16 bytes; the version tells it from a vector that the caller gave."""
    return UUID(bytes=hashlib.md5(text.encode(), usedforsecurity=False).digest(), version=3)


def vector_fingerprint(vector: NDArray[np.float32]) -> UUID:
    """The mark of a vector that the caller gave."""
    digest = hashlib.md5(vector.tobytes(), usedforsecurity=False).digest()
    return UUID(bytes=digest, version=GIVEN)


@dataclass(frozen=True)
class Stored:
    """What became of one memory."""

    id: int
    change: Change


@dataclass
class Batch:
    """Some memories of one profile, what is stored of them, and the vectors made so far; a key is (place, route)."""

    profile_id: str
    rows: Sequence[MemoryRow]
    space: Space
    embedder: embedders.Embedder | str | None
    known: dict[int, Row] = field(default_factory=dict)
    wanted: dict[Key, UUID | None] = field(default_factory=dict)
    made: dict[Key, NDArray[np.float32]] = field(default_factory=dict)

    def json(self, ordinals: Iterable[int]) -> str:
        """The columns of some memories, as the SQL functions take them."""
        return json.dumps([{"ordinal": ordinal, **self.rows[ordinal].columns} for ordinal in ordinals])

    def changed(self) -> set[int]:
        """The memories whose rows are new or differ from what is stored."""
        return {index for index in range(len(self.rows)) if not self.known.get(index, {}).get("same")}

    def touched(self) -> set[int]:
        """The memories that are to be written: rows that changed, and rows for which there are new vectors."""
        return self.changed() | {index for (index, _), vector in self.made.items() if vector.any()}


def remember_steps(
    profile_id: str, rows: Sequence[MemoryRow], embedder: Any, key: tuple[str, int, str]
) -> Steps[list[Stored]]:
    """Store checked memories and tell what became of each.

    Everything is compared and embedded before the first lock. Locks are taken in one order over the whole call (table,
    sessions, rows by external id), so that calls at the same time cannot deadlock.
    """
    space = yield from current_space()
    remember_space(key, space)
    _check_dimensions(space, rows)
    chosen = _embedder(space, rows, embedder)
    order = sorted(range(len(rows)), key=lambda index: (rows[index].columns["external_id"] or "", index))
    places = [sorted(part) for part in _parts(order, rows)]
    batches = [Batch(profile_id, [rows[index] for index in part], space, chosen) for part in places]
    for batch in batches:
        yield from _prepare(batch)
    if any(batch.touched() for batch in batches):
        yield _lock(profile_id, rows)
    stored: dict[int, Stored] = {}
    for part, batch in zip(places, batches, strict=True):
        stored |= dict(zip(part, (yield from _store(batch)), strict=True))
    return [stored[index] for index in range(len(rows))]


def _parts(order: Sequence[int], rows: Sequence[MemoryRow]) -> Iterator[list[int]]:
    """Cut into batches by number, and by size: one statement takes no more than 256 MB."""
    part: list[int] = []
    size = 0
    for index in order:
        length = sum(len(text) for text in (rows[index].columns["content"], *rows[index].texts.values()))
        if part and (len(part) == SIZE or size + length > CHARACTERS):
            yield part
            part, size = [], 0
        part.append(index)
        size += length
    if part:
        yield part


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
            "they are missing from the vector routes unless they have vectors already",
            *(bare, space.model),
        )


def _lock(profile_id: str, rows: Sequence[MemoryRow]) -> Query:
    def distinct(column: str) -> list[str]:
        return sorted({row.columns[column] for row in rows if row.columns[column] is not None})

    params = {
        "profile_id": profile_id,
        "session_ids": distinct("session_id"),
        "external_ids": distinct("external_id"),
    }
    return Query(LOCK_CALL, params)


def _prepare(batch: Batch) -> Steps[None]:
    """Find out what is stored already, and make the vectors that are missing."""
    keyed = [index for index, row in enumerate(batch.rows) if row.columns["external_id"] is not None]
    if keyed:
        params = {"profile_id": batch.profile_id, "space": batch.space.space_id, "memories": batch.json(keyed)}
        batch.known = {row["ordinal"]: row for row in (yield Query(COMPARE_MEMORIES, params))}
    missing = []
    for index, row in enumerate(batch.rows):
        kept = _kept(row, batch.known.get(index))
        sources = _sources(row, embedding=batch.embedder is not None) | kept
        batch.wanted |= {(index, route): source for route, source in sources.items()}
        known = batch.known.get(index, {"sources": {}})["sources"]
        missing += [
            (index, route) for route in sources if route not in kept and known.get(route) != str(sources[route])
        ]
    yield from _make_vectors(batch, missing)


def _sources(row: MemoryRow, *, embedding: bool) -> dict[str, UUID | None]:
    """The vectors that there should be, with the fingerprint of the text or of the vector that the caller gave."""
    sources: dict[str, UUID | None] = {}
    if embedding:
        sources |= {route: text_fingerprint(text) for route, text in row.texts.items()}
    return sources | {route: vector_fingerprint(vector) for route, vector in row.vectors.items()}


def _kept(row: MemoryRow, known: Row | None) -> dict[str, UUID | None]:
    """Vectors that the caller gave earlier stay where the call brings none and the text of the route is what it was."""
    if known is None:
        return {}
    before = route_texts(known["stored"])
    stored = {route: source and UUID(source) for route, source in known["sources"].items()}
    return {
        route: source
        for route, source in stored.items()
        if (source is None or source.version == GIVEN)
        and route not in row.vectors
        and before.get(route) == row.texts.get(route)
    }


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


def _store(batch: Batch) -> Steps[list[Stored]]:
    ids = {index: row["id"] for index, row in batch.known.items()}
    changed, touched = sorted(batch.changed()), batch.touched()
    if changed:
        rows = yield Query(STORE_MEMORIES, {"profile_id": batch.profile_id, "memories": batch.json(changed)})
        ids |= {row["ordinal"]: row["id"] for row in rows}
    if touched:
        yield from _store_vectors(batch, ids, touched)
    return [
        Stored(ids[index], "new" if index not in batch.known else "changed" if index in touched else "unchanged")
        for index in range(len(batch.rows))
    ]


def _store_vectors(batch: Batch, ids: Mapping[int, int], touched: set[int]) -> Steps[None]:
    keys = [key for key in batch.wanted if key[0] in touched]
    params = {
        "profile_id": batch.profile_id,
        "space": batch.space.space_id,
        "ids": [ids[index] for index in sorted(touched)],
        "wanted_ids": [ids[index] for index, _ in keys],
        "wanted_routes": [route for _, route in keys],
        "wanted_sources": [batch.wanted[key] for key in keys],
    }
    there = {(row["id"], row["route"]) for row in (yield Query(PRUNE_VECTORS, params))}
    absent = [key for key in keys if (ids[key[0]], key[1]) not in there]
    # another writer may have changed a memory since it was compared
    lost = [key for key in absent if key not in batch.made]
    yield from _make_vectors(batch, [key for key in lost if batch.embedder and key[1] in batch.rows[key[0]].texts])
    rows = list(_vector_rows(batch, ids, absent))
    if rows:
        yield Copy(COPY_VECTORS, VECTOR_TYPES, rows)


def _vector_rows(batch: Batch, ids: Mapping[int, int], keys: Sequence[Key]) -> Iterator[Sequence[Any]]:
    """Rows for COPY. An all-zero vector has no cosine and is left out: the memory is missing from that route."""
    for key in keys:
        vector = batch.made.get(key)
        if vector is not None and vector.any():
            yield batch.profile_id, ids[key[0]], batch.space.space_id, key[1], batch.wanted[key], to_binary(vector)
