"""The default embedder: static word vectors that come inside a wheel and need no network."""

import importlib
import logging
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pgfuse.embedders.protocol import Vectors

BATCH = 64
TOKENS_AT_ONCE = 8192


class WordLlamaEmbedder:
    """WordLlama's 256-dimensional vectors: fast and offline, but a weak retriever next to a transformer.

    A text without a known token gets a zero vector. One instance may be shared between threads.
    """

    name = "wordllama"
    dim = 256

    def __init__(self) -> None:
        model = _load_offline()
        self._tokenizer = model.tokenizer
        # Without padding a long text does not make its whole batch as long as itself.
        self._tokenizer.no_padding()
        self._token_vectors: Vectors = model.embedding

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Return the mean of each text's token vectors."""
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for start in range(0, len(texts), BATCH):
            batch = list(texts[start : start + BATCH])
            encodings = self._tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            for row, encoding in enumerate(encodings, start):
                vectors[row] = self._mean(encoding.ids)
        return vectors

    def _mean(self, tokens: list[int]) -> Vectors:
        total = np.zeros(self.dim, dtype=np.float32)
        for start in range(0, len(tokens), TOKENS_AT_ONCE):
            total += self._token_vectors[tokens[start : start + TOKENS_AT_ONCE]].sum(axis=0)
        return total / np.float32(max(len(tokens), 1))


def _load_offline() -> Any:
    package = _import_quietly("wordllama")
    # Its own default looks for the tokenizer in the wrong folder and then asks the network.
    return package.WordLlama.load(cache_dir=Path(package.__file__).parent, disable_download=True)


def _import_quietly(name: str) -> Any:
    # WordLlama calls logging.basicConfig when imported, which would take the host's logging over;
    # basicConfig does nothing while the root logger has a handler.
    root, handler = logging.getLogger(), logging.NullHandler()
    root.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    finally:
        root.removeHandler(handler)
