"""The true nearest neighbours, computed outside the database, and how many of them an answer has."""

from collections.abc import Sequence

import numpy as np

from benchmarks.embedding import Vectors

TIED = 1e-6


class Truth:
    """Similarities of all of a profile's memories to all queries; ids begin at 1 and count rows of the whole table."""

    def __init__(self, vectors: Vectors, members: slice, queries: Vectors, every: int = 1) -> None:
        self.first = members.start
        allowed = np.arange(members.start, members.stop) % every == 0
        self.similarities = np.where(allowed, queries @ vectors[members].T, -np.inf)
        self.size = int(allowed.sum())

    def recall(self, answers: Sequence[Sequence[int]], k: int) -> float:
        """The mean share of the k best that the first k of each answer are; equals of the k-th count as it does."""
        return float(np.mean([self._recall(query, answer, k) for query, answer in enumerate(answers)]))

    def _recall(self, query: int, answer: Sequence[int], k: int) -> float:
        row, wanted = self.similarities[query], min(k, self.size)
        least = np.partition(row, len(row) - wanted)[len(row) - wanted]
        places = {memory - 1 - self.first for memory in answer[:k]}
        found = sum(bool(0 <= place < len(row) and row[place] >= least - TIED) for place in places)
        return found / wanted
