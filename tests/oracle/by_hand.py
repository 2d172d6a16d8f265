"""Memories made by hand: what counts about each is its cosine to the query [1, 0, 0]."""

from __future__ import annotations

from math import sqrt
from typing import Any

from tests.oracle.corpus import Doc

QUERY = [1, 0, 0]


def at_angle(cosine: float) -> list[float]:
    """A vector with this cosine to the query's."""
    return [cosine, sqrt(1 - cosine * cosine), 0]


def doc(id: int, cosine: float | None = None, **columns: Any) -> Doc:
    """A memory, with a vector of this cosine if one is given."""
    vectors = {} if cosine is None else {"vec_full": at_angle(cosine)}
    given: dict[str, Any] = {"id": id, "content": f"text {id}", "vectors": vectors}
    return Doc(**given | columns)


def turn(id: int, cosine: float | None = None, position: int | None = None, session: str = "s", **columns: Any) -> Doc:
    """A turn of a session."""
    return doc(id, cosine, **{"session_id": session, "position": position, "granularity": "turn"} | columns)
