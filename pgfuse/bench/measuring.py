"""Asking every query of every route, and of recall as a whole, one after the other."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import psycopg

from pgfuse.bench import statements
from pgfuse.bench.asked import Asked, Connection, Profile
from pgfuse.bench.figures import Report, RouteFigures, Scored, mean, recall_at, timed
from pgfuse.evaluate.variants import routes
from pgfuse.recall import recall
from pgfuse.settings import Settings, get_settings
from pgfuse.types import Recall
from pgfuse.vectors import to_text

WARM = 3
MOST_SCORED = 20_000  # larger profiles are not ranked once more without a budget
Done = Callable[[str, int], object]


class Samples:
    """What one route gave: times, and how its answers compare with the true ones."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.exact_times: list[float] = []
        self.shares: dict[str, list[float]] = {"recall_10": [], "recall_64": [], "overlap_10": []}
        self.methods: Counter[str] = Counter()
        self.complete: list[float] = []

    def figures(self, route: str) -> RouteFigures | None:
        """The figures, or None for a route that was never asked."""
        found = timed(self.times)
        if found is None:
            return None
        method = self.methods.most_common(1)[0][0] if self.methods else ""
        shares = {name: mean(values) for name, values in self.shares.items()}
        return RouteFigures(route, method, mean(self.complete) or 0.0, found, timed(self.exact_times), **shares)


class Bench:
    """A profile, its settings and its routes, to be asked over one connection."""

    def __init__(self, conn: Connection, profile: Profile, top_k: int) -> None:
        self.conn, self.profile, self.top_k = conn, profile, top_k
        self.settings: Settings = get_settings(conn, profile.id)
        self.routes = routes(conn, [profile.id])
        self.samples = {route: Samples() for route in self.routes}
        self.whole: list[float] = []
        self.modes: Counter[str] = Counter()

    def run(self, asked: Sequence[Asked], done: Done) -> Report:
        """Ask everything; `done` hears of each query."""
        for query in asked[:WARM]:
            self._recall(query)
        for count, query in enumerate(asked, 1):
            self._ask(query)
            done("Measuring", count)
        found = (samples.figures(route) for route, samples in self.samples.items())
        whole = timed(self.whole)
        assert whole is not None  # noqa: S101  # there is a query
        return Report(
            *(self.profile.id, self.profile.memories, self.profile.model, len(asked), self.top_k),
            mode=self.modes.most_common(1)[0][0],
            routes=[figures for figures in found if figures],
            recall=whole,
        )

    def _ask(self, query: Asked) -> None:
        started = time.perf_counter()
        result = self._recall(query)
        self.whole.append(_since(started))
        self.modes[str(result.trace["mode"])] += 1
        for route in self.routes:
            if route == "lexical":
                self._lexical(query.text)
            elif query.vector is not None:
                self._dense(route, to_text(query.vector))
        self._trace(query)

    def _recall(self, query: Asked, **options: Any) -> Recall:
        given = {"top_k": self.top_k, "embedding": query.vector, **options}
        return recall(self.conn, query.text, self.profile.id, **given)

    def _trace(self, query: Asked) -> None:
        """What each route says of itself, also one that the settings leave out."""
        weights = dict.fromkeys(self.routes, 1)
        trace = self._recall(query, settings={"fusion": "rrf", "weights": weights}).trace
        for route, did in trace["routes"].items():
            if route in self.samples and did["method"]:
                self.samples[route].methods[did["method"]] += 1
                self.samples[route].complete.append(float(bool(did["complete"])))

    def _dense(self, route: str, vector: str) -> None:
        samples = self.samples[route]
        params = {"profile": self.profile.id, "space": self.profile.space_id, "route": route, "vector": vector}
        found = self._timed(samples.times, statements.DENSE, params)
        exact = self._timed(samples.exact_times, statements.EXACT_DENSE, params)
        for k in (10, 64):
            samples.shares[f"recall_{k}"].append(recall_at(k, found, exact))

    def _lexical(self, text: str) -> None:
        samples = self.samples["lexical"]
        params = {"profile": self.profile.id, "query": text}
        found = self._timed(samples.times, statements.LEXICAL, params)
        if self._is_comparable():
            params |= {"k1": self.settings["bm25_k1"], "b": self.settings["bm25_b"]}
            exact = self._timed(samples.exact_times, statements.EXACT_BM25, params)
            samples.shares["overlap_10"].append(recall_at(10, found, exact))

    def _is_comparable(self) -> bool:
        ranked = (self.settings["lexical_rank"], self.settings["lexical_match"])
        return ranked == ("bm25", "any") and self.profile.memories <= MOST_SCORED

    def _timed(self, times: list[float], statement: str, params: dict[str, Any]) -> Scored:
        started = time.perf_counter()
        rows = self.conn.execute(statement, params).fetchall()
        times.append(_since(started))
        return [(int(name), float(score)) for name, score in rows]


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def only_read(conn: psycopg.Connection[Any]) -> None:
    """Let the server refuse whatever would change something."""
    conn.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
