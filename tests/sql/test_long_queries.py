"""Queries of many words, filters that leave nothing, and postings that were taken back: scores and rows stay right."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

import pgfuse
from pgfuse import migrate

pytestmark = pytest.mark.slow
Connection = psycopg.Connection[Any]
ROWS, K1, B = 21_000, 0.9, 0.4
SEARCH = "SELECT id, score FROM pgfuse.search_lexical('p', %s, %s, %s::jsonb)"


@pytest.fixture(scope="module")
def texts() -> dict[int, list[str]]:
    """Memories of 4 to 12 words, some of which are common."""
    rng = random.Random(3)
    vocabulary, weights = [f"w{n}" for n in range(600)], [1 / (n + 1) for n in range(600)]
    return {n: rng.choices(vocabulary, weights, k=rng.randint(4, 12)) for n in range(1, ROWS + 1)}


@pytest.fixture(scope="module")
def filled(databases: Callable[[str | None], str], texts: dict[int, list[str]]) -> str:
    """A profile just beyond the size from which on few postings are read; one memory in 500 is of the kind rare."""
    url = databases(None)
    migrate.upgrade(url, dim=3, model="the-callers-own")
    with psycopg.connect(url, autocommit=True) as conn, conn.cursor() as cursor:
        with cursor.copy("COPY pgfuse.memories (profile_id, id, content, language, kind) FROM STDIN") as copy:
            for number, words in texts.items():
                copy.write_row(("p", number, " ".join(words), "simple", "rare" if number % 500 == 0 else "plain"))
        cursor.execute("VACUUM ANALYZE pgfuse.memories, pgfuse.postings, pgfuse.lexical_stats")
    return url


def bm25(texts: dict[int, list[str]], words: list[str]) -> dict[int, float]:
    average = sum(map(len, texts.values())) / len(texts)
    found = {word: sum(word in text for text in texts.values()) for word in words}
    idfs = {word: math.log(1 + (len(texts) - df + 0.5) / (df + 0.5)) for word, df in found.items()}
    return {
        number: sum(
            idfs[word] * tf / (tf + K1 * (1 - B + B * len(text) / average))
            for word in words
            if (tf := text.count(word))
        )
        for number, text in texts.items()
    }


@pytest.mark.parametrize("kinds", ["rare", None])
@pytest.mark.parametrize("count", [5, 70, 400])
def test_every_word_counts(count: int, kinds: str | None, filled: str, texts: dict[int, list[str]]) -> None:
    words = random.Random(count).sample([f"w{n}" for n in range(600)], count)
    allowed = {number: text for number, text in texts.items() if kinds is None or number % 500 == 0}
    true = {number: score for number, score in bm25(texts, words).items() if number in allowed and score > 0}
    with psycopg.connect(filled) as conn:
        found: dict[int, float] = dict(
            conn.execute(SEARCH, [" ".join(words), 100, json.dumps({"kinds": kinds} if kinds else {})]).fetchall()
        )
    assert found == pytest.approx({number: true[number] for number in found}, abs=1e-6)
    assert len(found) == min(100, len(true))
    if kinds:
        assert sorted(found.values()) == pytest.approx(sorted(true.values())[-len(found) :], abs=1e-6)


def test_a_filter_that_leaves_no_match_leaves_the_other_route(filled: str) -> None:
    with psycopg.connect(filled) as conn:
        conn.execute("UPDATE pgfuse.memories SET project_id = 'q' WHERE id <= 300 AND NOT fts @@ 'w0 | w599'::tsquery")
        row = conn.execute("SELECT id FROM pgfuse.memories WHERE project_id = 'q' LIMIT 1").fetchone()
        assert row is not None
        conn.execute("INSERT INTO pgfuse.vectors VALUES ('p', %s, 1, 'vec_full', NULL, '[1,0,0]')", row)
        hits = pgfuse.recall(conn, "w0 w599", "p", embedding=[1, 0, 0], project_id="q")
        assert [(hit.id, hit.routes) for hit in hits] == [(row[0], ("vec_full",))]
        assert hits.trace["routes"]["lexical"]["status"] == "empty"
        conn.rollback()


def test_a_filter_that_the_statistics_do_not_know(filled: str) -> None:
    with psycopg.connect(filled) as conn:
        conn.execute("UPDATE pgfuse.memories SET project_id = 'new' WHERE id <= 11000")
        conn.execute("SET LOCAL statement_timeout = '20s'")
        assert len(pgfuse.recall(conn, "w0", "p", project_id="new")) == 8
        conn.rollback()


TAKEN_BACK = """
INSERT INTO pgfuse.postings (profile_id, term, docs, ids, packed)
SELECT 'p', pgfuse.term('simple', 'foo'), sign * 1000, ARRAY(SELECT 1000000 + 1000 * n + i FROM generate_series(1, 1000) i),
    array_fill(sign * 5121, ARRAY[1000])
FROM generate_series(1, 100) AS n, (VALUES (1), (-1)) AS s (sign) ORDER BY sign DESC
"""


def test_what_was_taken_back_hides_nothing(filled: str) -> None:
    with psycopg.connect(filled) as conn:
        conn.execute(TAKEN_BACK)
        conn.execute(
            "INSERT INTO pgfuse.memories (profile_id, id, content, language) "
            "SELECT 'p', 500000 + n, 'foo', 'simple' FROM generate_series(1, 10) n"
        )
        hits = pgfuse.recall(conn, "foo", "p")
        assert [hit.content for hit in hits] == ["foo"] * 8
        conn.rollback()


def test_either_a_word_or_not_another(filled: str, texts: dict[int, list[str]]) -> None:
    with psycopg.connect(filled) as conn:
        options = json.dumps({"settings": {"lexical_match": "websearch"}})
        found: dict[int, float] = dict(conn.execute(SEARCH, ["w599 or -w0", 1000, options]).fetchall())
    assert set(found) == {number for number, text in texts.items() if "w599" in text}
