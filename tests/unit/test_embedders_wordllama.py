"""The default embedder, as it is installed."""

import logging
import socket
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import numpy as np
import pytest

from pgfuse.embedders import Embedder, embed_documents, embed_query, load
from pgfuse.embedders.wordllama import WordLlamaEmbedder, _load_offline
from pgfuse.errors import EmbedderError

TEXTS = ["The cat sat on the mat.", "PostgreSQL is a database.", "Ein Satz auf Deutsch", "日本語 🎉", "x" * 3000]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load("wordllama")


def test_it_says_what_it_is(embedder: Embedder) -> None:
    assert (embedder.name, embedder.dim) == ("wordllama", 256)
    assert load() is embedder


def test_it_loads_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert WordLlamaEmbedder().embed(["cat"]).any()


def test_it_gives_the_vectors_of_the_library(embedder: Embedder) -> None:
    np.testing.assert_array_equal(embed_documents(embedder, TEXTS), _load_offline().embed(TEXTS))


def test_related_texts_are_nearer(embedder: Embedder) -> None:
    cat, kitten, database = embed_documents(embedder, ["a cat", "a small kitten", "a relational database"])
    assert _cosine(cat, kitten) > _cosine(cat, database)


def test_a_vector_does_not_depend_on_its_batch(embedder: Embedder) -> None:
    many = TEXTS * 50
    together = embed_documents(embedder, many)
    np.testing.assert_array_equal(together[-5:], np.stack([embed_query(embedder, text) for text in TEXTS]))


def test_an_empty_text_is_a_zero_vector(embedder: Embedder) -> None:
    vectors = embed_documents(embedder, ["", "cat", ""])
    assert vectors.any(axis=1).tolist() == [False, True, False]


def test_a_lone_surrogate_is_an_embedder_error(embedder: Embedder) -> None:
    with pytest.raises(EmbedderError, match="'wordllama' failed"):
        embed_documents(embedder, ["a\ud800b"])


def test_a_long_text_does_not_make_its_batch_long(embedder: Embedder) -> None:
    tracemalloc.start()
    embedder.embed(["short"] * 63 + ["word " * 20_000])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50_000_000


def test_threads_share_it(embedder: Embedder) -> None:
    alone = embed_documents(embedder, TEXTS)
    with ThreadPoolExecutor(8) as pool:
        for vectors in pool.map(lambda _: embed_documents(embedder, TEXTS), range(64)):
            np.testing.assert_array_equal(vectors, alone)


def test_it_leaves_the_hosts_logging_alone() -> None:
    code = (
        "import logging; from pgfuse.embedders import load; load().embed(['cat'])\n"
        "assert logging.getLogger().handlers == [] and logging.getLogger().level == logging.WARNING"
    )
    shown = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert (shown.stdout, shown.stderr) == ("", "")
    assert logging.getLogger("wordllama").level == logging.NOTSET


def _cosine(a: Any, b: Any) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
