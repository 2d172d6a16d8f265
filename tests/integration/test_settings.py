"""The range and the type of every setting."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import psycopg
import pytest

import pgfuse
from tests.oracle.corpus import Doc, insert

pytest_plugins = ("tests.sql.fixtures",)
Connection = psycopg.Connection[Any]
FRACTION = (0, 1, -0.001, 1.001)
FIVE = (0, 5, -0.001, 5.001)
NUMBERS: dict[str, tuple[float, float, float, float]] = {
    "rrf_k": (1, 1000, 0, 1001),
    "pool_multiplier": (1, 50, 0, 51),
    "memory_weight": FIVE,
    "turn_factor": FIVE,
    "turn_cap": FIVE,
    "bm25_k1": (0, 3, -0.001, 3.001),
    "bm25_b": FRACTION,
    "mmr_lambda": FRACTION,
    "duplicate_threshold": FRACTION,
    "mmr_tag_weight": FRACTION,
    "neighbors": (0, 10, -1, 11),
    "per_group": (1, 1000, 0, 1001),
}
WHOLE = ("rrf_k", "pool_multiplier", "neighbors", "per_group", "max_tokens")
CHOICES = {
    "fusion": ("rrf", "linear", "adaptive"),
    "lexical_match": ("any", "all", "websearch"),
    "lexical_rank": ("bm25", "ts_rank", "ts_rank_cd"),
}
FLAGS = ("session_first", "mmr", "mmr_normalize")
NULLABLE = ("pool_multiplier", "recency_half_life_days", "group_by", "max_tokens")


@pytest.fixture
def filled(small: Connection) -> Connection:
    insert(small, [Doc(id=n, content="apple", vectors={"vec_full": [1, 0, n]}) for n in range(1, 4)])
    return small


def accepted(conn: Connection, **settings: Any) -> bool:
    """Whether the settings pass both ways, as stored ones and for one call; and a recall works with them."""
    in_force = pgfuse.set_settings(conn, "p", **settings)
    once = pgfuse.recall(conn, "apple", "q", embedding=[1, 0, 0], settings=settings).trace["settings"]
    assert pgfuse.recall(conn, "apple", "p", embedding=[1, 0, 0])
    return all(in_force[name] == once[name] == value for name, value in settings.items())


def refused(conn: Connection, *parts: str, **settings: Any) -> None:
    """Both ways are refused with the same message, which holds these parts."""
    messages = set()
    for call in (
        lambda: pgfuse.set_settings(conn, "p", **settings),
        lambda: pgfuse.recall(conn, "apple", "p", embedding=[1, 0, 0], settings=settings),
    ):
        with pytest.raises(pgfuse.InvalidSettings) as caught:
            call()
        messages.add(str(caught.value))
    assert len(messages) == 1, messages
    assert all(part in messages.copy().pop() for part in parts), messages


@pytest.mark.parametrize("key", NUMBERS)
def test_the_ends_of_every_range_are_allowed(key: str, filled: Connection) -> None:
    low, high, _, _ = NUMBERS[key]
    assert accepted(filled, **{key: low})
    assert accepted(filled, **{key: high})


@pytest.mark.parametrize("key", NUMBERS)
def test_outside_its_range_a_setting_is_refused_by_name_value_and_range(key: str, filled: Connection) -> None:
    low, high, below, above = NUMBERS[key]
    for value in (below, above):
        refused(filled, key, str(value), f"from {low} to {high}", **{key: value})


@pytest.mark.parametrize("key", NUMBERS)
@pytest.mark.parametrize("value", ["1", True, [1], {"a": 1}])
def test_a_number_of_another_type_is_refused(key: str, value: Any, filled: Connection) -> None:
    refused(filled, key, **{key: value})


@pytest.mark.parametrize("key", WHOLE)
def test_a_whole_number_has_no_fraction(key: str, filled: Connection) -> None:
    refused(filled, key, "a whole number", **{key: 2.5})


@pytest.mark.parametrize("key", WHOLE)
def test_a_whole_number_written_as_a_float_works_or_is_refused(key: str, filled: Connection) -> None:
    try:
        pgfuse.set_settings(filled, "p", **{key: 2.0})
    except pgfuse.InvalidSettings:
        return
    assert pgfuse.recall(filled, "apple", "p", embedding=[1, 0, 0], settings={"group_by": "session"})
    assert pgfuse.recall(filled, "apple", "q", embedding=[1, 0, 0], settings={key: 2.0}).trace["settings"][key] == 2


@pytest.mark.parametrize("key", CHOICES)
def test_choices(key: str, filled: Connection) -> None:
    for choice in CHOICES[key]:
        assert accepted(filled, **{key: choice})
    for wrong in ("", "x", CHOICES[key][0].upper(), 1, True, list(CHOICES[key])):
        refused(filled, key, *CHOICES[key], **{key: wrong})


@pytest.mark.parametrize("key", FLAGS)
def test_flags(key: str, filled: Connection) -> None:
    assert accepted(filled, **{key: True})
    assert accepted(filled, **{key: False})
    for wrong in (1, 0, "true", [True]):
        refused(filled, key, "true or false", **{key: wrong})


@pytest.mark.parametrize("key", NULLABLE)
def test_null_is_a_value_of_some(key: str, filled: Connection) -> None:
    assert accepted(filled, **{key: None})


def test_null_takes_another_setting_out_of_the_profile_again(filled: Connection) -> None:
    pgfuse.set_settings(filled, "p", rrf_k=7, memory_weight=2)
    assert pgfuse.set_settings(filled, "p", rrf_k=None)["rrf_k"] == 60
    assert pgfuse.get_settings(filled, "p")["memory_weight"] == 2


@pytest.mark.parametrize("weight", [0, 5, 0.001])
def test_weights_in_range(weight: float, filled: Connection) -> None:
    in_force = pgfuse.set_settings(filled, "p", weights={"vec_full": weight, "facet_anything_1": weight})
    assert in_force["weights"]["vec_full"] == in_force["weights"]["facet_anything_1"] == weight
    pgfuse.recall(filled, "apple", "p", embedding=[1, 0, 0])


@pytest.mark.parametrize(
    ("weights", "part"),
    [({"vec_full": 5.001}, "from 0 to 5"), ({"lexical": -0.001}, "from 0 to 5"), ({"lexical": "1"}, "from 0 to 5"),
    ({"lexical": None}, "from 0 to 5"),
     ({"lexical": True}, "from 0 to 5"), ({"vec": 1}, "is not a route"), ({"facet_": 1}, "is not a route"),
     ({"facet_A": 1}, "is not a route"),
     ({"": 1}, "is not a route"), ({"facet_" + "x" * 51: 1}, "is not a route"), ([1], "must be an object"), (1,
     "must be an object"), ("x", "must be an object")],
)  # fmt: skip
def test_weights_out_of_range(weights: Any, part: str, filled: Connection) -> None:
    refused(filled, "weights", part, weights=weights)


@pytest.mark.parametrize("key", ["x", "rrf-k", "RRF_K", "weight", "rrf_k ", "drop table"])
def test_an_unknown_setting_is_refused_with_those_there_are(key: str, filled: Connection) -> None:
    refused(filled, f"'{key}'", "rrf_k", "fusion", "weights", **{key: 1})


def test_a_refused_change_changes_nothing(filled: Connection) -> None:
    before = pgfuse.get_settings(filled, "p")
    with pytest.raises(pgfuse.InvalidSettings):
        pgfuse.set_settings(filled, "p", rrf_k=10, neighbors=99)
    assert pgfuse.get_settings(filled, "p") == before
    assert pgfuse.settings_history(filled, "p") == []


@pytest.mark.parametrize("changes", ["[]", "1", '"x"', "null", None])
def test_in_sql_only_an_object_configures(changes: str | None, filled: Connection) -> None:
    with pytest.raises(psycopg.Error, match="must be an object") as caught:
        filled.execute("SELECT pgfuse.configure('p', %s)", [changes])
    assert caught.value.sqlstate == "PF002"


@pytest.mark.parametrize("profile", ["a\0b", "\ud800", 5, b"p"])
def test_a_profile_that_cannot_be_is_refused(profile: Any, filled: Connection) -> None:
    for call in (pgfuse.get_settings, pgfuse.settings_history, pgfuse.rollback_settings):
        with pytest.raises(pgfuse.InvalidInput, match="profile_id"):
            call(filled, profile)
    with pytest.raises(pgfuse.InvalidInput, match="profile_id"):
        pgfuse.set_settings(filled, profile, rrf_k=1)


@pytest.mark.parametrize("value", ["\0", "\ud800", float("nan"), float("inf"), object(), 10**400])
def test_a_value_that_cannot_be_stored_is_refused(value: Any, filled: Connection) -> None:
    with pytest.raises(pgfuse.PgfuseError):
        pgfuse.set_settings(filled, "p", fusion=value)
    assert filled.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize("number", ["1e-400", "0.00000000000000000000000000000001", "1e0", "2.00"])
def test_numbers_as_sql_writes_them_work_or_are_refused(number: str, filled: Connection) -> None:
    for key in ("memory_weight", "neighbors"):
        changes = json.dumps({key: 0}).replace("0", number)
        with suppress(psycopg.Error), filled.transaction():
            filled.execute("SELECT pgfuse.configure('p', %s)", [changes])
        assert filled.execute("SELECT count(*) FROM pgfuse.recall('p', 'apple', '[1,0,0]')").fetchone() == (3,)
