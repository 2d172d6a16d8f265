"""Vectors that the caller brings: kept as they are, and no model is loaded when none is needed."""

import logging
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import psycopg
import pytest

import pgfuse
from tests.integration.fake_embedder import DIM, FakeEmbedder, NoEmbedder, vector_of

ONES = np.ones(DIM, dtype=np.float32)


@pytest.fixture(scope="module")
def own_db(databases: Callable[[str | None], str]) -> str:
    """A database for vectors of three numbers, of a model that nobody can load."""
    from pgfuse import migrate

    url = databases(None)
    migrate.upgrade(url, dim=3, model="my own")
    return url


@pytest.fixture
def own(own_db: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(own_db) as connection:
        yield connection
        connection.rollback()


def vectors(conn: psycopg.Connection) -> dict[tuple[str, str], Any]:
    rows = conn.execute(
        "SELECT m.external_id, v.route, v.embedding::text FROM pgfuse.vectors v "
        "JOIN pgfuse.memories m ON (m.profile_id, m.id) = (v.profile_id, v.memory_id)"
    )
    return {(key, route): [float(number) for number in text[1:-1].split(",")] for key, route, text in rows}


def test_given_vectors_are_stored_as_they_are(conn: psycopg.Connection) -> None:
    given: dict[str, Any] = {"vec_full": ONES, "vec_user": (ONES * 2).tolist(), "facet_mood": tuple(ONES * 3)}
    memory = {"external_id": "a", "content": "x", "user_text": "y", "facets": {"mood": "good"}, "embeddings": given}
    pgfuse.remember(conn, "p", [memory], embedder=NoEmbedder())
    assert vectors(conn) == {("a", route): list(map(float, vector)) for route, vector in given.items()}


def test_only_what_is_not_given_is_embedded(conn: psycopg.Connection) -> None:
    embedder = FakeEmbedder()
    memories: list[dict[str, Any]] = [
        {"external_id": "a", "content": "x", "user_text": "y", "embeddings": {"vec_full": ONES}},
        {"external_id": "b", "content": "z"},
    ]
    pgfuse.remember(conn, "p", memories, embedder=embedder)
    assert sorted(embedder.texts) == ["y", "z"]
    assert vectors(conn)["a", "vec_full"] == ONES.tolist()


def test_given_vectors_are_not_written_again(conn: psycopg.Connection) -> None:
    memories = [{"external_id": "a", "content": "x", "embeddings": {"vec_full": ONES}}]
    pgfuse.remember(conn, "p", memories)
    before = conn.execute("SELECT ctid, xmin, cmin FROM pgfuse.vectors").fetchall()
    pgfuse.remember(conn, "p", memories)
    assert conn.execute("SELECT ctid, xmin, cmin FROM pgfuse.vectors").fetchall() == before
    pgfuse.remember(conn, "p", [memories[0] | {"embeddings": {"vec_full": ONES * 2}}])
    assert vectors(conn) == {("a", "vec_full"): (ONES * 2).tolist()}


@pytest.mark.parametrize("kind", [np.float16, np.float64, np.int64])
def test_any_numbers_will_do(conn: psycopg.Connection, kind: Any) -> None:
    pgfuse.remember(conn, "p", [{"external_id": "a", "content": "x", "embeddings": {"vec_full": ONES.astype(kind)}}])
    assert vectors(conn) == {("a", "vec_full"): ONES.tolist()}


def test_a_given_zero_vector_is_left_out(conn: psycopg.Connection, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "pgfuse"):
        pgfuse.remember(conn, "p", [{"external_id": "a", "content": "x", "embeddings": {"vec_full": ONES * 0}}])
    assert vectors(conn) == {}
    assert "vec_full" in caplog.text


def test_a_facet_without_text_may_have_a_vector(conn: psycopg.Connection) -> None:
    memories = [{"external_id": "a", "content": "x", "embeddings": {"vec_full": ONES, "facet_image": ONES}}]
    pgfuse.remember(conn, "p", memories, embedder=NoEmbedder())
    assert set(vectors(conn)) == {("a", "vec_full"), ("a", "facet_image")}


def test_a_space_of_the_callers_own(own: psycopg.Connection) -> None:
    memories = [{"external_id": "a", "content": "x", "user_text": "y", "embeddings": {"vec_full": [1, 2, 3]}}]
    pgfuse.remember(own, "p", memories)
    assert vectors(own) == {("a", "vec_full"): [1, 2, 3]}


def test_a_function_may_fill_any_space(own: psycopg.Connection) -> None:
    pgfuse.remember(own, "p", [{"external_id": "a", "content": "x"}], embedder=FakeEmbedder(dim=3))
    assert vectors(own)["a", "vec_full"] == pytest.approx(vector_of("x", 3).tolist())


def test_where_no_vector_can_be_had_the_words_are_stored(
    own: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    pgfuse.remember(own, "p", [{"content": "only words"}])
    assert "my own" in caplog.text
    assert [hit.content for hit in pgfuse.recall(own, "words", "p")] == ["only words"]


def test_a_change_beside_the_text_keeps_the_callers_vectors(own: psycopg.Connection) -> None:
    memory = {"external_id": "a", "content": "x", "embeddings": {"vec_full": [1, 2, 3]}}
    pgfuse.remember(own, "p", [memory])
    pgfuse.remember(own, "p", [{"external_id": "a", "content": "x", "metadata": {"seen": True}}])
    assert vectors(own) == {("a", "vec_full"): [1, 2, 3]}


def test_own_vectors_load_no_model_at_all(db: str) -> None:
    code = f"""
        import sys, psycopg, pgfuse
        with psycopg.connect({db!r}) as conn:
            pgfuse.remember(conn, "p", [{{"content": "x", "external_id": "a", "embeddings": {{"vec_full": [1.0] * {DIM}}}}}])
            pgfuse.remember(conn, "p", [{{"content": "x", "external_id": "a", "embeddings": {{"vec_full": [1.0] * {DIM}}}}}])
            assert pgfuse.recall(conn, "x", "p", embedding=[1.0] * {DIM})[0].content == "x"
            pgfuse.forget(conn, "p", external_ids=["a"])
        unwanted = {{"wordllama", "tokenizers", "openai", "alembic", "sqlalchemy", "typer"}} & set(sys.modules)
        assert not unwanted, unwanted
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_spaces_own_model_is_used_when_none_is_given(conn: psycopg.Connection) -> None:
    pytest.importorskip("wordllama")
    from pgfuse import embedders

    pgfuse.remember(conn, "p", [{"external_id": "a", "content": "green tea"}])
    expected = embedders.embed_documents(embedders.load("wordllama"), ["green tea"])[0]
    assert vectors(conn)["a", "vec_full"] == pytest.approx(expected.tolist(), rel=1e-6)


@pytest.mark.parametrize("size", [1e-30, 1e25])
def test_a_length_that_has_no_cosine_is_refused(conn: psycopg.Connection, size: float) -> None:
    with pytest.raises(pgfuse.InvalidInput, match=r"embeddings\.vec_full"):
        pgfuse.remember(conn, "p", [{"content": "x", "embeddings": {"vec_full": [size] * DIM}}])
