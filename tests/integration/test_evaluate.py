"""Evaluation asks the database what a caller would ask it, and stores a folder no more often than needed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import psycopg
import pytest

import pgfuse
from pgfuse.errors import InvalidInput, InvalidSettings
from pgfuse.evaluate.evaluation import compare, measure
from pgfuse.evaluate.judged import Judged
from pgfuse.evaluate.preparation import Prepared, Source, prepare, prepare_profile
from pgfuse.evaluate.runs import Asker, asker
from pgfuse.evaluate.variants import Variant, all_routes
from tests.judged_folder import VECTORS

pytest_plugins = ("tests.judged_fixtures",)

TURN = """
SELECT session_id, position, granularity, metadata ->> 'speaker', content FROM pgfuse.memories WHERE external_id = %s
"""
JUDGE = """
INSERT INTO pgfuse.judgments (profile_id, query_id, query, memory_id, relevance) VALUES ('p', %s, %s, %s, %s)
"""
VERSIONS = "SELECT external_id, id, xmin::text FROM pgfuse.memories WHERE profile_id LIKE 'eval:%%' || %s || '%%'"


def quiet(_done: int, _total: int) -> None:
    return None


@pytest.fixture
def place(eval_url: str, folder: Path) -> Prepared:
    """The folder, stored."""
    return prepare(eval_url, Source(folder, VECTORS), quiet)


@pytest.fixture
def asking(place: Prepared) -> Iterator[Asker]:
    with asker(place.url) as found:
        yield found


def dcg(gains: list[int]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, start=1))


def test_figures_are_those_of_plain_recalls(place: Prepared, asking: Asker) -> None:
    judged, settings = place.judged, {"fusion": "rrf", "rrf_k": 10, "weights": {"lexical": 0.5}}
    measured = measure(asking, judged, Variant("own", "balanced", settings), 2)
    for index, question in enumerate(judged.questions):
        found = pgfuse.recall(
            asking.conn,
            question.text,
            question.profile_id,
            top_k=2,
            embedding=question.embedding,
            preset="balanced",
            settings=settings,
        )
        gains = [judged.relevance[question.id].get(str(hit.external_id), 0) for hit in found]
        assert measured.rankings[question.id] == [hit.external_id for hit in found]
        assert measured.values["ndcg@2"][index] == pytest.approx(dcg(gains) / dcg([1, 1]), abs=1e-6)
        assert measured.values["recall@50"][index] == 1.0
    assert measured.estimates["ndcg@2"].mean == pytest.approx(measured.values["ndcg@2"].mean())


def test_each_question_is_asked_in_its_conversation(place: Prepared, asking: Asker) -> None:
    for variant in [*all_routes(asking.conn, place.judged.profiles, Variant("base")), Variant("memory", "memory")]:
        for question, found in asking.ask(place.judged, variant, 10).items():
            assert found
            assert {document.split("/")[0] for document in found} == {question.split("/")[0]}


def test_single_routes_are_single(place: Prepared, asking: Asker) -> None:
    alone = all_routes(asking.conn, place.judged.profiles, Variant("base", "memory"))
    assert [variant.name for variant in alone] == ["lexical", "vec_full"]
    question = place.judged.questions[0]
    for variant in alone:
        hits = pgfuse.recall(
            asking.conn,
            question.text,
            question.profile_id,
            embedding=question.embedding,
            preset=variant.preset,
            settings=variant.settings,
        )
        assert {hit.routes for hit in hits} == {(variant.name,)}


def test_turns_are_stored_with_their_place(place: Prepared, asking: Asker) -> None:
    stored = asking.conn.execute(TURN, ("c1/1",)).fetchall()
    assert (
        "c1/1",
        1,
        "turn",
        "Bob",
        "Bob: I thought about cooking again, remark number 1 on cooking of mine.",
    ) in stored


def test_a_second_evaluation_writes_nothing_and_a_removed_document_goes(
    eval_url: str, folder: Path, place: Prepared, asking: Asker
) -> None:
    name = place.judged.profiles[0].split("/")[0].removeprefix("eval:")
    before = asking.conn.execute(VERSIONS, (name,)).fetchall()
    assert prepare(eval_url, Source(folder, VECTORS), quiet).url == place.url
    assert asking.conn.execute(VERSIONS, (name,)).fetchall() == before
    lines = (folder / "corpus.jsonl").read_text().splitlines(keepends=True)
    (folder / "corpus.jsonl").write_text("".join(lines[:-1]))
    np.save(folder / f"corpus.{VECTORS}.npy", np.load(folder / f"corpus.{VECTORS}.npy")[:-1])
    prepare(eval_url, Source(folder, VECTORS), quiet)
    assert {row[0] for row in asking.conn.execute(VERSIONS, (name,))} == {row[0] for row in before} - {"c2/23"}


def test_nothing_of_it_is_in_the_database_itself(eval_url: str, place: Prepared) -> None:
    with psycopg.connect(eval_url) as conn:
        assert conn.execute("SELECT count(*) FROM pgfuse.memories WHERE profile_id LIKE 'eval:%'").fetchone() == (0,)


def test_a_comparison_lists_what_changed(place: Prepared, asking: Asker) -> None:
    lexical, dense = (
        measure(asking, place.judged, v, 3) for v in all_routes(asking.conn, place.judged.profiles, Variant("b"))
    )
    found = compare(place.judged, dense, lexical, 3)
    assert found.gain.mean == pytest.approx((lexical.values["ndcg@3"] - dense.values["ndcg@3"]).mean())
    assert [change.gain for change in found.changes] == sorted((change.gain for change in found.changes), reverse=True)
    assert len(found.changes) == np.count_nonzero(lexical.values["ndcg@3"] - dense.values["ndcg@3"])
    for change in found.changes:
        assert set(change.places_after) == {d for d, grade in place.judged.relevance[change.id].items() if grade}
        assert {d for d, rank in change.places_after.items() if rank} <= set(lexical.rankings[change.id])


def test_wrong_settings_are_refused(place: Prepared, asking: Asker) -> None:
    with pytest.raises(InvalidSettings, match="rrf_k"):
        asking.ask(place.judged, Variant("wrong", settings={"rrf_k": 0}), 3)


def test_one_question_only(place: Prepared, asking: Asker) -> None:
    one = replace(place.judged, questions=place.judged.questions[:1])
    found = measure(asking, one, Variant("default", "default"), 10).estimates["ndcg@10"]
    assert found.low == found.mean == found.high


@pytest.fixture
def judged_profile(db: str) -> str:
    """A database whose profile p has two judged queries, one of them without a relevant memory."""
    with psycopg.connect(db) as conn:
        texts = ["red apples", "green pears", "yellow bananas"]
        ids = pgfuse.remember(conn, "p", [{"content": text} for text in texts])
        rows = [("q1", "apples", ids[0], 2), ("q1", "apples", ids[1], 0), ("q2", "pears?", ids[2], 0)]
        for row in rows:
            conn.execute(JUDGE, row)
    return db


def test_stored_judgments_are_asked_in_place(judged_profile: str) -> None:
    place = prepare_profile(judged_profile, "p")
    judged: Judged = place.judged
    assert [question.text for question in judged.questions] == ["apples"]
    assert judged.questions[0].embedding.shape == (256,)
    assert judged.notes == (
        "1 of 2 queries have no relevant document and are left out",
        "there is one judged query only: no interval can be given",
    )
    with asker(place.url) as asking:
        assert measure(asking, judged, Variant("in force"), 10).estimates["ndcg@10"].mean == 1.0


def test_a_profile_without_judgments(judged_profile: str) -> None:
    with pytest.raises(InvalidInput, match=r"'nobody' has no judgments. Store some: INSERT INTO pgfuse\.judgments"):
        prepare_profile(judged_profile, "nobody")


def test_a_space_without_a_model_is_searched_by_words(judged_profile: str) -> None:
    with psycopg.connect(judged_profile) as conn:
        conn.execute("UPDATE pgfuse.spaces SET model = 'the-callers-own'")
    place = prepare_profile(judged_profile, "p")
    assert place.judged.notes[-1].endswith("only words are searched")
    with asker(place.url) as asking:
        assert measure(asking, place.judged, Variant("in force"), 10).estimates["r@1"].mean == 1.0
