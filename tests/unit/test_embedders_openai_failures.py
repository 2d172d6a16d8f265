"""The OpenAI protocol, against a server that misbehaves."""

import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import numpy as np
import pytest

from pgfuse.embedders import embed_documents
from pgfuse.errors import EmbedderError, EmbeddingMismatch, PgfuseError
from tests.unit.embedding_server import GOOD, KEY, Answer, Data, EmbeddingServer, Make, embedders_of, embedding_server

TEXTS = ["one", "two", "three"]
BUSY = Answer(status=429, body=b'{"error": {"message": "slow down"}}')
BROKEN = Answer(status=500, body=b"out of order")


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


@pytest.mark.parametrize(
    "failure",
    [
        BUSY,
        BROKEN,
        Answer(status=503),
        Answer(status=408),
        Answer(body=b'{"data": [{"index": 0, "embe'),
        Answer(body=b""),
        Answer(cut=10),
    ],
    ids=["429", "500", "503", "408", "truncated JSON", "empty", "broken off"],
)
def test_a_passing_failure_is_tried_again(
    failure: Answer, server: EmbeddingServer, make: Make, waits: list[float]
) -> None:
    server.plan = [failure, failure, GOOD]
    np.testing.assert_array_equal(embed_documents(make(), TEXTS), server.vectors(TEXTS))
    assert len(server.requests) == 3
    assert [0.5 * 2**attempt / 2 <= wait <= 0.5 * 2**attempt for attempt, wait in enumerate(waits)] == [True, True]


def test_a_slow_server_is_tried_again(server: EmbeddingServer, make: Make, waits: list[float]) -> None:
    server.plan = [Answer(delay=0.5), GOOD]
    np.testing.assert_array_equal(embed_documents(make(timeout=0.1), TEXTS), server.vectors(TEXTS))
    assert (len(server.requests), len(waits)) == (2, 1)


def test_a_server_that_stays_slow_is_given_up(server: EmbeddingServer, make: Make, waits: list[float]) -> None:
    server.plan = [Answer(delay=0.3)] * 2
    with pytest.raises(EmbedderError, match=r"did not answer in time. Gave up after 2 attempts"):
        embed_documents(make(timeout=0.05, max_retries=1), TEXTS)
    assert (len(server.requests), len(waits)) == (2, 1)


def test_a_server_that_stays_busy_is_given_up(server: EmbeddingServer, make: Make, waits: list[float]) -> None:
    server.plan = [BUSY] * 20
    with pytest.raises(EmbedderError, match="HTTP 429: slow down Gave up after 6 attempts"):
        embed_documents(make(max_wait=4), TEXTS)
    assert (len(server.requests), len(waits)) == (6, 5)
    assert max(waits) <= 4


@pytest.mark.parametrize(
    ("headers", "seconds"), [({"Retry-After": "7"}, 7.0), ({"retry-after-ms": "8500", "Retry-After": "9"}, 8.5)]
)
def test_the_server_says_how_long_to_wait(
    headers: dict[str, str], seconds: float, server: EmbeddingServer, make: Make, waits: list[float]
) -> None:
    server.plan = [Answer(status=429, headers=headers), GOOD]
    embed_documents(make(), TEXTS)
    assert waits == [seconds]


def test_the_server_may_say_until_when_to_wait(server: EmbeddingServer, make: Make, waits: list[float]) -> None:
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    server.plan = [Answer(status=503, headers={"Retry-After": until}), GOOD]
    embed_documents(make(), TEXTS)
    assert len(waits) == 1
    assert 15 < waits[0] <= 20


@pytest.mark.parametrize("nonsense", ["soon", "nan", "-5", "Mon, 99 Foo 2020"])
def test_nonsense_in_retry_after_is_passed_over(
    nonsense: str, server: EmbeddingServer, make: Make, waits: list[float]
) -> None:
    server.plan = [Answer(status=429, headers={"Retry-After": nonsense}), GOOD]
    embed_documents(make(), TEXTS)
    assert len(waits) == 1
    assert 0.25 <= waits[0] <= 0.5


def test_a_wait_too_long_is_an_error_at_once(server: EmbeddingServer, make: Make, waits: list[float]) -> None:
    server.plan = [Answer(status=429, headers={"Retry-After": "3600"})]
    with pytest.raises(EmbedderError, match="asks to wait 3600 s"):
        embed_documents(make(), TEXTS)
    assert (len(server.requests), waits) == (1, [])


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (
            401,
            '{"error": {"message": "Incorrect API key provided: KEY."}}',
            r"HTTP 401: Incorrect API key provided: \*\*\*",
        ),
        (400, '{"error": "text is too long"}', "HTTP 400: text is too long"),
        (404, '{"detail": "no such model"}', "HTTP 404: no such model"),
        (422, "batch size 128 > 32", "HTTP 422: batch size 128 > 32"),
        (403, "", "HTTP 403: Forbidden"),
        (429, '{"error": {"code": "insufficient_quota", "message": "no credit"}}', "HTTP 429: no credit"),
        (302, "", "HTTP 302: Found"),
        (200, '{"error": {"message": "model is gone"}}', "an error: model is gone"),
        (200, "[1, 2]", r"an error: \[1, 2\]"),
    ],
)
def test_a_refusal_is_shown_in_the_servers_words_and_not_retried(
    status: int, body: str, words: str, server: EmbeddingServer, make: Make
) -> None:
    server.plan = [Answer(status=status, body=body.replace("KEY", KEY).encode())]
    with pytest.raises(EmbedderError, match=words) as caught:
        embed_documents(make(), TEXTS)
    assert len(server.requests) == 1
    assert KEY not in str(caught.value)


def _drop(data: Data) -> Data:
    return data[:-1]


def _shorten(data: Data) -> Data:
    return [item | {"embedding": item["embedding"][:3]} for item in data]


def _shorten_last(data: Data) -> Data:
    return [*data[:-1], *_shorten(data[-1:])]


def _repeat(data: Data) -> Data:
    return [data[0]] * len(data)


def _rename(data: Data) -> Data:
    return [{"index": item["index"], "vector": item["embedding"]} for item in data]


def _spoil(data: Data) -> Data:
    return [item | {"embedding": [float("nan"), *item["embedding"][1:]]} for item in data]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (_drop, EmbedderError, "got 2 vectors for 3 texts"),
        (_shorten, EmbeddingMismatch, "got vectors of 3 dimensions instead of 4"),
        (_shorten_last, EmbedderError, "did not return one list of numbers a text"),
        (_repeat, EmbedderError, "indexes are not 0 to 2"),
        (_rename, EmbedderError, "without a list of embeddings in 'data'"),
        (_spoil, EmbedderError, "NaN or infinity for text 0 of 3"),
    ],
)
def test_a_wrong_answer_is_refused_and_not_retried(
    change: Callable[[Data], Data], error: type[PgfuseError], message: str, server: EmbeddingServer, make: Make
) -> None:
    server.plan = [Answer(change=change)]
    with pytest.raises(error, match=message):
        embed_documents(make(dimensions=4), TEXTS)
    assert len(server.requests) == 1


def test_a_server_that_is_not_there_is_tried_again(make: Make, waits: list[float]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://user:password@127.0.0.1:{free.getsockname()[1]}/v1"
        with pytest.raises(
            EmbedderError, match=r"http://127.0.0.1:\d+/v1 could not be reached.*after 3 attempts"
        ) as caught:
            embed_documents(make(base_url=url, max_retries=2), TEXTS)
    assert "password" not in str(caught.value)
    assert len(waits) == 2
