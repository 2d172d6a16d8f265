"""Asking every question, by several connections at once, and noting what came back in which order."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from queue import SimpleQueue
from typing import Any, TypeAlias

import psycopg

from pgfuse.evaluate.judged import Judged, Question
from pgfuse.evaluate.variants import Variant
from pgfuse.recall import recall

Rankings: TypeAlias = dict[str, list[str]]
Done = Callable[[int], object]


def ignore(_count: int) -> None:
    """Nobody wants to hear of progress."""


class Asker:
    """Connections to a database, and threads that ask over them."""

    def __init__(self, conns: Sequence[psycopg.Connection[Any]], threads: ThreadPoolExecutor) -> None:
        self.conn = conns[0]
        self._free: SimpleQueue[psycopg.Connection[Any]] = SimpleQueue()
        self._threads = threads
        for conn in conns:
            self._free.put(conn)

    def ask(self, judged: Judged, variant: Variant, top_k: int, done: Done = ignore) -> Rankings:
        """The documents found for each question, best first; neighbours of a hit are no results of their own."""
        rankings: Rankings = {}

        def one(question: Question) -> tuple[str, list[str]]:
            return question.id, self._answer(judged, question, variant, top_k)

        for asked, documents in self._threads.map(one, judged.questions):
            rankings[asked] = documents
            done(1)
        return rankings

    def _answer(self, judged: Judged, question: Question, variant: Variant, top_k: int) -> list[str]:
        conn = self._free.get()
        try:
            found = recall(
                conn,
                question.text,
                question.profile_id,
                top_k=top_k,
                embedding=question.embedding,
                preset=variant.preset,
                settings=variant.settings,
            )
        finally:
            self._free.put(conn)
        return [judged.document_id(hit) for hit in found if hit.neighbor_of is None]


@contextmanager
def asker(url: str) -> Iterator[Asker]:
    """An asker with a connection a processor, at most eight."""
    count = min(8, os.cpu_count() or 1)
    with ExitStack() as stack:
        conns = [stack.enter_context(psycopg.connect(url, autocommit=True)) for _ in range(count)]
        yield Asker(conns, stack.enter_context(ThreadPoolExecutor(count)))
