"""Where a query's vector comes from: the caller, an embedder, or the space's own model."""

from dataclasses import dataclass
from typing import Any

from pgfuse import embedders
from pgfuse.errors import InvalidInput, PgfuseError
from pgfuse.spaces import Space, current_space
from pgfuse.steps import Steps, Work
from pgfuse.vectors import RealArray, check_vector

Key = tuple[str, int, str]

_spaces: dict[Key, Space] = {}
_known: set[Key] = set()


@dataclass(frozen=True)
class QueryVector:
    """A query's vector, or the reason why there is none."""

    array: RealArray | None = None
    model: str | None = None
    reason: str | None = None
    guessed: bool = False


def is_known(key: Key) -> bool:
    """Has this process had an answer from the schema in this database? Then a recall needs no savepoint around it."""
    return key in _known


def mark_known(key: Key) -> None:
    """The schema is there."""
    _known.add(key)


def remember_space(key: Key, space: Space) -> None:
    """Keep what was read of a database, so that a recall needs no second round trip."""
    _spaces[key] = space
    mark_known(key)


def forget_space(key: Key) -> None:
    """Read the space anew at the next call."""
    _spaces.pop(key, None)


def resolve(query: str | None, embedding: Any, embedder: Any, key: Key) -> Steps[QueryVector]:
    """The vector to search with."""
    if embedding is not None:
        return _given(embedding)
    if query is None or not query.strip():
        return QueryVector(reason="the query is empty")
    if embedder is not None:
        return (yield from _embedded(query, embedders.as_embedder(embedder), guessed=False))
    space = _spaces.get(key)
    if space is None:
        space = yield from current_space()
        remember_space(key, space)
    if not embedders.is_loadable(space.model):
        return QueryVector(
            reason=f"no embedding or embedder was given, and {space.model!r} is not a model that pgfuse can load"
        )
    try:
        own = yield Work(lambda: embedders.load(space.model))
        return (yield from _embedded(query, own, guessed=True))
    except InvalidInput:
        raise
    except PgfuseError as error:
        return QueryVector(reason=f"the model {space.model!r} could not be used: {error}")


def _given(embedding: Any) -> QueryVector:
    return QueryVector(array=RealArray(check_vector("embedding", embedding)))


def _embedded(query: str, embedder: embedders.Embedder, *, guessed: bool) -> Steps[QueryVector]:
    vector = yield Work(lambda: embedders.embed_query(embedder, query))
    vector = check_vector(f"the vector from {embedder.name}", vector)
    if not vector.any():
        return QueryVector(reason=f"{embedder.name} gives an all-zero vector for this query")
    named = None if embedder.name.startswith("callable:") else embedder.name
    return QueryVector(array=RealArray(vector), model=named, guessed=guessed)
