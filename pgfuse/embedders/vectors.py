"""Calling an embedder, and refusing what must not reach the database."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from pgfuse.embedders.protocol import Embedder, Vectors
from pgfuse.errors import EmbedderError, EmbeddingMismatch, InvalidInput, PgfuseError

T = TypeVar("T")


def embed_documents(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Embed texts that are to be stored: one float32 row a text, in the order given.

    A zero vector passes, because static models give one for some real texts; NaN and infinity do not.
    """
    texts = _texts(texts)
    if not texts:
        return np.empty((0, embedder.dim), dtype=np.float32)
    rows = as_rows(embedder.name, _call(embedder, embedder.embed, texts))
    return _checked(embedder, rows, len(texts))


def embed_query(embedder: Embedder, text: str) -> Vectors:
    """Embed one query, in the way the embedder wants queries if it has one: a float32 vector."""
    own = getattr(embedder, "embed_query", None)
    if own is None:
        return embed_documents(embedder, [text]).reshape(-1)
    vector = _call(embedder, own, _texts([text])[0])
    return _checked(embedder, as_rows(embedder.name, [vector]), 1).reshape(-1)


def as_rows(name: str, values: Any) -> Vectors:
    """Read what an embedder returned (lists, an array, a generator) as a float32 matrix."""
    if isinstance(values, Iterator):
        values = list(values)
    try:
        # A float64 too large for float32 becomes infinity here, and is refused by the caller's check.
        with np.errstate(over="ignore"):
            rows = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError) as exc:
        raise EmbedderError(f"The embedder {name!r} did not return one list of numbers a text: {exc}") from exc
    if rows.ndim != 2:
        raise EmbedderError(
            f"The embedder {name!r} returned an array of shape {rows.shape}; it must be (number of texts, dimension)."
        )
    return rows


def _texts(texts: Sequence[str]) -> list[str]:
    if isinstance(texts, str):
        raise InvalidInput("Give the embedder a list of texts, not one string.")
    texts = list(texts)
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise InvalidInput(f"Only text can be embedded; item {position} is {type(text).__name__}.")
    return texts


def _call(embedder: Embedder, function: Callable[[T], Any], argument: T) -> Any:
    try:
        return function(argument)
    except PgfuseError:
        raise
    except Exception as exc:
        raise EmbedderError(f"The embedder {embedder.name!r} failed with {type(exc).__name__}: {exc}") from exc


def _checked(embedder: Embedder, rows: Vectors, count: int) -> Vectors:
    if len(rows) != count:
        raise EmbedderError(f"The embedder {embedder.name!r} returned {len(rows)} vectors for {count} texts.")
    if rows.shape[1] != embedder.dim:
        raise EmbeddingMismatch(
            f"The embedder {embedder.name!r} returned vectors of {rows.shape[1]} dimensions; its dim is {embedder.dim}."
        )
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if bad.size:
        raise EmbedderError(f"The embedder {embedder.name!r} returned NaN or infinity for text {bad[0]} of {count}.")
    return rows
