"""Trying again, with waits that grow and are bounded."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pgfuse.errors import EmbedderError

T = TypeVar("T")


class TransientError(Exception):
    """A failure that may pass; ``retry_after`` is the number of seconds the server asked to wait."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(frozen=True)
class Retry:
    """How often to try again, and how long to wait in between."""

    max_retries: int = 5
    max_wait: float = 60.0
    base: float = 0.5
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random

    def call(self, action: Callable[[], T]) -> T:
        """Run the action until it succeeds, fails for good or has been retried often enough."""
        attempt = 1
        while True:
            try:
                return action()
            except TransientError as exc:
                if attempt > self.max_retries:
                    raise EmbedderError(f"{exc} Gave up after {attempt} attempts.") from exc
                wait = self._wait(attempt, exc)
            self.sleep(wait)
            attempt += 1

    def _wait(self, attempt: int, failure: TransientError) -> float:
        asked = failure.retry_after or 0.0
        if asked > self.max_wait:
            raise EmbedderError(
                f"{failure} The server asks to wait {asked:.0f} s, more than max_wait ({self.max_wait:g} s)."
            ) from failure
        # Between half and all of the growing wait, so that many clients do not come back at the same moment.
        backoff: float = self.base * 2.0 ** (attempt - 1) * (0.5 + self.chance() / 2)
        return min(self.max_wait, max(asked, backoff))
