"""Tuning: settings are searched on some questions and judged on others, and written only if they win there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgfuse.errors import InvalidInput
from pgfuse.evaluate.intervals import Estimate, estimate
from pgfuse.evaluate.judged import Judged
from pgfuse.evaluate.runs import Asker, Done, ignore
from pgfuse.evaluate.search import Search
from pgfuse.evaluate.space import Settings, space_for
from pgfuse.evaluate.variants import routes
from pgfuse.settings import get_settings

FEWEST = 10
MANY = 60


@dataclass(frozen=True)
class Tuned:
    """What tuning found; the gain is that on questions that the search had not seen, fold by fold."""

    settings: Settings
    before: Estimate
    after: Estimate
    gain: Estimate
    folds: tuple[Settings, ...]
    queries: int

    @property
    def wins(self) -> bool:
        """Whether the gain on unseen questions is above nothing for sure, 95 % of the time."""
        return bool(self.settings) and self.gain.low > 0

    def json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "settings": self.settings,
            "wins": self.wins,
            "before": vars(self.before),
            "after": vars(self.after),
            "gain": vars(self.gain),
            "folds": list(self.folds),
            "queries": self.queries,
        }


def folds_for(judged: Judged, asked: int | None) -> int:
    """Two halves, each searched on and measured on the other; more folds where there are few questions."""
    return asked or (2 if len(judged.questions) >= MANY else 5)


def tune(
    asker: Asker,
    judged: Judged,
    *,
    present: Mapping[str, Any] | None = None,
    k: int = 10,
    folds: int = 2,
    trials: int = 60,
    seed: int = 0,
    done: Done = ignore,
) -> Tuned:
    """Search settings in each fold's complement and measure them in the fold, then search on all questions.

    `present` are the settings to better: those in force for the questions' profile, unless said.
    The rule to win: the 95 % interval of the gain over the settings in force, on questions not searched on, is above 0.
    """
    count = len(judged.questions)
    if count < max(FEWEST, folds):
        raise InvalidInput(f"{judged.name}: {count} judged queries are too few to tune on; there must be {FEWEST}.")
    search = _search(asker, judged, present or get_settings(asker.conn, judged.profiles[0]), k, trials, seed, done)
    before, after, found = np.zeros(count), np.zeros(count), []
    for fold in _folds(judged, folds, seed):
        unseen = judged.take(fold)
        settings = search.best(judged.take(sorted(set(range(count)) - set(fold))))
        before[fold] = search.ndcg(unseen, {})
        after[fold] = search.ndcg(unseen, settings) if settings else before[fold]
        found.append(settings)
    return Tuned(
        settings=search.best(judged),
        before=estimate(before),
        after=estimate(after),
        gain=estimate(after - before),
        folds=tuple(found),
        queries=count,
    )


def _search(
    asker: Asker, judged: Judged, present: Mapping[str, Any], k: int, trials: int, seed: int, done: Done
) -> Search:
    space = space_for(asker.conn, routes(asker.conn, judged.profiles))
    return Search(
        asker, space, {name: value for name, value in present.items() if name != "preset"}, k, trials, seed, done
    )


def _folds(judged: Judged, count: int, seed: int) -> list[list[int]]:
    """The places of the questions in each fold, drawn by lot, each in order."""
    places = np.random.default_rng(seed).permutation(len(judged.questions))
    return [sorted(part.tolist()) for part in np.array_split(places, count)]
