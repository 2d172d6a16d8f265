"""Vectors of texts, made once: long texts take the default embedder minutes."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.progress import Counted
from pgfuse import embedders

BATCH = 5_000
Vectors = np.ndarray[Any, np.dtype[np.float32]]


def embed(texts: Sequence[str]) -> Vectors:
    """Vectors of length 1; a text without a known word has a zero vector."""
    embedder, counted = embedders.load(), Counted("embedding", len(texts))
    vectors = np.empty((len(texts), embedder.dim), np.float32)
    for start in range(0, len(texts), BATCH):
        found = embedders.embed_documents(embedder, texts[start : start + BATCH])
        vectors[start : start + len(found)] = found
        counted.add(len(found))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=vectors, where=lengths > 0)


def embed_once(texts: Sequence[str], folder: Path) -> Vectors:
    """The same, kept in the folder under a name made from the texts."""
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
    path = folder / f"vectors-{digest}.npy"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        np.save(path, embed(texts))
    return np.load(path)
