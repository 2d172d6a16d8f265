"""Waiting between attempts, pacing and batching."""

from collections.abc import Callable

import pytest

from pgfuse.embedders.batches import batches
from pgfuse.embedders.pace import Pace
from pgfuse.embedders.retry import Retry, TransientError
from pgfuse.errors import EmbedderError


def failing(times: int, retry_after: float | None = None) -> Callable[[], str]:
    remaining = iter(range(times))

    def action() -> str:
        if next(remaining, None) is None:
            return "done"
        raise TransientError("The server is busy.", retry_after)

    return action


def test_waits_double_and_stay_below_the_limit() -> None:
    waits: list[float] = []
    retry = Retry(max_retries=8, max_wait=10, base=0.5, sleep=waits.append, chance=lambda: 1.0)
    assert retry.call(failing(8)) == "done"
    assert waits == [min(10, 0.5 * 2**attempt) for attempt in range(8)]


def test_jitter_takes_away_up_to_half_of_a_wait() -> None:
    waits: list[float] = []
    retry = Retry(base=2.0, sleep=waits.append, chance=lambda: 0.0)
    retry.call(failing(2))
    assert waits == [2.0 / 2, 4.0 / 2]


def test_it_gives_up_after_the_retries_and_says_so() -> None:
    waits: list[float] = []
    with pytest.raises(EmbedderError, match=r"The server is busy. Gave up after 4 attempts."):
        Retry(max_retries=3, sleep=waits.append).call(failing(9))
    assert len(waits) == 3


def test_no_retries_means_one_attempt() -> None:
    with pytest.raises(EmbedderError, match="after 1 attempts"):
        Retry(max_retries=0).call(failing(1))


def test_the_server_may_ask_for_a_longer_wait() -> None:
    waits: list[float] = []
    Retry(sleep=waits.append).call(failing(1, retry_after=7.0))
    assert waits == [7.0]


def test_a_wait_above_the_limit_is_an_error_at_once() -> None:
    waits: list[float] = []
    with pytest.raises(EmbedderError, match=r"asks to wait 3600 s, more than max_wait \(60 s\)"):
        Retry(sleep=waits.append).call(failing(1, retry_after=3600))
    assert waits == []


def test_other_errors_are_not_retried() -> None:
    calls: list[int] = []

    def action() -> None:
        calls.append(1)
        raise ValueError("for good")

    with pytest.raises(ValueError, match="for good"):
        Retry().call(action)
    assert len(calls) == 1


def test_requests_are_spaced_evenly() -> None:
    waits: list[float] = []
    pace = Pace(120, sleep=waits.append, clock=lambda: 1000.0)
    for _ in range(3):
        pace.wait()
    assert waits == [60 / 120, 2 * 60 / 120]


def test_without_a_limit_nothing_waits() -> None:
    waits: list[float] = []
    pace = Pace(None, sleep=waits.append, clock=lambda: 1000.0)
    for _ in range(3):
        pace.wait()
    assert waits == []


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], []),
        (["aa", "bb", "c"], [["aa", "bb"], ["c"]]),
        (["a", "b", "c", "d"], [["a", "b", "c"], ["d"]]),
        (["a", "longer", "b"], [["a"], ["longer"], ["b"]]),
    ],
)
def test_batches_keep_to_count_and_characters(texts: list[str], expected: list[list[str]]) -> None:
    assert list(batches(texts, count=3, characters=4)) == expected
