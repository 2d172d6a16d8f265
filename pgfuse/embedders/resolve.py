"""What a caller passes as ``embedder=``."""

import inspect
from typing import cast

from pgfuse.embedders.function import FunctionEmbedder
from pgfuse.embedders.protocol import Embedder
from pgfuse.embedders.registry import load
from pgfuse.errors import InvalidInput

ALLOWED = "an embedder's name, an object with name, dim and embed(texts), or a function from a list of texts to vectors"


def as_embedder(value: object) -> Embedder:
    """Return an embedder for a name, an embedder, or a function from a list of texts to their vectors."""
    if isinstance(value, str):
        return load(value)
    if isinstance(value, type):
        raise InvalidInput(f"The embedder is the class {value.__name__}; give an instance of it.")
    if callable(getattr(value, "embed", None)):
        return _complete(value)
    if not callable(value):
        raise InvalidInput(f"The embedder is a {type(value).__name__}; it must be {ALLOWED}.")
    if inspect.iscoroutinefunction(value):
        raise InvalidInput(f"The embedder is an async function; it must be {ALLOWED}.")
    return FunctionEmbedder(value)


def _complete(value: object) -> Embedder:
    # Looked up without evaluating it: `dim` may be a property that asks a server.
    missing = [name for name in ("name", "dim") if inspect.getattr_static(value, name, None) is None]
    if any(not hasattr(value, name) for name in missing):
        raise InvalidInput(f"The embedder {type(value).__name__} has embed() but no {' or '.join(missing)}.")
    return cast(Embedder, value)
