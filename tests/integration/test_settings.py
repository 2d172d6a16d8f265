"""Settings per profile: ranges, presets, layers, history, rollback, and many writers at once."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

import pgfuse
from tests.oracle.corpus import Doc, insert
from tests.oracle.presets import PRESETS

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
    "fusion": ("rrf", "linear"),
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
    [({"vec_full": 5.001}, "from 0 to 5"), ({"lexical": -0.001}, "from 0 to 5"), ({"lexical": "1"}, "from 0 to 5"), ({"lexical": None}, "from 0 to 5"),
     ({"lexical": True}, "from 0 to 5"), ({"vec": 1}, "is not a route"), ({"facet_": 1}, "is not a route"), ({"facet_A": 1}, "is not a route"),
     ({"": 1}, "is not a route"), ({"facet_" + "x" * 51: 1}, "is not a route"), ([1], "must be an object"), (1, "must be an object"), ("x", "must be an object")],
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


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_the_contracts_table(name: str, filled: Connection) -> None:
    open_ = ("lexical_match", "lexical_rank", "bm25_k1", "bm25_b")
    expected = {key: value for key, value in PRESETS[name].items() if key not in open_} | {"preset": name}
    for in_force in (
        pgfuse.set_settings(filled, "p", preset=name),
        pgfuse.get_settings(filled, "p"),
        pgfuse.recall(filled, "x", "q", embedding=[1, 0, 0], preset=name).trace["settings"],
        pgfuse.recall(filled, "x", "q", embedding=[1, 0, 0], settings={"preset": name}).trace["settings"],
    ):
        assert {key: in_force[key] for key in expected} == expected


def test_a_preset_starts_afresh_and_what_comes_with_it_acts_on_top(filled: Connection) -> None:
    pgfuse.set_settings(filled, "p", rrf_k=7, weights={"facet_x": 1})
    in_force = pgfuse.set_settings(filled, "p", preset="blend", neighbors=2, weights={"lexical": 0.5})
    assert (in_force["rrf_k"], in_force["neighbors"]) == (60, 2)
    assert in_force["weights"] == PRESETS["blend"]["weights"] | {"lexical": 0.5}


def test_layers(filled: Connection) -> None:
    builtin = pgfuse.get_settings(filled, "p")
    pgfuse.set_settings(
        filled, None, rrf_k=11, neighbors=1, turn_cap=1, weights={"vec_user": 1, "vec_asst": 1, "facet_x": 1}
    )
    pgfuse.set_settings(filled, "p", rrf_k=22, neighbors=2, weights={"vec_user": 2, "vec_asst": 2})
    own = {"rrf_k": 33, "weights": {"vec_user": 3}}
    used = pgfuse.recall(filled, "apple", "p", embedding=[1, 0, 0], settings=own).trace["settings"]
    assert (used["rrf_k"], used["neighbors"], used["turn_cap"], used["fusion"]) == (33, 2, 1, builtin["fusion"])
    assert used["weights"] == builtin["weights"] | {"facet_x": 1, "vec_asst": 2, "vec_user": 3}
    assert pgfuse.get_settings(filled, "q")["rrf_k"] == 11
    assert pgfuse.get_settings(filled, None)["rrf_k"] == 11
    assert pgfuse.get_settings(filled, "p")["weights"]["vec_user"] == 2


def test_arguments_of_the_call_are_settings_of_the_call(filled: Connection) -> None:
    pgfuse.set_settings(filled, "p", mmr=True, max_tokens=5, group_by="session", per_group=2)
    used = pgfuse.recall(filled, "apple", "p", embedding=[1, 0, 0], mmr=False, max_tokens=50, per_group=3).trace[
        "settings"
    ]
    assert (used["mmr"], used["max_tokens"], used["per_group"], used["group_by"]) == (False, 50, 3, "session")


def test_history_and_rollback(filled: Connection) -> None:
    assert pgfuse.settings_history(filled, "p") == []
    for value in (10, 20, 30):
        pgfuse.set_settings(filled, "p", rrf_k=value)
    assert pgfuse.rollback_settings(filled, "p")["rrf_k"] == 20
    assert pgfuse.rollback_settings(filled, "p", 1)["rrf_k"] == 10
    assert pgfuse.rollback_settings(filled, "p", 0)["rrf_k"] == 60
    history = pgfuse.settings_history(filled, "p")
    assert [entry["version"] for entry in history] == [1, 2, 3, 4, 5, 6]
    assert [entry["settings"] for entry in history] == [{"rrf_k": n} for n in (10, 20, 30, 20, 10)] + [{}]
    times = [entry["changed_at"] for entry in history]
    assert times == sorted(times)
    assert abs((datetime.now(UTC) - times[-1]).total_seconds()) < 60
    assert all(entry["changed_by"] for entry in history)


@pytest.mark.parametrize("version", [-1, 3, 10**6])
def test_rollback_to_a_version_that_is_not_there(version: int, filled: Connection) -> None:
    pgfuse.set_settings(filled, "p", rrf_k=10)
    pgfuse.set_settings(filled, "p", rrf_k=20)
    with pytest.raises(pgfuse.InvalidSettings, match=f"no version {version} .* 0 .* to 2"):
        pgfuse.rollback_settings(filled, "p", version)


def test_rollback_of_a_profile_without_settings(filled: Connection) -> None:
    with pytest.raises(pgfuse.InvalidSettings, match="no version"):
        pgfuse.rollback_settings(filled, "nobody")


def test_rollback_keeps_weights_that_only_the_newer_version_had_out(filled: Connection) -> None:
    pgfuse.set_settings(filled, "p", weights={"vec_user": 1})
    pgfuse.set_settings(filled, "p", weights={"vec_asst": 1})
    weights = pgfuse.rollback_settings(filled, "p")["weights"]
    assert (weights["vec_user"], weights["vec_asst"]) == (1, 0)


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
        try:
            with filled.transaction():
                filled.execute("SELECT pgfuse.configure('p', %s)", [changes])
        except psycopg.Error as error:
            assert error.sqlstate == "PF002"
        assert filled.execute("SELECT count(*) FROM pgfuse.recall('p', 'apple', '[1,0,0]')").fetchone() == (3,)


def test_a_change_acts_on_the_next_call_on_another_connection(db: str) -> None:
    with psycopg.connect(db, autocommit=True) as one, psycopg.connect(db, autocommit=True) as other:
        for _ in range(6):
            pgfuse.recall(other, "apple", "p")
        pgfuse.set_settings(one, "p", rrf_k=5)
        assert pgfuse.recall(other, "apple", "p").trace["settings"]["rrf_k"] == 5
        pgfuse.set_settings(one, None, neighbors=4)
        assert pgfuse.recall(other, "apple", "p").trace["settings"]["neighbors"] == 4


def test_writers_at_once_lose_nothing(db: str) -> None:
    failures: list[BaseException] = []

    def write(number: int) -> None:
        try:
            with psycopg.connect(db, autocommit=True) as conn:
                for turn in range(5):
                    pgfuse.set_settings(conn, "p", weights={f"facet_w{number}_{turn}": 1})
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with psycopg.connect(db) as conn:
        history = pgfuse.settings_history(conn, "p")
        assert [entry["version"] for entry in history] == list(range(1, 31))
        assert len(history[-1]["settings"]["weights"]) == 30


def test_writers_of_different_profiles_do_not_wait_for_each_other(db: str) -> None:
    with psycopg.connect(db) as one, psycopg.connect(db) as other:
        other.execute("SET LOCAL lock_timeout = '2s'")
        pgfuse.set_settings(one, "p", rrf_k=5)
        pgfuse.set_settings(other, "q", rrf_k=6)
        assert pgfuse.get_settings(other, "p")["rrf_k"] == 60
