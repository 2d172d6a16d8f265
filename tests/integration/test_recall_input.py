"""Bad input: each is refused by name with what is allowed, or means nothing; never an SQL error."""

from __future__ import annotations

import math
import time
from datetime import datetime
from typing import Any

import numpy as np
import psycopg
import pytest

import pgfuse
from tests.oracle.corpus import Doc, insert

pytest_plugins = ("tests.sql.fixtures",)
Connection = psycopg.Connection[Any]
QUERY = [1, 0, 0]


@pytest.fixture
def filled(small: Connection) -> Connection:
    insert(
        small,
        [
            Doc(id=1, content="apple pie", vectors={"vec_full": QUERY}),
            Doc(id=2, content="O'Neil & sons | 50% \\ (x) :*"),
        ],
    )
    pgfuse.recall(small, "x", "p", embedding=QUERY)
    return small


def recall(conn: Connection, query: Any = "apple", **options: Any) -> pgfuse.Recall:
    return pgfuse.recall(conn, query, "p", **{"embedding": QUERY} | options)


def usable(conn: Connection) -> bool:
    return conn.execute("SELECT count(*) FROM pgfuse.memories").fetchone() == (2,)


@pytest.mark.parametrize(
    "query", ["", " ", "\n\t", "the and of", "\0", "\ud800", "!!!", "- - -", "'", "☃", "\u200b", "<>&"]
)
def test_a_query_without_words_finds_by_vector_alone(query: str, filled: Connection) -> None:
    hits = recall(filled, query)
    assert [(hit.id, hit.sources) for hit in hits] == [(1, ("semantic",))]
    assert hits.trace["routes"]["lexical"]["status"] == "empty"
    assert len(pgfuse.recall(filled, query, "p")) == 0


@pytest.mark.parametrize(
    "query",
    [
        "O'Neil",
        "o'neil & !sons",
        "sons:*",
        "(sons",
        "50%",
        "\\ sons",
        "sons\0",
        "sons\udfff",
        "%s sons %(x)s",
        "'sons'",
        '"sons"',
    ],
)
@pytest.mark.parametrize("match", ["any", "websearch"])
def test_quotes_and_operators_are_only_text(query: str, match: str, filled: Connection) -> None:
    hits = pgfuse.recall(filled, query, "p", settings={"lexical_match": match, "weights": {"vec_full": 0}})
    assert {hit.id for hit in hits} <= {2}
    assert match == "websearch" or len(hits) == 1


def test_a_query_of_a_hundred_thousand_words(filled: Connection) -> None:
    started = time.perf_counter()
    assert recall(filled, "apple pie " * 50000)[0].id == 1
    assert recall(filled, " ".join(f"w{n}" for n in range(100000)))
    assert time.perf_counter() - started < 10


def test_a_word_of_a_million_letters(filled: Connection) -> None:
    assert recall(filled, "a" * 1_000_000)
    assert recall(filled, "é" * 5000 + " apple")


@pytest.mark.parametrize("query", [5, b"apple", ["apple"], True, object()])
def test_a_query_that_is_no_text_is_refused(query: Any, filled: Connection) -> None:
    with pytest.raises(pgfuse.InvalidInput, match=r"query: .* must be a text or None"):
        recall(filled, query)


def test_neither_query_nor_embedding_is_refused(filled: Connection) -> None:
    with pytest.raises(pgfuse.InvalidInput, match="neither a query nor an embedding"):
        pgfuse.recall(filled, None, "p")


@pytest.mark.parametrize("top_k", [0, -1, 1001, 10**30, True, 1.5, "8", None, math.nan])
def test_top_k_is_a_whole_number_from_1_to_1000(top_k: Any, filled: Connection) -> None:
    with pytest.raises(pgfuse.InvalidInput, match=r"top_k: .* from 1 to 1000"):
        recall(filled, top_k=top_k)


@pytest.mark.parametrize("top_k", [1, 1000])
def test_the_ends_of_top_k(top_k: int, filled: Connection) -> None:
    assert recall(filled, top_k=top_k)


@pytest.mark.parametrize("embedding", [[1, 0], [1, 0, 0, 0], [1] * 256, [1] * 20000])
def test_a_wrong_dimension_is_a_mismatch(embedding: list[float], filled: Connection) -> None:
    with pytest.raises(pgfuse.EmbeddingMismatch, match=rf"{len(embedding)} dimensions"):
        recall(filled, embedding=embedding)
    assert usable(filled)


@pytest.mark.parametrize(
    "embedding",
    [[math.nan, 0, 0], [math.inf, 0, 0], [-math.inf, 1, 1], [0, 0, 0], [], [[1, 0, 0]], "[1,0,0]", 5, ["a", "b",
    "c"], [None, 1, 1],
     {"a": 1}, [1e300, 0, 0], [1e-300, 0, 0], np.zeros(3), [10**400, 0, 0], [1j, 0, 0]],
)  # fmt: skip
def test_an_embedding_that_is_no_vector_is_refused(embedding: Any, filled: Connection) -> None:
    with pytest.raises(pgfuse.InvalidInput):
        recall(filled, embedding=embedding)
    assert usable(filled)


@pytest.mark.parametrize(
    "embedding", [(1, 0, 0), np.array([1, 0, 0]), np.array([1, 0, 0], dtype=np.float16), iter([1, 0, 0])]
)
def test_an_embedding_may_be_any_list_of_numbers(embedding: Any, filled: Connection) -> None:
    if hasattr(embedding, "__next__"):
        embedding = list(embedding)
    assert recall(filled, embedding=embedding)[0].id == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("session_ids", 5), ("session_ids", [5]), ("session_ids", [None]), ("kinds", 5), ("kinds", [b"x"]),
    ("granularity", "word"),
     ("granularity", ["turn", "word"]), ("tags", 1.5), ("tags", {"a": 1}.values()), ("project_id", 5), ("project_id",
     ["a"]), ("metadata", [1]),
     ("metadata", "x"), ("metadata", {"a": math.nan}), ("metadata", {"a": object()}), ("metadata", {"a": {1}}),
     ("since", "soon"),
     ("since", 5), ("until", "2024-13-01"), ("as_of", [1]), ("exclude_ids", 5), ("exclude_ids", "12"),
     ("exclude_ids", [1.5]), ("exclude_ids", [True]), ("exclude_ids", ["x"]), ("exclude_ids", [2**63]),
     ("exclude_ids", [None]),
     ("settings", [1]), ("settings", "x"), ("session_ids", ["a\0"]), ("tags", ["\ud800"]), ("metadata", {"a": "\0"}),
     ("metadata", {"\ud800": 1}), ("project_id", "\0")],
)  # fmt: skip
def test_a_filter_of_the_wrong_kind_is_refused(name: str, value: Any, filled: Connection) -> None:
    with pytest.raises(pgfuse.PgfuseError):
        recall(filled, **{name: value})
    assert usable(filled)


@pytest.mark.parametrize(
    ("name", "value"),
    [("session_ids", []), ("session_ids", ()), ("session_ids", {"a"}), ("kinds", "x"), ("tags", ["\\u0000"]),
    ("tags", ["a'b\"c\\"]),
     ("metadata", {"a": "\\ud800"}), ("metadata", {"": None}), ("project_id", ""), ("session_ids", ["\U0001f600"]),
     ("since", datetime(9999, 1, 1)), ("until", "1999-01-01T00:00:00Z"), ("exclude_ids", [1, 2]), ("exclude_ids", {1,
     2}),
     ("exclude_ids", (n for n in (1, 2)))],
)  # fmt: skip
def test_a_filter_that_nothing_passes_finds_nothing(name: str, value: Any, filled: Connection) -> None:
    assert len(recall(filled, **{name: value})) == 0


@pytest.mark.parametrize(
    ("name", "value"), [("metadata", {}), ("exclude_ids", ()), ("exclude_ids", [-5, 2**62]), ("since", "-infinity")]
)
def test_a_filter_that_everything_passes(name: str, value: Any, filled: Connection) -> None:
    assert recall(filled, **{name: value})[0].id == 1


def test_a_million_excluded_ids(filled: Connection) -> None:
    started = time.perf_counter()
    assert [hit.id for hit in recall(filled, exclude_ids=range(2, 1_000_002))] == [1]
    assert time.perf_counter() - started < 15


@pytest.mark.parametrize("preset", ["", "Default", "fast", 5, ["default"], "default\0"])
def test_an_unknown_preset_is_refused_with_those_there_are(preset: Any, filled: Connection) -> None:
    with pytest.raises(pgfuse.PgfuseError):
        recall(filled, preset=preset)
    assert usable(filled)
    with pytest.raises(pgfuse.InvalidSettings, match=r"default.*balanced.*semantic.*blend.*memory"):
        recall(filled, preset="fast")


@pytest.mark.parametrize(
    "settings", [{"": 1}, {"rrf": 60}, {"rrf_k\0": 60}, {5: 1}, {"weights": {"vec": 1}}, {"weights": {"vec_full": "1"}}]
)
def test_an_unknown_setting_is_refused(settings: Any, filled: Connection) -> None:
    with pytest.raises(pgfuse.PgfuseError):
        recall(filled, settings=settings)
    assert usable(filled)


def test_an_unknown_argument_is_a_type_error(filled: Connection) -> None:
    with pytest.raises(TypeError, match="tpo_k"):
        recall(filled, tpo_k=3)
    with pytest.raises(TypeError, match="tpo_k"):
        pgfuse.why_not(filled, "apple", "p", 1, tpo_k=3)


def test_metadata_nested_too_deep_is_refused(filled: Connection) -> None:
    deep: dict[str, Any] = {}
    for _ in range(20000):
        deep = {"a": deep}
    with pytest.raises(pgfuse.InvalidInput):
        recall(filled, metadata=deep)
    assert usable(filled)


def test_an_embedder_that_fails_is_told_as_such(filled: Connection) -> None:
    def broken(texts: Any) -> Any:
        raise RuntimeError("no more credit")

    with pytest.raises(pgfuse.PgfuseError, match="no more credit"):
        recall(filled, embedding=None, embedder=broken)
    assert usable(filled)


@pytest.mark.parametrize("answer", [[[1, 0]], [], [[math.nan, 0, 0]], [[1, 0, 0], [1, 0, 0]], None, [None]])
def test_an_embedder_that_gives_nonsense_is_refused(answer: Any, filled: Connection) -> None:
    with pytest.raises(pgfuse.PgfuseError):
        recall(filled, embedding=None, embedder=lambda texts: answer)
    assert usable(filled)


def test_an_embedder_that_gives_zeros_leaves_the_text(filled: Connection) -> None:
    hits = recall(filled, embedding=None, embedder=lambda texts: [[0, 0, 0] for _ in texts])
    assert (hits.trace["mode"], [hit.id for hit in hits]) == ("text_only", [1])
    assert "all-zero" in hits.trace["reason"]


def test_the_callers_own_space_without_a_vector_is_text_only(filled: Connection) -> None:
    hits = pgfuse.recall(filled, "apple", "p")
    assert (hits.trace["mode"], [hit.sources for hit in hits]) == ("text_only", [("lexical",)])
    assert "the-callers-own" in hits.trace["reason"]
    assert hits.trace["routes"]["vec_full"]["status"] == "unavailable"


def test_without_a_query_it_is_vector_only(filled: Connection) -> None:
    hits = recall(filled, None)
    assert (hits.trace["mode"], [hit.sources for hit in hits]) == ("vector_only", [("semantic",)])
    assert hits.trace["routes"]["lexical"]["status"] == "unavailable"
