"""BM25 from postings, from texts, and by its formula in Python give the same scores."""

from __future__ import annotations

import math
import random
from typing import Any

import psycopg
import pytest

pytest_plugins = ("tests.sql.fixtures",)
K1, B = 0.9, 0.4
COUNTED = """
SELECT n, (SELECT cardinality(u.positions) FROM unnest(d.fts) u) AS places,
       width_bucket(ts_rank('{1, 1, 1, 1}', d.fts, 'w')::float8, pgfuse.rank_steps()) AS told,
       width_bucket(ts_rank('{0, 0, 0, 1}', setweight(d.fts, 'A'), 'w')::float8, pgfuse.rank_steps()) AS told_of_tags
FROM generate_series(1, 300) AS n CROSS JOIN LATERAL (SELECT to_tsvector('simple', repeat('w ', n))) AS d (fts)
"""
DOCUMENTS = """
SELECT d.memory_id, d.score FROM pgfuse.bm25_documents('p', '{}', %(ids)s, ROW(NULL, NULL,
    ARRAY(SELECT pgfuse.term('pg_catalog.simple', l) FROM unnest(%(words)s::text[]) l),
    array_fill('pg_catalog.simple'::regconfig, ARRAY[cardinality(%(words)s::text[])]), %(words)s::text[], NULL, NULL),
    ARRAY(SELECT pgfuse.term('pg_catalog.simple', l) FROM unnest(%(words)s::text[]) l), %(idfs)s::float8[], 0, %(flat)s, %(per_word)s) d
"""


def test_a_count_is_told_from_ts_rank(small: psycopg.Connection[Any]) -> None:
    rows = small.execute(COUNTED).fetchall()
    assert [row[0] for row in rows] == list(range(1, 301))
    assert all(told == of_tags == places for _, places, told, of_tags in rows)


def bm25(text: list[str], tag: str | None, words: list[str], idfs: list[float], average: float) -> float:
    length = len(text) + (tag is not None)
    counts = [text.count(word) + 3 * (word == tag) for word in words]
    return sum(
        idf * tf / (tf + K1 * (1 - B + B * length / average)) for idf, tf in zip(idfs, counts, strict=True) if tf
    )


@pytest.mark.parametrize("seed", range(4))
def test_postings_and_texts_give_the_score_of_the_formula(seed: int, small: psycopg.Connection[Any]) -> None:
    rng = random.Random(seed)
    vocabulary = [f"w{n}" for n in range(30)]
    texts = [rng.choices(vocabulary, weights=range(30, 0, -1), k=rng.randint(1, 300)) for _ in range(40)]
    tags = [rng.choice([None, *vocabulary[:5]]) for _ in texts]
    ids: list[int] = []
    for text, tag in zip(texts, tags, strict=True):
        row = small.execute(
            "INSERT INTO pgfuse.memories (profile_id, content, task_tag, language) VALUES ('p', %s, %s, 'simple') RETURNING id",
            [" ".join(text), tag],
        ).fetchone()
        assert row is not None
        ids.append(row[0])
    words = rng.sample(vocabulary, 6)
    average = sum(len(text) + (tag is not None) for text, tag in zip(texts, tags, strict=True)) / len(texts)
    found = [sum(word in {*text, tag} for text, tag in zip(texts, tags, strict=True)) for word in words]
    idfs = [math.log(1 + (len(texts) - df + 0.5) / (df + 0.5)) for df in found]
    wanted = {
        id: score
        for id, text, tag in zip(ids, texts, tags, strict=True)
        if (score := bm25(text, tag, words, idfs, average)) > 0
    }
    searched = dict(
        small.execute("SELECT id, score FROM pgfuse.search_lexical('p', %s, 100)", [" ".join(words)]).fetchall()
    )
    assert searched == pytest.approx(wanted, abs=1e-9)
    params = {"ids": ids, "words": words, "idfs": idfs, "flat": K1 * (1 - B), "per_word": K1 * B / average}
    read = dict(small.execute(DOCUMENTS, params).fetchall())
    assert {id: score for id, score in read.items() if score > 0} == pytest.approx(wanted, abs=1e-9)
    assert set(read) == set(ids)
