"""`pgfuse settings`: get, set, history and rollback."""

import pytest

from tests.acceptance.commands import error, invoke, invoke_json


def test_set_get_history_and_rollback(db: str) -> None:
    assert invoke_json(db, "settings", "get", "--profile", "p")["rrf_k"] == 60
    changed = invoke_json(db, "settings", "set", "rrf_k=20", "weights.lexical=0.5", "--profile", "p")
    assert (changed["rrf_k"], changed["weights"]["lexical"]) == (20, 0.5)
    assert invoke_json(db, "settings", "get", "--profile", "p") == changed
    invoke(db, "settings", "set", "rrf_k=30", "--profile", "p")
    history = invoke_json(db, "settings", "history", "--profile", "p")
    assert [set(version) for version in history] == [{"version", "settings", "changed_at", "changed_by"}] * 2
    assert [version["settings"]["rrf_k"] for version in history] == [20, 30]
    assert invoke_json(db, "settings", "rollback", "--profile", "p")["rrf_k"] == 20
    assert invoke_json(db, "settings", "rollback", "--version", "0", "--profile", "p")["rrf_k"] == 60
    assert len(invoke_json(db, "settings", "history", "--profile", "p")) == 4
    assert invoke_json(db, "settings", "get", "--profile", "q")["rrf_k"] == 60


def test_the_database_has_its_own(db: str) -> None:
    invoke(db, "settings", "set", "rrf_k=9", "--database-default")
    invoke(db, "settings", "set", "fusion=rrf", "--profile", "p")
    settings = invoke_json(db, "settings", "get", "--profile", "p")
    assert (settings["rrf_k"], settings["fusion"]) == (9, "rrf")
    lines = {
        line.split()[0]: line.split()[1:]
        for line in invoke(db, "settings", "get", "--profile", "p").stdout.splitlines()
    }
    assert lines["rrf_k"] == ["9", "database"]
    assert lines["fusion"] == ["rrf", "profile"]
    assert lines["neighbors"] == ["0", "built", "in"]
    assert invoke_json(db, "settings", "rollback", "--database-default")["rrf_k"] == 60


def test_a_preset_is_named_as_the_origin(db: str) -> None:
    said = invoke(db, "settings", "set", "preset=memory", "weights.vec_asst=0", "--profile", "p").stdout
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in said.splitlines()}
    assert lines["rrf_k"] == "15 profile: memory"
    assert lines["weights.vec_asst"] == "0 profile"
    assert lines["weights.vec_user"] == "1 profile: memory"


def test_people_get_a_history(db: str) -> None:
    assert "no settings of its own" in invoke(db, "settings", "history", "--profile", "p").stdout
    invoke(db, "settings", "set", "rrf_k=20", "--profile", "p")
    assert '{"rrf_k": 20}' in invoke(db, "settings", "history", "--profile", "p").stdout


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["get"], "Give either --profile or --database-default", 2),
        (["get", "--profile", "p", "--database-default"], "Give either --profile or --database-default", 2),
        (["get", "--profile", ""], "--profile is empty", 2),
        (["set", "rrf_k", "--profile", "p"], "write it as name=value", 2),
        (["set", "conn=1", "--profile", "p"], "is not a setting", 2),
        (["set", "rrf_k=0", "--profile", "p"], "rrf_k: 0 is not allowed; it must be a whole number from 1 to 1000", 1),
        (["set", "colour=red", "--profile", "p"], "colour", 1),
        (["set", "weights.nonsense=1", "--profile", "p"], "nonsense", 1),
        (["rollback", "--profile", "p"], "version", 1),
        (["rollback", "--version", "7", "--database-default"], "no version 7", 1),
    ],
)
def test_bad_input(db: str, arguments: list[str], said: str, code: int) -> None:
    assert said in error(db, "settings", *arguments, code=code)
    assert invoke_json(db, "settings", "history", "--profile", "p") == []
