"""A plain function as an embedder."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from pgfuse.embedders.protocol import Vectors
from pgfuse.embedders.vectors import as_rows, embed_documents

PROBE = "dimension"


class FunctionEmbedder:
    """An embedder made of any function that takes a list of texts and returns their vectors.

    Its name and dimension are those given, else those the function carries as attributes, else its import path
    and what its first answer shows.
    """

    def __init__(
        self, function: Callable[[list[str]], Any], *, name: str | None = None, dim: int | None = None
    ) -> None:
        self._function = function
        self._dim = dim or _attribute(function, "dim", int)
        self.name = name or _attribute(function, "name", str) or _path(function)

    @property
    def dim(self) -> int:
        """The dimension; embeds one short text to find it when nothing has told it yet."""
        if self._dim is None:
            return embed_documents(self, [PROBE]).size
        return self._dim

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Call the function."""
        rows = as_rows(self.name, self._function(list(texts)))
        if self._dim is None and len(rows):
            self._dim = rows.shape[1]
        return rows

    def __repr__(self) -> str:
        return f"FunctionEmbedder({self.name!r})"


def _attribute(function: Any, name: str, kind: type) -> Any:
    value = getattr(function, name, None)
    return value if isinstance(value, kind) else None


def _path(function: Any) -> str:
    if isinstance(function, functools.partial):
        return _path(function.func)
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"callable:{named.__module__}.{named.__qualname__}"
