"""`pgfuse eval` and `pgfuse tune`, as users run them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner, Result

import pgfuse
from pgfuse.cli import app
from tests.judged_folder import VECTORS, write_folder

pytest_plugins = ("tests.judged_fixtures",)

METRICS = ["ndcg@3", "mrr@3", "r@1", "recall@1", "recall@3", "recall@5", "recall@50", "recall_all@3"]
JUDGE = "INSERT INTO pgfuse.judgments (profile_id, query_id, query, memory_id) VALUES ('p', %s, %s, %s)"


def run(url: str, *arguments: object) -> Result:
    return CliRunner(env={"COLUMNS": "120"}).invoke(app, [*map(str, arguments), "--database-url", url])


def answer(url: str, *arguments: object) -> Any:
    result = run(url, *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_figures_for_programs(eval_url: str, folder: Path) -> None:
    found = answer(eval_url, "eval", folder, "--vectors", VECTORS, "--k", 3, "--compare", "semantic")
    names = [variant["name"] for variant in found["variants"]]
    assert names == ["lexical", "vec_full", "default", "semantic", "balanced", "blend", "memory"]
    assert (found["name"], found["queries"], found["profiles"], found["k"]) == ("tiny", 16, 2, 3)
    for variant in found["variants"]:
        assert sorted(variant["metrics"]) == sorted(METRICS)
        for figure in variant["metrics"].values():
            assert 0 <= figure["low"] <= figure["mean"] <= figure["high"] <= 1
    by_name = {variant["name"]: variant["metrics"]["ndcg@3"]["mean"] for variant in found["variants"]}
    assert by_name["vec_full"] == pytest.approx(by_name["semantic"])
    comparison = found["comparison"]
    assert (comparison["before"], comparison["after"]) == ("semantic", "default")
    assert comparison["gain"]["mean"] == pytest.approx(by_name["default"] - by_name["semantic"])


def test_a_table_and_a_report_for_people(eval_url: str, folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result = run(
        *(
            eval_url,
            "eval",
            folder,
            "--vectors",
            VECTORS,
            "--no-presets",
            "--report",
            page,
            "--exclude-category",
            "Ann",
        ),
        *("--set", "rrf_k=15", "--set", "weights.lexical=0.5", "--compare", '{"fusion": "rrf"}'),
    )
    assert result.exit_code == 0, result.output
    for part in ("ndcg@10", "lexical", "vec_full", "rrf_k=15 weights.lexical=0.5", "8 judged queries in 2 profiles"):
        assert part in result.stdout
    assert 'against {"fusion": "rrf"}' in result.stdout
    html = page.read_text()
    assert html.count("<svg") == 3
    assert not re.search(r"(src|href)=|https?://(?!www\.w3\.org)", html)
    assert "rrf_k=15 weights.lexical=0.5" in html


def test_stored_judgments(db: str) -> None:
    with psycopg.connect(db) as conn:
        (found,) = pgfuse.remember(conn, "p", [{"content": "red apples"}])
        conn.execute(JUDGE, ("q", "apples", found))
    variants = answer(db, "eval", "--profile", "p", "--no-presets")["variants"]
    assert [variant["name"] for variant in variants] == ["lexical", "vec_full", "in force"]
    assert [variant["metrics"]["mrr@10"]["mean"] for variant in variants] == [1.0, 1.0, 1.0]


def test_ids_that_do_not_exist_and_one_query_only(eval_url: str, folder: Path) -> None:
    (folder / "qrels.tsv").write_text("c1/q0\tnowhere\t1\nc1/q0\tc1/0\t1\n")
    found = answer(eval_url, "eval", folder, "--vectors", VECTORS, "--no-presets")
    assert found["queries"] == 1
    assert any("not in the corpus" in note for note in found["notes"])
    assert any("one judged query only" in note for note in found["notes"])
    assert found["variants"][0]["metrics"]["recall@50"] == {"mean": 0.5, "low": 0.5, "high": 0.5}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--vectors", "other"], "vectors that are there: tiny"),
        (["--vectors", VECTORS, "--set", "rrf_k=0"], "rrf_k"),
        (["--vectors", VECTORS, "--preset", "best"], 'preset: "best" is not allowed'),
        (["--vectors", VECTORS, "--set", "weights.nothing=1"], "'nothing' is not a route"),
        (["--model", "nonsense"], "No embedder is called 'nonsense'"),
        (["--profile-key", "team"], "'team' is missing"),
    ],
)
def test_what_cannot_be_done_is_said(eval_url: str, folder: Path, arguments: list[str], said: str) -> None:
    result = run(eval_url, "eval", folder, *arguments)
    assert result.exit_code == 1
    assert said in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["eval"], "Give either a folder or --profile"),
        (["eval", "DIR", "--profile", "p"], "Give either a folder or --profile"),
        (["eval", "DIR", "--compare", "best"], "--compare best"),
        (["eval", "DIR", "--report", "figures.png"], "name it .html"),
        (["eval", "--profile", "p", "--vectors", "x"], "go with a folder"),
        (["eval", "DIR", "--vectors", "x", "--model", "y"], "not both"),
        (["tune"], "Give --profile, or a folder"),
    ],
)
def test_options_that_do_not_go_together(eval_url: str, folder: Path, arguments: list[str], said: str) -> None:
    result = run(eval_url, *(folder if argument == "DIR" else argument for argument in arguments))
    assert result.exit_code == 2
    assert said in " ".join(re.sub("[│╭╰─╮╯]", "", result.stderr).split())


@pytest.mark.parametrize("arguments", [["eval", "--profile", "nobody"], ["tune", "--profile", "nobody"]])
def test_a_profile_that_nobody_judged(eval_url: str, arguments: list[str]) -> None:
    result = run(eval_url, *arguments)
    assert result.exit_code == 1
    assert "judgments" in result.stderr


def test_a_database_without_pgfuse(empty_db: str) -> None:
    result = run(empty_db, "eval", "--profile", "p")
    assert result.exit_code == 1
    assert "pgfuse migrate" in result.stderr


@pytest.fixture
def judged_db(db: str) -> str:
    """A profile whose judged queries are answered by words, but which is searched by vectors that know nothing."""
    words = [f"code{number}" for number in range(24)]
    with psycopg.connect(db) as conn:
        vector = [1.0, *[0.0] * 255]
        memories = [{"content": f"the {word} entry", "embeddings": {"vec_full": vector}} for word in words]
        for word, found in zip(words, pgfuse.remember(conn, "p", memories), strict=True):
            conn.execute(JUDGE, (word, f"where is {word}", found))
        pgfuse.set_settings(conn, "p", preset="semantic")
    return db


def versions(url: str) -> list[dict[str, Any]]:
    with psycopg.connect(url) as conn:
        return pgfuse.settings_history(conn, "p")


def test_tuning_writes_what_wins_and_it_can_be_rolled_back(judged_db: str) -> None:
    dry = run(judged_db, "tune", "--profile", "p", "--trials", 8, "--dry-run", "--folds", 2)
    assert dry.exit_code == 0, dry.output
    assert "Nothing was written. To use them: pgfuse settings set" in dry.stdout
    assert len(versions(judged_db)) == 1
    found = answer(judged_db, "tune", "--profile", "p", "--trials", 8, "--folds", 2)
    assert (found["written"], found["known_items"]) == (True, False)
    assert found["gain"]["low"] > 0
    with psycopg.connect(judged_db) as conn:
        assert pgfuse.get_settings(conn, "p")["weights"]["lexical"] == found["settings"]["weights"]["lexical"] > 0
        pgfuse.rollback_settings(conn, "p")
        assert pgfuse.get_settings(conn, "p")["weights"]["lexical"] == 0
    assert len(versions(judged_db)) == 3


def test_settings_that_cannot_be_bettered_stay(judged_db: str) -> None:
    with psycopg.connect(judged_db) as conn:
        pgfuse.set_settings(conn, "p", preset="default", weights={"vec_full": 0})
    result = run(judged_db, "tune", "--profile", "p", "--trials", 4)
    assert result.exit_code == 0, result.output
    assert "Nothing was written: on held-out queries the gain is not surely above 0" in result.stdout
    assert len(versions(judged_db)) == 2


def test_known_items_are_called_weak_and_not_written(judged_db: str) -> None:
    with psycopg.connect(judged_db) as conn:
        conn.execute("DELETE FROM pgfuse.judgments")
        conn.execute("UPDATE pgfuse.memories SET content = 'please compare every ' || content")
    arguments = ("tune", "--profile", "p", "--trials", 4, "--folds", 2)
    result = run(judged_db, *arguments)
    assert result.exit_code == 0, result.output
    assert "weaker evidence than judged queries" in result.stdout
    assert "To write it all the same, add --accept-known-items" in result.stdout
    assert len(versions(judged_db)) == 1
    assert answer(judged_db, *arguments, "--accept-known-items")["written"] is True


def test_a_folder_tunes_a_profile_that_it_betters(eval_url: str, tmp_path: Path) -> None:
    with psycopg.connect(eval_url) as conn:
        pgfuse.set_settings(conn, "tuned", preset="semantic")
        pgfuse.set_settings(conn, "good", preset="default", weights={"vec_full": 0})
    arguments = ("tune", write_folder(tmp_path / "noisy", noise=3.0), "--vectors", VECTORS, "--folds", 2, "--k", 3)
    assert answer(eval_url, *arguments, "--trials", 6, "--profile", "tuned")["written"] is True
    assert answer(eval_url, *arguments, "--trials", 3, "--profile", "good")["written"] is False


def test_a_folder_alone_writes_nothing(eval_url: str, folder: Path) -> None:
    found = answer(eval_url, "tune", folder, "--vectors", VECTORS, "--trials", 3)
    assert (found["written"], found["profile"], found["queries"]) == (False, None, 16)
