"""From a folder to questions that can be asked: read, stored in the scratch database, and embedded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg

from pgfuse import embedders
from pgfuse.evaluate import documents, scratch
from pgfuse.evaluate.folders import Folder, read_folder
from pgfuse.evaluate.judged import Judged, from_folder, from_profile, with_vectors
from pgfuse.evaluate.known_items import known_items


@dataclass(frozen=True)
class Source:
    """A folder, and how it is to be read."""

    path: Path
    vectors: str | None = None
    model: str = embedders.DEFAULT
    profile_key: str | None = None
    exclude: Sequence[str] = ()


@dataclass(frozen=True)
class Prepared:
    """Where the questions are to be asked, and what they are."""

    url: str
    judged: Judged


def prepare(url: str, source: Source, done: Callable[[int, int], object]) -> Prepared:
    """Store a folder beside the database at the URL, or find it there; `done` hears how many of how many."""
    folder = read_folder(source.path, source.vectors)
    profile = documents.profile_namer(folder, documents.profile_key(folder, source.profile_key))
    judged = from_folder(folder, profile, source.exclude)
    model, dim = _space(source, folder)
    grouped = documents.memories(folder, profile)
    total, stored = sum(map(len, grouped.values())), 0

    def count(batch: int) -> None:
        nonlocal stored
        stored += batch
        done(stored, total)

    place = scratch.database(url, model, dim)
    scratch.store(place, grouped, count)
    return Prepared(place, with_vectors(judged, model))


def _space(source: Source, folder: Folder) -> tuple[str, int]:
    if source.vectors and folder.document_vectors is not None:
        return f"vectors/{source.vectors}", folder.document_vectors.shape[1]
    return source.model, embedders.load(source.model).dim


def prepare_profile(url: str, profile_id: str) -> Prepared:
    """The judgments of a profile, to be asked where they are stored."""
    with psycopg.connect(url) as conn:
        judged = from_profile(conn, profile_id)
        return Prepared(url, with_vectors(judged, _active_model(conn)))


def prepare_known_items(url: str, profile_id: str, seed: int) -> Prepared:
    """Questions made from the memories of a profile without judgments."""
    with psycopg.connect(url) as conn:
        judged = known_items(conn, profile_id, seed)
        return Prepared(url, with_vectors(judged, _active_model(conn)))


def _active_model(conn: psycopg.Connection) -> str:
    row = conn.execute("SELECT model FROM pgfuse.spaces WHERE active").fetchone()
    return str(row[0]) if row else ""
