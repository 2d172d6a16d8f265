"""What the library logs as a warning, told to the user once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Notes(logging.Handler):
    """Hands each message on the first time that it comes."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self.tell, self.told = tell, set[str]()

    def emit(self, record: logging.LogRecord) -> None:
        """Tell a message that is new; counts in it do not make it another one."""
        if record.msg not in self.told:
            self.told.add(record.msg)
            self.tell(f"Note: {record.getMessage()}")


@contextmanager
def told_once(tell: Callable[[str], None]) -> Iterator[None]:
    """Tell the warnings of pgfuse's logger while the block runs."""
    logger, notes = logging.getLogger("pgfuse"), Notes(tell)
    logger.addHandler(notes)
    try:
        yield
    finally:
        logger.removeHandler(notes)
