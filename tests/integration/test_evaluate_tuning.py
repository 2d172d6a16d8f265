"""Tuning finds what is better, and writes nothing that has not won on questions it had not seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import psycopg
import pytest

import pgfuse
from pgfuse.errors import InvalidInput
from pgfuse.evaluate.judged import Judged
from pgfuse.evaluate.known_items import known_items, question_text
from pgfuse.evaluate.preparation import Prepared, Source, prepare, prepare_known_items
from pgfuse.evaluate.runs import Asker, asker
from pgfuse.evaluate.space import Space
from pgfuse.evaluate.tuning import folds_for, tune
from tests.judged_folder import VECTORS, write_folder

pytest_plugins = ("tests.judged_fixtures",)


@pytest.fixture
def noisy(eval_url: str, tmp_path: Path) -> Prepared:
    """A collection whose vectors mean little."""
    return prepare(eval_url, Source(write_folder(tmp_path / "noisy", noise=3.0), VECTORS), lambda _done, _total: None)


@pytest.fixture
def asking(noisy: Prepared) -> Iterator[Asker]:
    with asker(noisy.url) as found:
        yield found


@pytest.fixture
def semantic(noisy: Prepared, asking: Asker) -> Judged:
    """The questions, in profiles that are searched by those vectors alone."""
    for profile in noisy.judged.profiles:
        pgfuse.set_settings(asking.conn, profile, preset="semantic")
    return noisy.judged


def test_a_useless_route_loses_its_weight(asking: Asker, semantic: Judged) -> None:
    found = tune(asking, semantic, k=3, folds=2, trials=12)
    assert found.wins
    assert found.gain.low > 0
    assert found.gain.mean == pytest.approx(found.after.mean - found.before.mean)
    assert found.settings["weights"]["lexical"] > 0
    assert len(found.folds) == 2
    assert found.json()["queries"] == 16


def test_the_same_seed_finds_the_same(asking: Asker, semantic: Judged) -> None:
    first, second = (tune(asking, semantic, k=3, folds=2, trials=5, seed=3) for _ in range(2))
    assert first == second


def test_answers_drawn_by_lot_teach_nothing(asking: Asker, semantic: Judged) -> None:
    generator = np.random.default_rng(5)
    lots = {q.id: {f"{q.id.split('/')[0]}/{generator.integers(24)}": 1} for q in semantic.questions}
    found = tune(asking, replace(semantic, relevance=lots), k=3, folds=2, trials=8)
    assert not found.wins


def test_too_few_questions(asking: Asker, semantic: Judged) -> None:
    with pytest.raises(InvalidInput, match="9 judged queries are too few to tune on; there must be 10"):
        tune(asking, semantic.take(range(9)))


def test_few_questions_are_cut_into_more_parts(semantic: Judged) -> None:
    assert folds_for(semantic, None) == 5
    assert folds_for(semantic.take([0] * 60), None) == 2
    assert folds_for(semantic, 3) == 3


class Trial:
    """Proposes the lowest value each time."""

    def suggest_float(self, _name: str, low: float, _high: float) -> float:
        return low

    def suggest_int(self, _name: str, low: int, _high: int, log: bool) -> int:
        return low

    def suggest_categorical(self, _name: str, choices: tuple[str, ...]) -> str:
        return choices[0]


def test_the_space_has_what_its_routes_need() -> None:
    assert Space(("vec_full",), ("rrf",)).suggest(Trial()) == {"weights": {"vec_full": 0.0}}
    both = Space(("lexical", "vec_full"), ("rrf", "linear")).suggest(Trial())
    assert both == {
        "weights": {"lexical": 0.0, "vec_full": 0.0}, "fusion": "rrf", "pool_multiplier": None, "rrf_k": 1
    }  # fmt: skip


def test_known_items_are_words_of_memories(db: str) -> None:
    texts = [f"The committee discussed harbour number {number} at considerable length. Yes." for number in range(12)]
    with psycopg.connect(db) as conn:
        ids = pgfuse.remember(conn, "p", [{"content": text} for text in [*texts, "ok"]])
        judged = known_items(conn, "p", seed=1)
        assert known_items(conn, "p", seed=1) == judged
    assert {question.id for question in judged.questions} == {f"known:{found}" for found in ids[:-1]}
    for question in judged.questions:
        assert set(question.text.split()) <= {"committee", "discussed", "harbour", "number", "considerable", "length"}
    assert "weaker evidence" in judged.notes[0]
    assert prepare_known_items(db, "p", 1).judged.questions[0].embedding is not None


def test_no_memories_to_make_queries_from(conn: psycopg.Connection) -> None:
    with pytest.raises(InvalidInput, match="neither judgments nor memories"):
        known_items(conn, "nobody", seed=0)


@pytest.mark.parametrize("content", ["", "ok", "a b c", "two words", "!!!"])
def test_a_text_with_too_few_words_gives_no_question(content: str) -> None:
    assert question_text(content, np.random.default_rng(0)) is None
