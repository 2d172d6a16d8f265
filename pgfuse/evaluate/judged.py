"""Questions with their judgments: from a folder, or from the table pgfuse.judgments."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.rows import dict_row

from pgfuse import embedders
from pgfuse.errors import InvalidInput
from pgfuse.evaluate.folders import Folder, Record, Relevance, identifier
from pgfuse.types import Hit

STORED = """
SELECT query_id, query, memory_id, relevance FROM pgfuse.judgments WHERE profile_id = %s ORDER BY query_id, memory_id
"""
HELP = "INSERT INTO pgfuse.judgments (profile_id, query_id, query, memory_id, relevance) VALUES …"


@dataclass(frozen=True)
class Question:
    """A query to be asked in a profile."""

    id: str
    text: str
    profile_id: str
    embedding: Any = None


@dataclass(frozen=True)
class Judged:
    """Questions, which documents answer them, and what was noticed on the way; every question has an answer."""

    name: str
    questions: tuple[Question, ...]
    relevance: Mapping[str, Mapping[str, int]]
    document_id: Callable[[Hit], str]
    notes: tuple[str, ...] = ()

    @property
    def profiles(self) -> list[str]:
        """The profiles that are asked."""
        return sorted({question.profile_id for question in self.questions})

    def take(self, places: Iterable[int]) -> "Judged":
        """The same with some of the questions, in the order given."""
        return replace(self, questions=tuple(self.questions[place] for place in places))


def from_folder(folder: Folder, profile: Callable[[Record], str], exclude: Sequence[str] = ()) -> Judged:
    """The judged queries of a folder, each to be asked in its profile."""
    kept = [
        Question(identifier(query), query["text"], profile(query), _row(folder.query_vectors, index))
        for index, query in enumerate(folder.queries)
        if query.get("category") not in exclude
    ]
    categories = {query.get("category") for query in folder.queries}
    notes = [f"no query has the category {name!r}" for name in exclude if name not in categories]
    notes += _folder_notes(folder)
    return _judged(folder.path.resolve().name, kept, folder.relevance, _external_id, notes)


def from_profile(conn: psycopg.Connection[Any], profile_id: str) -> Judged:
    """The judgments stored for a profile."""
    with conn.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(STORED, (profile_id,)).fetchall()
    relevance: Relevance = {}
    for row in rows:
        relevance.setdefault(row["query_id"], {})[str(row["memory_id"])] = row["relevance"]
    texts = {row["query_id"]: row["query"] for row in rows}
    questions = [Question(query_id, text, profile_id) for query_id, text in texts.items()]
    if not questions:
        raise InvalidInput(f"The profile {profile_id!r} has no judgments. Store some: {HELP}")
    return _judged(profile_id, questions, relevance, memory_id, [])


def memory_id(hit: Hit) -> str:
    """What a stored judgment calls a memory."""
    return str(hit.id)


def with_vectors(judged: Judged, model: str) -> Judged:
    """The questions with their vectors, made once by the space's own model; those that have one keep it."""
    if all(question.embedding is not None for question in judged.questions):
        return judged
    if not embedders.is_loadable(model):
        note = f"the questions have no vectors, and {model!r} cannot be loaded: only words are searched"
        return replace(judged, notes=(*judged.notes, note))
    embedder = embedders.load(model)
    return replace(judged, questions=tuple(_embedded(question, embedder) for question in judged.questions))


def _embedded(question: Question, embedder: embedders.Embedder) -> Question:
    if question.embedding is not None or not question.text.strip():
        return question
    vector = embedders.embed_query(embedder, question.text)
    return replace(question, embedding=vector if vector.any() else None)


def _judged(
    name: str, questions: list[Question], relevance: Relevance, document_id: Callable[[Hit], str], notes: list[str]
) -> Judged:
    judged = [question for question in questions if any(relevance.get(question.id, {}).values())]
    if not judged:
        raise InvalidInput(f"{name}: none of the {len(questions)} queries has a relevant document; nothing to measure.")
    if len(judged) < len(questions):
        notes = [
            *notes,
            f"{len(questions) - len(judged)} of {len(questions)} queries have no relevant document and are left out",
        ]
    if len(judged) == 1:
        notes = [*notes, "there is one judged query only: no interval can be given"]
    return Judged(name, tuple(judged), relevance, document_id, tuple(notes))


def _folder_notes(folder: Folder) -> list[str]:
    documents = {identifier(document) for document in folder.documents}
    queries = {identifier(query) for query in folder.queries}
    unknown = sum(document not in documents for judged in folder.relevance.values() for document in judged)
    strange = sum(query not in queries for query in folder.relevance)
    empty = sum(not f"{document.get('title') or ''}{document['text']}".strip() for document in folder.documents)
    notes = [f"{unknown} judgments name a document that is not in the corpus; it counts as not found"] * (unknown > 0)
    notes += [f"{strange} judged queries are not in queries.jsonl"] * (strange > 0)
    return notes + [f"{empty} documents without text are left out"] * (empty > 0)


def _external_id(hit: Hit) -> str:
    return str(hit.external_id)


def _row(vectors: NDArray[np.float32] | None, index: int) -> NDArray[np.float32] | None:
    return vectors[index] if vectors is not None and vectors[index].any() else None
