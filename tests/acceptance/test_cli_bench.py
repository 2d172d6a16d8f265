"""`pgfuse bench` measures a database as it stands, and changes nothing in it."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest

import pgfuse
from pgfuse.bench.figures import recall_at
from tests.acceptance.commands import error, invoke, invoke_json

THINGS = ("bicycle", "kettle", "violin", "passport", "lantern", "sofa", "ticket", "garden")


@pytest.fixture
def stored(db: str) -> str:
    memories = [
        {
            "user_text": f"Where is the {thing} number {n}?",
            "assistant_text": f"The {thing} is in room {n} beside the {THINGS[n % 7]}.",
        }
        for n in range(12)
        for thing in THINGS
    ]
    with psycopg.connect(db) as connection:
        pgfuse.remember(connection, "large", memories)
        pgfuse.remember(connection, "small", [{"content": "one note about tea"}])
    return db


def test_figures_for_programs(stored: str) -> None:
    found = invoke_json(stored, "bench", "--queries", "5", "--top-k", "3")
    about = (found["profile_id"], found["memories"], found["queries"], found["top_k"], found["mode"])
    assert about == ("large", 96, 5, 3, "hybrid")
    routes = {route["route"]: route for route in found["routes"]}
    assert set(routes) == {"lexical", "vec_full", "vec_user", "vec_asst"}
    for name, route in routes.items():
        assert 0 < route["time"]["p50"] <= route["time"]["p95"]
        assert route["ratio_to_exact"] == pytest.approx(route["time"]["p50"] / route["exact"]["p50"])
        assert route["complete"] == 1
        assert route["overlap_10" if name == "lexical" else "recall_10"] == 1
    assert routes["vec_full"]["recall_64"] == 1
    assert routes["vec_full"]["method"] == "exact"
    assert routes["lexical"]["method"].startswith("bm25")
    assert 0 < found["recall"]["p50"] <= found["recall"]["p95"]


def test_a_table_a_plot_and_a_file_for_people(stored: str, tmp_path: Path) -> None:
    plot, out = tmp_path / "bench.svg", tmp_path / "bench.json"
    said = invoke(
        stored, "bench", "--profile", "large", "--queries", "4", "--plot", str(plot), "--out", str(out)
    ).stdout
    for part in ("large: 96 memories, 4 queries", "vec_full", "lexical", "recall@10", "@64", "ratio"):
        assert part in said
    assert plot.read_text().startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert json.loads(out.read_text())["profile_id"] == "large"


def test_queries_from_a_file(stored: str, tmp_path: Path) -> None:
    file = tmp_path / "queries.txt"
    file.write_text("where is the violin\n\nkettle and sofa\n")
    found = invoke_json(stored, "bench", "--queries-file", str(file), "--profile", "large")
    assert (found["queries"], found["mode"]) == (2, "hybrid")
    assert {route["route"]: route["recall_10"] for route in found["routes"]}["vec_full"] == 1


def test_memories_without_vectors(db: str) -> None:
    with psycopg.connect(db) as connection:
        connection.execute("INSERT INTO pgfuse.memories (profile_id, content) VALUES ('p', 'plain words')")
        connection.execute("UPDATE pgfuse.spaces SET model = 'own vectors'")
    found = invoke_json(db, "bench")
    assert [route["route"] for route in found["routes"]] == ["lexical"]
    assert found["mode"] == "text_only"


def test_nothing_is_written(stored: str) -> None:
    with psycopg.connect(stored, autocommit=True) as connection:
        given = "SELECT pg_snapshot_xmax(pg_current_snapshot())"
        before = connection.execute(given).fetchone()
        invoke(stored, "bench", "--queries", "3")
        assert connection.execute(given).fetchone() == before  # no transaction was given a number


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--profile", "nobody"], "'nobody' has no memories"),
        (["--profile", ""], "profile_id is empty"),
    ],
)
def test_a_profile_that_does_not_exist(stored: str, arguments: list[str], said: str) -> None:
    assert said in error(stored, "bench", *arguments)


def test_nothing_to_measure(db: str, empty_db: str, stored: str, tmp_path: Path) -> None:
    blank = tmp_path / "blank.txt"
    blank.write_text("\n\n")
    assert "pgfuse migrate" in error(empty_db, "bench")
    assert "no queries in the file" in error(stored, "bench", "--queries-file", str(blank))
    assert "name it .svg" in error(db, "bench", "--plot", "times.png", code=2)


def test_an_empty_database(db: str) -> None:
    assert "pgfuse ingest" in error(db, "bench")


def test_equals_of_the_last_count_as_it_does() -> None:
    exact = [(1, 0.9), (2, 0.5), (3, 0.5)]
    assert recall_at(2, [(1, 0.9), (3, 0.5)], exact) == 1
    assert recall_at(2, [(1, 0.9), (4, 0.4)], exact) == 1 / 2
    assert recall_at(10, [(1, 0.9)], exact) == 1 / 3
