"""Lines on stderr that tell how far long work has come."""

import sys
import time


def say(text: str) -> None:
    """Tell something, with the time."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


class Counted:
    """Tells every few seconds how many of how many are done."""

    SECONDS = 5.0

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.done = what, total, 0
        self.started = self.told = time.monotonic()

    def add(self, count: int) -> None:
        """So many more are done."""
        self.done += count
        now = time.monotonic()
        if now - self.told >= self.SECONDS:
            self.told = now
            left = (now - self.started) * (self.total - self.done) / max(self.done, 1)
            say(f"{self.what}: {self.done:,} of {self.total:,}, about {left:,.0f} s left")
