"""One ranked list per route: exact cosine, BM25, and the filters that act before the limit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from tests.oracle.corpus import Doc

Scores = dict[int, float]
Words = Callable[[str, str | None], Counter[str]]
TASK_TAG_WEIGHT = 3


@dataclass(frozen=True)
class Route:
    """What one route returned, best first, and its score of any memory of the profile that it can score."""

    name: str
    weight: float
    ids: list[int]
    scores: Scores

    @property
    def best(self) -> float:
        return self.scores[self.ids[0]]


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """The cosine of the angle between two vectors."""
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def ordered(scores: Scores) -> list[int]:
    """Ids by score, highest first; scores equal to nine decimals go by id."""
    return sorted(scores, key=lambda key: (-round(scores[key], 9), key))


def contains(value: Any, wanted: Any) -> bool:
    """What jsonb's @> means: objects by key, arrays by element, all else by equality."""
    if isinstance(wanted, Mapping):
        return isinstance(value, Mapping) and all(k in value and contains(value[k], v) for k, v in wanted.items())
    if isinstance(wanted, list):
        return isinstance(value, list) and all(any(contains(v, w) for v in value) for w in wanted)
    return isinstance(value, bool) == isinstance(wanted, bool) and bool(value == wanted)


def allowed(doc: Doc, filters: Mapping[str, Any]) -> bool:
    """Whether a memory passes every filter that is given."""
    latest: list[datetime] = [filters[name] for name in ("until", "as_of") if filters.get(name) is not None]
    tests: dict[str, Callable[[Any], bool]] = {
        "session_ids": lambda given: doc.session_id in given,
        "project_id": lambda given: doc.project_id == given,
        "exclude_ids": lambda given: doc.id not in given,
        "kinds": lambda given: doc.kind in given,
        "granularity": lambda given: doc.granularity in given,
        "tags": lambda given: bool(set(doc.tags) & set(given)),
        "metadata": lambda given: contains(doc.metadata, given),
        "since": lambda given: doc.time >= given,
    }
    passed = all(test(filters[name]) for name, test in tests.items() if filters.get(name) is not None)
    return passed and all(doc.time <= moment for moment in latest)


def with_next_user(docs: Sequence[Doc]) -> list[Doc]:
    """The memories with vec_next_user: the vec_user of the next user turn of the same session and granularity."""
    return [replace(doc, vectors={**doc.vectors, **_next_user(doc, docs)}) for doc in docs]


def _next_user(doc: Doc, docs: Sequence[Doc]) -> dict[str, Sequence[float]]:
    place = (doc.profile_id, doc.session_id, doc.granularity)
    if doc.session_id is None or doc.position is None or doc.granularity == "session":
        return {}
    later = [
        (other.position, other.id, other)
        for other in docs
        if (other.profile_id, other.session_id, other.granularity) == place
        and other.user_text is not None
        and other.position is not None
        and other.position > doc.position
    ]
    vector = min(later)[2].vectors.get("vec_user") if later else None
    return {} if vector is None else {"vec_next_user": vector}


def dense(docs: Sequence[Doc], route: str, embedding: Sequence[float]) -> Scores:
    """The cosine of every memory that has a vector of the route."""
    return {doc.id: cosine(doc.vectors[route], embedding) for doc in docs if route in doc.vectors}


def bm25(docs: Sequence[Doc], query: str, words: Words, settings: Mapping[str, Any]) -> Scores:
    """Lucene's BM25 of every memory of a profile that matches; the query is read in each memory's own language."""
    asked = {doc.language: set(words(doc.language, query)) for doc in docs}
    counts = {doc.id: _counts(doc, words) for doc in docs}
    df = Counter((doc.language, lexeme) for doc in docs for lexeme in counts[doc.id][0])
    average = max(sum(length for _, length in counts.values()) / max(len(docs), 1), 1e-9)
    k1, b = float(settings["bm25_k1"]), float(settings["bm25_b"])

    def part(doc: Doc, lexeme: str) -> float:
        tf, length = counts[doc.id][0][lexeme], counts[doc.id][1]
        n = df[doc.language, lexeme]
        return math.log(1 + (len(docs) - n + 0.5) / (n + 0.5)) * tf / (tf + k1 * (1 - b + b * length / average))

    enough = all if settings["lexical_match"] == "all" else any
    return {
        doc.id: math.fsum(part(doc, lexeme) for lexeme in asked[doc.language] if lexeme in counts[doc.id][0])
        for doc in docs
        if asked[doc.language] and enough(lexeme in counts[doc.id][0] for lexeme in asked[doc.language])
    }


def _counts(doc: Doc, words: Words) -> tuple[dict[str, int], int]:
    content, tag = words(doc.language, doc.content), words(doc.language, doc.task_tag)
    tf = {lexeme: content[lexeme] + TASK_TAG_WEIGHT * tag[lexeme] for lexeme in content | tag}
    return tf, content.total() + tag.total()
