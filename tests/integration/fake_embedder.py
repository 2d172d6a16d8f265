"""An embedder without a model: every text has a vector of its own, and every call is written down."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DIM = 256


def vector_of(text: str, dim: int = DIM) -> NDArray[np.float32]:
    """The vector of a text: always the same one, and zero for a text that says so."""
    if "zero" in text:
        return np.zeros(dim, dtype=np.float32)
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
    return np.random.default_rng(seed).normal(size=dim).astype(np.float32)


class FakeEmbedder:
    """Call it with texts; `texts` are all that it was ever given. A text with `fails_at` in it makes it fail."""

    def __init__(self, *, dim: int = DIM, fails_at: str | None = None) -> None:
        self.dim = dim
        self.fails_at = fails_at
        self.calls: list[list[str]] = []

    @property
    def texts(self) -> list[str]:
        return [text for call in self.calls for text in call]

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(list(texts))
        if self.fails_at and any(self.fails_at in text for text in texts):
            raise RuntimeError("the model fell over")
        return np.array([vector_of(text, self.dim) for text in texts])


class NoEmbedder:
    """Fails the test that calls it."""

    dim = DIM

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise AssertionError(f"embedded although nothing is new: {list(texts)}")
