"""Keeping below a number of requests a minute."""

import threading
import time
from collections.abc import Callable


class Pace:
    """Spaces requests evenly, over all threads that share it."""

    def __init__(
        self,
        per_minute: float | None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._interval = 60.0 / per_minute if per_minute else 0.0
        self._sleep = sleep
        self._clock = clock
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Wait until the next request may go."""
        with self._lock:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + self._interval
        if start > now:
            self._sleep(start - now)
