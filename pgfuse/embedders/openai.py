"""Embeddings from OpenAI, or from any server that speaks its protocol."""

import os
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pgfuse.embedders.batches import batches
from pgfuse.embedders.pace import Pace
from pgfuse.embedders.prefixes import prefixes_for
from pgfuse.embedders.protocol import Vectors
from pgfuse.embedders.retry import Retry
from pgfuse.embedders.server import Server
from pgfuse.embedders.vectors import as_rows
from pgfuse.errors import EmbedderError, EmbeddingMismatch, InvalidInput

OPENAI_URL = "https://api.openai.com/v1"
DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}


class OpenAIEmbedder:
    """A model behind OpenAI's ``/embeddings`` protocol: OpenAI itself, Ollama, vLLM, LiteLLM and others.

    ``base_url`` and ``api_key`` default to the variables OPENAI_BASE_URL and OPENAI_API_KEY. A shortened vector is
    asked for with ``dimensions=256`` or with the model name ``text-embedding-3-large@256``; its name then ends in
    ``@256``, so that it can be loaded again by name. A blank text gets a zero vector without a request.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        dimensions: int | None = None,
        query_prefix: str | None = None,
        document_prefix: str | None = None,
        batch_size: int = 128,
        batch_characters: int = 200_000,
        timeout: float = 30.0,
        max_retries: int = 5,
        max_wait: float = 60.0,
        requests_per_minute: float | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        _require_positive(
            dimensions=dimensions,
            batch_size=batch_size,
            batch_characters=batch_characters,
            timeout=timeout,
            requests_per_minute=requests_per_minute,
        )
        self._model, self._dimensions = _shortened(model, dimensions)
        native = DIMENSIONS.get(self._model.split("/")[-1])
        self._dim = self._dimensions or native
        self.name = f"openai:{self._model}" + (f"@{self._dim}" if self._dim != native else "")
        self._prefixes = prefixes_for(self._model).replaced(query_prefix, document_prefix)
        self._limits = {"count": batch_size, "characters": batch_characters}
        self._server = Server(
            *_access(base_url, api_key),
            timeout=timeout,
            retry=Retry(max_retries=max_retries, max_wait=max_wait, sleep=sleep),
            pace=Pace(requests_per_minute, sleep=sleep),
        )

    @property
    def dim(self) -> int:
        """The dimension; asks the server once for a model pgfuse does not know."""
        return self._dim or self._request(["dimension"]).size

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Return one row a document."""
        return self._embed(texts, self._prefixes.document)

    def embed_query(self, text: str, /) -> Vectors:
        """Return the vector of a query."""
        return self._embed([text], self._prefixes.query).reshape(-1)

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        # Servers refuse blank input, and one blank text would fail its whole batch.
        filled = [position for position, text in enumerate(texts) if text.strip()]
        parts = [self._request(batch) for batch in batches([prefix + texts[i] for i in filled], **self._limits)]
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        if parts:
            vectors[filled] = np.concatenate(parts)
        return vectors

    def _request(self, texts: list[str]) -> Vectors:
        payload: dict[str, Any] = {"model": self._model, "input": texts}
        if self._dimensions:
            payload["dimensions"] = self._dimensions
        items = _in_order(self.name, self._server.post("embeddings", payload).get("data"), len(texts))
        rows = as_rows(self.name, items)
        self._dim = self._dim or rows.shape[1]
        if rows.shape[1] != self._dim:
            raise EmbeddingMismatch(
                f"The embedder {self.name!r} got vectors of {rows.shape[1]} dimensions instead of {self._dim}. "
                "Check the model's name and the option dimensions."
            )
        return rows

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self.name!r})"


def _require_positive(**options: float | None) -> None:
    for name, value in options.items():
        if value is not None and value <= 0:
            raise InvalidInput(f"The option {name} is {value}; it must be above 0.")


def _shortened(model: str, dimensions: int | None) -> tuple[str, int | None]:
    match = re.fullmatch(r"(.+)@(\d+)", model)
    if not match:
        return model, dimensions
    if dimensions not in (None, int(match[2])):
        raise InvalidInput(f"The model {model!r} and the option dimensions={dimensions} contradict each other.")
    return match[1], int(match[2])


def _access(base_url: str | None, api_key: str | None) -> tuple[str, str | None]:
    url = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
    key = api_key or os.environ.get("OPENAI_API_KEY")
    if url == OPENAI_URL and not key:
        raise InvalidInput(
            "OpenAI needs a key: set OPENAI_API_KEY or give api_key=... "
            "For a server of your own set OPENAI_BASE_URL or give base_url=..."
        )
    return url, key


def _in_order(name: str, items: Any, count: int) -> list[Any]:
    """Return the vectors of an answer in the order of the texts; servers may send them in any."""
    if not isinstance(items, list) or not all(isinstance(item, dict) and "embedding" in item for item in items):
        raise EmbedderError(f"The embedder {name!r} got an answer without a list of embeddings in 'data'.")
    if len(items) != count:
        raise EmbedderError(f"The embedder {name!r} got {len(items)} vectors for {count} texts.")
    placed = {item.get("index", position): item["embedding"] for position, item in enumerate(items)}
    if set(placed) != set(range(count)):
        raise EmbedderError(f"The embedder {name!r} got an answer whose indexes are not 0 to {count - 1}.")
    return [placed[position] for position in range(count)]
