"""Bad or extreme input that only the database can judge."""

import random
from typing import Any

import psycopg
import pytest

import pgfuse
from tests.integration.derived import check_all, check_lexical
from tests.integration.fake_embedder import FakeEmbedder

MEGABYTE = 2**20


def words(count: int) -> str:
    source = random.Random(1)
    return " ".join("".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(count))


LONG = {
    "distinct words": words(MEGABYTE // 8),
    "one word": "a" * MEGABYTE,
    "the same word": "tea " * (MEGABYTE // 4),
    "one word of letters of four bytes": "𐐨" * (MEGABYTE // 4),
    "letters of four bytes": "𐐨 " * (MEGABYTE // 5),
    "compounds of letters of four bytes": "𐐨𐐩𐐪-𐐫𐐬𐐭-𐐮𐐯𐐰 " * (MEGABYTE // 39),
    "addresses": " ".join(f"http://example.org/{n}/{n}?q={n}" for n in range(MEGABYTE // 40)),
    "numbers": " ".join(str(n) for n in range(MEGABYTE // 7)),
    "quotes": "'\\ " * (MEGABYTE // 3),
    "kanji": "東京都に行きました。" * (MEGABYTE // 30),
}


@pytest.mark.parametrize("name", LONG)
def test_a_megabyte_of_text(conn: psycopg.Connection, name: str) -> None:
    (id,) = pgfuse.remember(
        conn, "p", [{"content": LONG[name], "task_tag": LONG[name][:5000]}], embedder=FakeEmbedder()
    )
    assert conn.execute("SELECT content = %s FROM pgfuse.memories WHERE id = %s", (LONG[name], id)).fetchone() == (
        True,
    )
    pgfuse.recall(conn, LONG[name][:100], "p", embedding=[1.0] * 256)
    check_all(conn)


def test_a_megabyte_in_every_text(conn: psycopg.Connection) -> None:
    long = LONG["distinct words"]
    memory = {"user_text": long, "assistant_text": long, "facets": {"events": long}, "metadata": {"raw": long}}
    pgfuse.remember(conn, "p", [memory | {"task_tag": long}], embedder=FakeEmbedder())
    check_all(conn)


@pytest.mark.parametrize(
    "language", ["klingon", "pgfuse.klingon", "99999", "-", '"', "a b", "a.b.c.d", "english'", "x" * 100]
)
def test_an_unknown_language_is_refused_by_name(conn: psycopg.Connection, language: str) -> None:
    memories = [{"content": "fine"}, {"content": "x", "language": language}]
    with pytest.raises(pgfuse.InvalidInput, match=r"language"):
        pgfuse.remember(conn, "p", memories, embedder=FakeEmbedder())
    assert conn.execute("SELECT count(*) FROM pgfuse.memories").fetchone() == (0,)


@pytest.mark.parametrize("language", ["German", "pg_catalog.german", "simple"])
def test_a_language_may_be_written_as_postgresql_takes_it(conn: psycopg.Connection, language: str) -> None:
    pgfuse.remember(
        conn, "p", [{"content": "die Häuser", "language": language, "external_id": "h"}], embedder=FakeEmbedder()
    )
    pgfuse.remember(
        conn, "p", [{"content": "die Häuser", "language": language, "external_id": "h"}], embedder=FakeEmbedder()
    )
    check_lexical(conn)


AWKWARD = ["'", "\\", "{}", '"', "a,b", "NULL", "", " ", "\n", "%s", "%(x)s", "🙂", "\u202e", "é", "e\u0301", "x" * 400]


@pytest.mark.parametrize("text", AWKWARD)
def test_awkward_names_are_kept_to_the_letter(conn: psycopg.Connection, text: str) -> None:
    memory: dict[str, Any] = {
        "content": f"{text}.",
        "external_id": text,
        "session_id": text,
        "project_id": text,
        "tags": [text],
    }
    ids = pgfuse.remember(conn, f"p{text}", [memory | {"metadata": {text: text}}], embedder=FakeEmbedder())
    row = conn.execute("SELECT external_id, session_id, project_id, tags, metadata FROM pgfuse.memories").fetchone()
    assert row == (text, text, text, [text], {text: text})
    assert pgfuse.remember(conn, f"p{text}", [memory | {"metadata": {text: text}}], embedder=FakeEmbedder()) == ids
    assert pgfuse.forget(conn, f"p{text}", external_ids=[text], session_ids=[text]) == 1


def test_a_profile_name_has_a_limit(conn: psycopg.Connection) -> None:
    with pytest.raises(pgfuse.InvalidInput, match="^profile_id"):
        pgfuse.remember(conn, words(1000), [{"content": "x"}], embedder=FakeEmbedder())


def test_many_sessions_in_one_call(conn: psycopg.Connection) -> None:
    """More than a server has places for locks."""
    memories = [
        {"content": f"c{n}", "session_id": f"s{n}", "position": 0, "embeddings": {"vec_full": [1.0] * 256}}
        for n in range(15_000)
    ]
    ids = pgfuse.remember(conn, "p", memories)
    assert pgfuse.forget(conn, "p", ids=ids) == len(ids)
