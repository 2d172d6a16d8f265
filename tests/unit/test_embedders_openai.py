"""The OpenAI protocol: what is sent, and what is made of the answer."""

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pgfuse.embedders import embed_documents, embed_query, load
from pgfuse.errors import EmbeddingMismatch, InvalidInput
from tests.unit.embedding_server import KEY, Answer, EmbeddingServer, Make, embedders_of, embedding_server

TEXTS = ["one", "two", "three"]


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as running:
        yield running


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def make(server: EmbeddingServer, waits: list[float]) -> Make:
    return embedders_of(server, waits)


def test_texts_are_embedded_with_the_key_and_the_model(server: EmbeddingServer, make: Make) -> None:
    np.testing.assert_array_equal(embed_documents(make(), TEXTS), server.vectors(TEXTS))
    assert server.requests == [{"model": "house-model", "input": TEXTS}]
    assert server.authorizations == [f"Bearer {KEY}"]


def test_texts_go_out_in_batches_of_count_and_characters(server: EmbeddingServer, make: Make) -> None:
    texts = ["a", "b", "c", "d" * 8, "e", "f"]
    vectors = embed_documents(make(batch_size=2, batch_characters=8), texts)
    np.testing.assert_array_equal(vectors, server.vectors(texts))
    assert [request["input"] for request in server.requests] == [["a", "b"], ["c"], ["d" * 8], ["e", "f"]]


def test_items_out_of_order_are_put_in_order(server: EmbeddingServer, make: Make) -> None:
    server.plan = [Answer(change=lambda data: data[::-1])]
    np.testing.assert_array_equal(embed_documents(make(), TEXTS), server.vectors(TEXTS))


def test_items_without_an_index_are_taken_as_they_come(server: EmbeddingServer, make: Make) -> None:
    server.plan = [Answer(change=lambda data: [{"embedding": item["embedding"]} for item in data])]
    np.testing.assert_array_equal(embed_documents(make(), TEXTS), server.vectors(TEXTS))


@pytest.mark.parametrize(
    ("model", "dim"),
    [("text-embedding-3-small", 1536), ("text-embedding-3-large", 3072), ("openai/text-embedding-ada-002", 1536)],
)
def test_the_dimension_of_openais_models_is_known(model: str, dim: int, server: EmbeddingServer, make: Make) -> None:
    assert make(model).dim == dim
    assert server.requests == []


def test_another_dimension_is_found_by_asking_once(server: EmbeddingServer, make: Make) -> None:
    embedder = make()
    assert (embedder.dim, embedder.dim) == (4, 4)
    assert len(server.requests) == 1


def test_the_first_answer_tells_the_dimension_too(server: EmbeddingServer, make: Make) -> None:
    embedder = make()
    embed_documents(embedder, TEXTS)
    assert (embedder.dim, len(server.requests)) == (4, 1)


def test_a_known_dimension_is_insisted_upon(make: Make) -> None:
    with pytest.raises(EmbeddingMismatch, match="4 dimensions instead of 1536"):
        embed_documents(make("text-embedding-3-small"), TEXTS)


@pytest.mark.parametrize(
    ("model", "options"),
    [("text-embedding-3-large", {"dimensions": 4}), ("text-embedding-3-large@4", {})],
)
def test_shortened_vectors_are_asked_for_and_named(
    model: str, options: dict[str, int], server: EmbeddingServer, make: Make
) -> None:
    embedder = make(model, **options)
    assert (embedder.name, embedder.dim) == ("openai:text-embedding-3-large@4", 4)
    embed_documents(embedder, TEXTS)
    assert server.requests == [{"model": "text-embedding-3-large", "input": TEXTS, "dimensions": 4}]


def test_the_full_dimension_is_not_part_of_the_name(make: Make) -> None:
    assert make("text-embedding-3-small", dimensions=1536).name == "openai:text-embedding-3-small"


def test_prefixes_of_known_models_are_added_and_can_be_replaced(server: EmbeddingServer, make: Make) -> None:
    known = make("nomic-embed-text")
    embed_documents(known, ["a"])
    embed_query(known, "q")
    given = make("nomic-embed-text", query_prefix="", document_prefix="doc: ")
    embed_documents(given, ["a"])
    embed_query(given, "q")
    sent = [request["input"] for request in server.requests]
    assert sent == [["search_document: a"], ["search_query: q"], ["doc: a"], ["q"]]


def test_blank_texts_are_zero_vectors_and_not_sent(server: EmbeddingServer, make: Make) -> None:
    vectors = embed_documents(make("nomic-embed-text"), ["", "a", " \n"])
    assert vectors.any(axis=1).tolist() == [False, True, False]
    assert server.requests[0]["input"] == ["search_document: a"]


def test_only_blank_texts_have_the_right_dimension(make: Make) -> None:
    assert embed_documents(make(), ["", " "]).shape == (2, 4)


def test_requests_are_paced(make: Make, waits: list[float]) -> None:
    embed_documents(make(batch_size=1, requests_per_minute=60), TEXTS)
    assert [round(wait, 1) for wait in waits] == [1.0, 2.0]


def test_the_environment_is_read_when_loading(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgfuse.embedders.registry._loaded", {})
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/")
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    assert embed_query(load("openai:house-model"), "one").tolist() == server.vector("one")
    assert server.authorizations == [f"Bearer {KEY}"]


def test_a_server_of_ones_own_needs_no_key(server: EmbeddingServer, make: Make) -> None:
    embed_documents(make(api_key=None), TEXTS)
    assert server.authorizations == [None]


def test_openai_needs_a_key(server: EmbeddingServer) -> None:
    with pytest.raises(InvalidInput, match="set OPENAI_API_KEY"):
        load("openai:text-embedding-3-small")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_url": "localhost:8080/v1"}, "must start with http"),
        ({"base_url": "http://"}, "must start with http"),
        ({"base_url": "http://[::1"}, "not a URL"),
        ({"api_key": "sk-\x00very-secret"}, "cannot be sent"),
        ({"api_key": "schlüssel"}, "cannot be sent"),
        ({"batch_size": 0}, "batch_size is 0; it must be above 0"),
        ({"timeout": -1}, "timeout is -1"),
        ({"dimensions": 0}, "dimensions is 0"),
        ({"model": "a@3", "dimensions": 4}, "contradict each other"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options: dict[str, Any], message: str, make: Make) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        make(**options)
    assert "secret" not in str(caught.value)


def test_the_key_is_not_shown(make: Make) -> None:
    embedder = make()
    assert KEY not in repr(embedder)
    assert repr(embedder) == "OpenAIEmbedder('openai:house-model')"


def test_threads_share_it(server: EmbeddingServer, make: Make) -> None:
    embedder, results = make(dimensions=4), []
    threads = [threading.Thread(target=lambda: results.append(embedder.embed(TEXTS))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((vectors == server.vectors(TEXTS)).all() for vectors in results)
    assert len(results) == 8
