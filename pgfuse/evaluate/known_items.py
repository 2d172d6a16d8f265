"""Questions made from the memories themselves, for a profile that nobody has judged."""

import re
from typing import Any

import numpy as np
import psycopg

from pgfuse.errors import InvalidInput
from pgfuse.evaluate.judged import Judged, Question, memory_id

MOST = 200
SAMPLE = """
SELECT id, content FROM pgfuse.memories WHERE profile_id = %s AND granularity <> 'session'
ORDER BY hashtextextended(id::text, %s) LIMIT %s
"""
NOTE = (
    "there are no judgments, so each query is made of some words of a stored memory, which is then to be found: "
    "weaker evidence than judged queries, and kind to the lexical route"
)
SENTENCE = re.compile(r"(?<=[.!?\n])\s+")
WORD = re.compile(r"\w[\w'-]*")
LEAST_LETTERS, FEWEST, MOST_WORDS = 4, 3, 8


def known_items(conn: psycopg.Connection[Any], profile_id: str, seed: int) -> Judged:
    """Up to MOST questions, each about one memory."""
    generator = np.random.default_rng(seed)
    rows = conn.execute(SAMPLE, (profile_id, seed, MOST)).fetchall()
    questions, relevance = [], {}
    for found, content in rows:
        text = question_text(content, generator)
        if text:
            questions.append(Question(f"known:{found}", text, profile_id))
            relevance[f"known:{found}"] = {str(found): 1}
    if not questions:
        raise InvalidInput(f"The profile {profile_id!r} has neither judgments nor memories to make queries from.")
    return Judged(profile_id, tuple(questions), relevance, memory_id, (NOTE,))


def question_text(content: str, generator: np.random.Generator) -> str | None:
    """Half of the longer words of one sentence, in their order; None for a text that has too few."""
    sentences = [words for part in SENTENCE.split(content) if len(words := _words(part)) >= FEWEST]
    if not sentences:
        return None
    words = sentences[generator.integers(len(sentences))]
    count = min(MOST_WORDS, max(FEWEST, len(words) // 2))
    kept = sorted(generator.choice(len(words), count, replace=False))
    return " ".join(words[index] for index in kept)


def _words(sentence: str) -> list[str]:
    return [word for word in WORD.findall(sentence) if len(word) >= LEAST_LETTERS]
