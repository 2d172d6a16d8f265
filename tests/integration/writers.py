"""Writers at the same time: each with a connection of its own, all started at once."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import psycopg

Work = Callable[[psycopg.Connection[Any], int], None]


def at_once(url: str, works: Sequence[Work], *, times: int = 1, **options: Any) -> list[BaseException]:
    """Run each piece of work so many times, in a transaction each, and return what went wrong."""
    errors: list[BaseException] = []
    start = threading.Barrier(len(works))

    def write(work: Work) -> None:
        with psycopg.connect(url, **options) as conn:
            start.wait()
            for time in range(times):
                try:
                    with conn.transaction():
                        work(conn, time)
                except psycopg.Error as error:
                    errors.append(error)

    threads = [threading.Thread(target=write, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors
