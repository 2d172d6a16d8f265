"""Any model of the sentence-transformers library."""

import importlib
import threading
from collections.abc import Sequence
from typing import Any

from pgfuse.embedders.prefixes import Prefixes, prefixes_for
from pgfuse.embedders.protocol import Vectors


class SentenceTransformersEmbedder:
    """A sentence-transformers model, from a local folder or by its name on the Hugging Face hub.

    Queries and documents get the prefixes given, else the prompts the model defines, else those known for its name.
    Further options go to ``SentenceTransformer`` (``device``, ``revision``, ``truncate_dim``, ...).
    """

    def __init__(
        self,
        model: str,
        *,
        query_prefix: str | None = None,
        document_prefix: str | None = None,
        batch_size: int = 32,
        **model_options: Any,
    ) -> None:
        package = importlib.import_module("sentence_transformers")
        self.name = f"sentence-transformers:{model}"
        self._model = package.SentenceTransformer(model, **model_options)
        prompts = _own_prompts(self._model)
        if not any(prompts):
            prompts = prefixes_for(model)
        self._prompts = prompts.replaced(query_prefix, document_prefix)
        self._batch_size = batch_size
        # Some releases of tokenizers fail with "Already borrowed" when two threads share one.
        self._lock = threading.Lock()
        self.dim = _dimension(self._model) or self.embed(["dimension"]).size

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Return one row a document."""
        return self._encode("encode_document", list(texts), self._prompts.document)

    def embed_query(self, text: str, /) -> Vectors:
        """Return the vector of a query."""
        return self._encode("encode_query", [text], self._prompts.query).reshape(-1)

    def _encode(self, method: str, texts: list[str], prompt: str) -> Vectors:
        # Releases before 5 have only encode().
        encode = getattr(self._model, method, self._model.encode)
        with self._lock:
            vectors: Vectors = encode(
                texts, prompt=prompt, batch_size=self._batch_size, show_progress_bar=False, convert_to_numpy=True
            )
        return vectors

    def __repr__(self) -> str:
        return f"SentenceTransformersEmbedder({self.name!r})"


def _own_prompts(model: Any) -> Prefixes:
    prompts = getattr(model, "prompts", None) or {}
    document = next((prompts[key] for key in ("document", "passage", "corpus") if prompts.get(key)), "")
    return Prefixes(prompts.get("query") or "", document)


def _dimension(model: Any) -> int | None:
    # Renamed in release 6; the old name warns there.
    method = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    dimension: int | None = method()
    return dimension
