"""Static embeddings made with Model2Vec."""

import importlib
import threading
from collections.abc import Sequence
from typing import Any

from pgfuse.embedders.protocol import Vectors


class Model2VecEmbedder:
    """A Model2Vec model, from a local folder (or a name on the Hugging Face hub, which needs the network once)."""

    def __init__(self, path: str, *, batch_size: int = 1024) -> None:
        package = importlib.import_module("model2vec")
        self.name = f"model2vec:{path}"
        self._model: Any = package.StaticModel.from_pretrained(path, force_download=False)
        self.dim = int(self._model.dim)
        self._batch_size = batch_size
        # Each call sets the truncation of the shared tokenizer; in some releases of tokenizers that fails with
        # "Already borrowed" while another thread uses it.
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Return one row a text."""
        with self._lock:
            vectors: Vectors = self._model.encode(
                list(texts), batch_size=self._batch_size, use_multiprocessing=False, show_progress_bar=False
            )
        return vectors

    def __repr__(self) -> str:
        return f"Model2VecEmbedder({self.name!r})"
