"""Vectors on their way into and out of PostgreSQL."""

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgfuse.errors import EmbeddingMismatch, InvalidInput


def check_vector(name: str, value: Any) -> NDArray[np.float32]:
    """The value as a vector of finite numbers; InvalidInput otherwise."""
    try:
        vector = np.asarray(value, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"{name} is not a list of numbers ({error}).") from error
    if vector.ndim != 1 or vector.size == 0:
        raise InvalidInput(f"{name} has the shape {vector.shape}; it must be one list of numbers.")
    if vector.size > 16_000:
        raise EmbeddingMismatch(f"{name} has {vector.size} dimensions; a vector has at most 16,000.")
    if not np.isfinite(vector).all():
        raise InvalidInput(
            f"{name} holds NaN or infinite numbers (first at position {int(np.argmin(np.isfinite(vector)))})."
        )
    return vector


def to_text(vector: NDArray[np.float32]) -> str:
    """The way pgvector reads a vector from text."""
    return "[" + ",".join(map(repr, vector.tolist())) + "]"


def to_binary(vector: NDArray[np.float32]) -> bytes:
    """The way pgvector receives a vector in binary."""
    return struct.pack(">hh", len(vector), 0) + vector.astype(">f4").tobytes()


def from_binary(data: bytes) -> NDArray[np.float32]:
    """The vector that pgvector sent in binary."""
    return np.frombuffer(data, dtype=">f4", offset=4).astype(np.float32)
