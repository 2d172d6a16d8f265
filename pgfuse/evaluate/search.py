"""The search for better settings on some questions: Optuna proposes, the database answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pgfuse.evaluate import metrics
from pgfuse.evaluate.extras import load
from pgfuse.evaluate.judged import Judged
from pgfuse.evaluate.runs import Asker, Done
from pgfuse.evaluate.space import Settings, Space
from pgfuse.evaluate.variants import Variant

SAMPLE = 150
FIRST = 50
FINALISTS = 5


@dataclass
class Search:
    """A search, with what it has tried; ranking is the database's own work, so that no formula is kept twice."""

    asker: Asker
    space: Space
    present: Mapping[str, Any]
    k: int
    trials: int
    seed: int
    done: Done
    tried: list[tuple[float, Settings]] = field(default_factory=list)

    def best(self, judged: Judged) -> Settings:
        """The settings that do best on the questions; none at all where nothing beats those in force."""
        sample = self._sample(judged)
        best = self.ndcg(sample, {})
        self.tried = [(float(best.mean()), {})]
        study = self._study()
        for _ in range(self.trials):
            best = self._try(study, sample, best)
            self.done(1)
        return self._final(judged, sample)

    def ndcg(self, judged: Judged, settings: Settings) -> metrics.Values:
        """nDCG of each question with these settings over those in force."""
        weights = {**self.present["weights"], **settings.get("weights", {})}
        tried = Variant("tried", settings={**self.present, **settings, "weights": weights})
        rankings = self.asker.ask(judged, tried, self.k)
        return metrics.ndcg(judged.relevance, rankings, self.k)

    def _sample(self, judged: Judged) -> Judged:
        return judged.take(np.random.default_rng(self.seed).permutation(len(judged.questions))[:SAMPLE])

    def _study(self) -> Any:
        optuna = load("optuna")
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        startup = max(8, self.trials // 4)
        sampler = optuna.samplers.TPESampler(seed=self.seed, n_startup_trials=startup)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        start = self.space.parameters(self.present)
        study.enqueue_trial(start | dict.fromkeys(self.space.routes, 1.0))
        study.enqueue_trial(start)
        return study

    def _try(self, study: Any, sample: Judged, best: metrics.Values) -> metrics.Values:
        """One trial. One that is clearly behind after the first questions is not asked the rest."""
        trial = study.ask()
        settings = self.space.suggest(trial)
        if not any(settings["weights"].values()):
            study.tell(trial, 0.0)
            return best
        count = len(sample.questions)
        values = self.ndcg(sample.take(range(min(FIRST, count))), settings)
        if count > FIRST:
            if _is_behind(values, best[: len(values)]):
                study.tell(trial, float(best.mean() + (values - best[: len(values)]).mean()))
                return best
            values = np.concatenate([values, self.ndcg(sample.take(range(FIRST, count)), settings)])
        study.tell(trial, float(values.mean()))
        self.tried.append((float(values.mean()), settings))
        return values if values.mean() > best.mean() else best

    def _final(self, judged: Judged, sample: Judged) -> Settings:
        """The best of the best few on all questions, and not only on the sample."""
        ranked = sorted(self.tried, key=lambda tried: -tried[0])
        if len(sample.questions) == len(judged.questions):
            return ranked[0][1]
        finalists = [settings for _, settings in ranked[:FINALISTS]]
        finalists += [] if {} in finalists else [{}]
        return max(finalists, key=lambda settings: float(self.ndcg(judged, settings).mean()))


def _is_behind(values: metrics.Values, best: metrics.Values) -> bool:
    difference = values - best
    return bool(difference.mean() + 2 * difference.std() / np.sqrt(len(difference)) < 0)
