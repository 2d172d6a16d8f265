"""Presets, layers, history and rollback of settings, and many writers at once."""

from __future__ import annotations

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


@pytest.fixture
def filled(small: Connection) -> Connection:
    insert(small, [Doc(id=n, content="apple", vectors={"vec_full": [1, 0, n]}) for n in range(1, 4)])
    return small


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
