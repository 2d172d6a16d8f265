"""`pgfuse recall`: hits in a table, the reasons on demand, everything as JSON."""

from dataclasses import fields
from typing import Any

import psycopg
import pytest

import pgfuse
from pgfuse import Hit
from tests.acceptance.commands import error, invoke, invoke_json

MEMORIES: list[dict[str, Any]] = [
    {"external_id": "apple", "content": "the apple is red", "session_id": "s1", "position": 1, "tags": ["fruit"]},
    {"external_id": "pear", "content": "the pear is green", "session_id": "s1", "position": 2, "metadata": {"n": 1}},
    {"external_id": "car", "content": "the car is red", "kind": "semantic", "project_id": "r", "granularity": "turn"},
    {"external_id": "old", "content": "an old red book", "occurred_at": "2020-01-01T00:00:00Z", "session_id": "s2"},
    {"external_id": "evil", "content": "red [bold]not markup[/] \x1b[31m and\nsteering"},
]


@pytest.fixture
def known(db: str) -> str:
    with psycopg.connect(db) as connection:
        pgfuse.remember(connection, "p", MEMORIES)
        pgfuse.remember(connection, "q", [{"content": "somebody else's red thing"}])
    return db


def found(url: str, *options: str, query: str = "red") -> list[str]:
    return [hit["external_id"] for hit in invoke_json(url, "recall", query, "--profile", "p", *options)["hits"]]


def test_people_get_a_table(known: str) -> None:
    said = invoke(known, "recall", "red apple", "--profile", "p", "-k", "2").stdout
    for part in ("score", "found by", "lexical vec_full", "the apple is red", "session s1", "hybrid, "):
        assert part in said
    assert "else's" not in said


def test_json_holds_every_field(known: str) -> None:
    answer = invoke_json(known, "recall", "red apple", "--profile", "p")
    assert set(answer) == {"query", "profile_id", "hits", "trace"}
    for hit in answer["hits"]:
        assert set(hit) == {field.name for field in fields(Hit)}
    assert answer["hits"][0]["external_id"] == "apple"
    assert set(answer["hits"][0]["explain"]["routes"]) == {"lexical", "vec_full"}
    assert {"mode", "settings", "routes", "fused", "latency_ms", "fusion_latency_ms"} <= set(answer["trace"])
    old = next(hit for hit in answer["hits"] if hit["external_id"] == "old")
    assert old["occurred_at"].startswith("2020-01-01T00:00:00")


def test_explain_shows_parts_and_routes(known: str) -> None:
    said = invoke(known, "recall", "red apple", "--profile", "p", "-k", "1", "--explain").stdout
    assert "1. the apple is red" in said
    assert "█" in said
    assert "rank 1" in said
    for heading in ("route", "status", "method", "candidates", "complete", "top score"):
        assert heading in said
    lines = {line.split()[0]: line.split()[1:] for line in said.splitlines() if line.strip()}
    assert lines["lexical"][:2] == ["1", "executed"]
    assert lines["vec_user"][:2] == ["0", "skipped"]


def test_content_cannot_steer_the_terminal(known: str) -> None:
    for option in ((), ("--explain",)):
        said = invoke(known, "recall", "red markup steering", "--profile", "p", *option).stdout
        assert "\x1b" not in said
        assert "[bold]not markup[/]" in said


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--session", "s1"], {"apple", "pear"}),
        (["--session", "s1", "--session", "s2"], {"apple", "pear", "old"}),
        (["--project", "r"], {"car"}),
        (["--kind", "semantic"], {"car"}),
        (["--granularity", "turn"], {"car"}),
        (["--tag", "fruit"], {"apple"}),
        (["--metadata", '{"n": 1}'], {"pear"}),
        (["--until", "2020-06-01"], {"old"}),
        (["--as-of", "2020-06-01T00:00:00Z"], {"old"}),
        (["--since", "2020-06-01"], {"apple", "pear", "car", "evil"}),
    ],
)
def test_filters(known: str, options: list[str], wanted: set[str]) -> None:
    assert set(found(known, *options)) == wanted


def test_excluded_ids(known: str) -> None:
    first = invoke_json(known, "recall", "apple", "--profile", "p")["hits"][0]
    assert first["external_id"] not in found(known, "--exclude", str(first["id"]), query="apple")


def test_settings_for_one_call(known: str) -> None:
    options = ["--set", "fusion=rrf", "--set", "weights.vec_full=0", "--set", "rrf_k=7", "-k", "1"]
    answer = invoke_json(known, "recall", "apple", "--profile", "p", *options)
    assert answer["trace"]["settings"]["rrf_k"] == 7
    assert answer["trace"]["settings"]["weights"]["vec_full"] == 0
    assert answer["hits"][0]["final_score"] == pytest.approx(1 / (7 + 1))
    assert invoke_json(known, "recall", "apple", "--profile", "p")["trace"]["settings"]["rrf_k"] == 60


def test_preset_mmr_groups_and_budget(known: str) -> None:
    options = ["--preset", "balanced", "--mmr", "--max-tokens", "9", "--group-by", "session"]
    settings = invoke_json(known, "recall", "red", "--profile", "p", *options)["trace"]["settings"]
    assert (settings["preset"], settings["mmr"], settings["max_tokens"], settings["group_by"]) == (
        "balanced",
        True,
        9,
        "session",
    )
    assert (
        invoke_json(known, "recall", "red", "--profile", "p", "--preset", "memory", "--no-mmr")["trace"]["settings"][
            "mmr"
        ]
        is False
    )


def test_neighbours_stand_below_their_hit(known: str) -> None:
    options = ("recall", "apple", "--profile", "p", "-k", "1", "--set", "neighbors=1")
    hits = invoke_json(known, *options)["hits"]
    assert [hit["neighbor_of"] for hit in hits] == [None, hits[0]["id"]]
    for option in ((), ("--explain",)):
        assert f"next to {hits[0]['id']}" in invoke(known, *options, *option).stdout


def test_nothing_found(known: str) -> None:
    assert "Nothing found." in invoke(known, "recall", "red", "--profile", "nobody").stdout
    assert invoke_json(known, "recall", "red", "--profile", "nobody")["hits"] == []


def test_why_not(known: str) -> None:
    hits = invoke_json(known, "recall", "apple", "--profile", "p")["hits"]
    last = next(hit for hit in hits if hit["external_id"] == "car")
    options = ("recall", "apple", "--profile", "p", "-k", "1", "--why-not", str(last["id"]))
    answer = invoke_json(known, *options)
    assert {"id", "found", "filtered_by", "routes", "final_score", "last_hit", "verdict"} <= set(answer)
    assert (answer["id"], answer["found"], answer["last_hit"]["id"]) == (last["id"], False, hits[0]["id"])
    said = invoke(known, *options).stdout
    assert answer["verdict"] in " ".join(said.split())
    assert f"the last hit (id {hits[0]['id']})" in said
    assert "filtered" in invoke(known, *options, "--kind", "identity").stdout
    assert "no memory" in invoke(known, "recall", "apple", "--profile", "p", "--why-not", "99999").stdout


@pytest.mark.parametrize(
    ("options", "said", "code"),
    [
        (["--profile", ""], "profile_id", 1),
        (["--profile", "p", "--set", "rrf_k=0"], "rrf_k: 0 is not allowed", 1),
        (["--profile", "p", "--set", "nonsense=1"], "nonsense", 1),
        (["--profile", "p", "--preset", "best"], "best", 1),
        (["--profile", "p", "--since", "yesterday-ish"], "since", 1),
        (["--profile", "p", "--set", "rrf_k"], "write it as name=value", 2),
        (["--profile", "p", "--set", "weights=1", "--set", "weights.lexical=1"], "are both given", 2),
        (["--profile", "p", "--metadata", "{"], "--metadata is not JSON", 2),
        (["--profile", "p", "--metadata", "[]"], "must be a JSON object", 2),
        (["--profile", "p", "--top-k", "1001"], "top-k", 2),
        ([], "--profile", 2),
    ],
)
def test_bad_input(known: str, options: list[str], said: str, code: int) -> None:
    assert said in error(known, "recall", "red", *options, code=code)


def test_a_database_without_pgfuse(empty_db: str) -> None:
    assert "pgfuse migrate" in error(empty_db, "recall", "red", "--profile", "p")
