"""What goes into pgfuse and what comes out of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from pgfuse.errors import InvalidInput

Vector = Sequence[float] | NDArray[np.floating[Any]]


class RetrievalMode(StrEnum):
    """What a query is searched with."""

    TEXT_ONLY = "text_only"
    VECTOR_ONLY = "vector_only"
    HYBRID = "hybrid"

    @classmethod
    def determine(cls, has_text: bool, has_vector: bool) -> "RetrievalMode":
        """The mode for a query that has a text, a vector, or both; InvalidInput for neither."""
        if has_text and has_vector:
            return cls.HYBRID
        if has_text:
            return cls.TEXT_ONLY
        if has_vector:
            return cls.VECTOR_ONLY
        raise InvalidInput("There is neither a query nor an embedding; give at least one.")


@dataclass(frozen=True, kw_only=True)
class Memory:
    """One piece of text to remember, with its tags, score, metadata and, where the caller has them, vectors."""

    content: str | None = None
    external_id: str | None = None
    kind: str = "episodic"
    granularity: str = "chunk"
    session_id: str | None = None
    project_id: str | None = None
    position: int | None = None
    user_text: str | None = None
    assistant_text: str | None = None
    task_tag: str | None = None
    tags: Sequence[str] = ()
    language: str = "english"
    memory_score: float = 0.0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    occurred_at: datetime | str | None = None
    created_at: datetime | str | None = None
    facets: Mapping[str, str] = field(default_factory=dict)
    embeddings: Mapping[str, Vector] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Hit:
    """One memory that was found, with its scores and the account of how it got there."""

    id: int
    external_id: str | None
    content: str
    kind: str
    granularity: str
    session_id: str | None
    position: int | None
    tags: tuple[str, ...]
    metadata: dict[str, Any]
    memory_score: float
    occurred_at: datetime | None
    rrf_score: float
    blend_score: float
    final_score: float
    routes: tuple[str, ...]
    sources: tuple[str, ...]
    explain: dict[str, Any]
    neighbor_of: int | None = None


@dataclass(frozen=True)
class Recall(Sequence[Hit]):
    """The hits of one recall, best first, and the trace of how they were found."""

    hits: tuple[Hit, ...]
    trace: dict[str, Any]

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)
