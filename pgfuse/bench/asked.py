"""The queries of a benchmark: made from stored memories, or given as texts."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from pgfuse import embedders
from pgfuse.errors import NOT_MIGRATED, InvalidInput, SchemaMismatch
from pgfuse.texts import check_profile

WORDS = 12
NOISE = 0.1
LARGEST = "SELECT profile_id FROM pgfuse.memories GROUP BY profile_id ORDER BY count(*) DESC, profile_id LIMIT 1"
COUNT = "SELECT count(*) FROM pgfuse.memories WHERE profile_id = %s"
SPACE = "SELECT space_id, model FROM pgfuse.spaces WHERE active"
SAMPLE = """
SELECT m.content, v.embedding::text
FROM (SELECT m.id, m.content FROM pgfuse.memories m WHERE m.profile_id = %(profile)s
      ORDER BY hashint8(m.id), m.id LIMIT %(most)s) m
LEFT JOIN pgfuse.vectors v
    ON v.profile_id = %(profile)s AND v.memory_id = m.id AND v.space_id = %(space)s AND v.route = 'vec_full'
ORDER BY m.id
"""
Connection = psycopg.Connection[Any]
Vector = NDArray[np.float32]


@dataclass(frozen=True)
class Asked:
    """A query: its words, and its vector where it has one."""

    text: str
    vector: Vector | None


@dataclass(frozen=True)
class Profile:
    """Whose memories are searched, how many they are, and in which space."""

    id: str
    memories: int
    space_id: int
    model: str


def find_profile(conn: Connection, wanted: str | None) -> Profile:
    """The profile named, or else the one with most memories."""
    space = conn.execute(SPACE).fetchone()
    if space is None:
        raise SchemaMismatch(f"No embedding space is in use. {NOT_MIGRATED}")
    largest = conn.execute(LARGEST).fetchone()
    if largest is None:
        raise InvalidInput(
            "The database has no memories to search. Store some first: pgfuse ingest FILE --profile NAME."
        )
    name = str(largest[0]) if wanted is None else check_profile(wanted)
    row = conn.execute(COUNT, (name,)).fetchone()
    if row is None or not row[0]:
        raise InvalidInput(
            f"The profile {name!r:.100} has no memories. Name another with --profile, or leave it out for the largest."
        )
    return Profile(name, int(row[0]), int(space[0]), str(space[1]))


def sampled(conn: Connection, profile: Profile, most: int) -> list[Asked]:
    """The first words of some stored memories, each with the memory's own vector, a little changed."""
    params = {"profile": profile.id, "space": profile.space_id, "most": most}
    generator = np.random.default_rng(most)
    rows = conn.execute(SAMPLE, params).fetchall()
    return [Asked(" ".join(content.split()[:WORDS]), _near(vector, generator)) for content, vector in rows]


def _near(text: str | None, generator: np.random.Generator) -> Vector | None:
    if text is None:
        return None
    vector = np.array(json.loads(text), dtype=np.float32)
    noise = generator.normal(size=len(vector)) / np.sqrt(len(vector))
    return np.asarray(vector + NOISE * np.linalg.norm(vector) * noise, dtype=np.float32)


def embedded(texts: Sequence[str], model: str) -> list[Asked]:
    """Texts of the user's own, with vectors from the space's model where that can be loaded."""
    asked = [text.strip() for text in texts if text.strip()]
    if not asked:
        raise InvalidInput("There are no queries in the file; write one a line.")
    if not embedders.is_loadable(model):
        return [Asked(text, None) for text in asked]
    embedder = embedders.load(model)
    vectors = [embedders.embed_query(embedder, text) for text in asked]
    return [Asked(text, vector if vector.any() else None) for text, vector in zip(asked, vectors, strict=True)]
