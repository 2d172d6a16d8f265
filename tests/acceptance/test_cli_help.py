"""Every command says what it does, and shows an example that its own options understand."""

import re
import shlex

import pytest
import typer
from typer.testing import CliRunner

from pgfuse.cli import app

GROUP = typer.main.get_command(app)
COMMANDS = [(name,) for name in GROUP.commands if name != "settings"]  # type: ignore[attr-defined]
SETTINGS = [("settings", name) for name in ("get", "set", "history", "rollback")]
WITH_EXAMPLE = {"demo", "ingest", "recall", "forget", "export", "reembed", "settings", "bench"}


def help_of(*command: str) -> str:
    result = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    return result.stdout


@pytest.mark.parametrize("command", [*COMMANDS, *SETTINGS], ids=" ".join)
def test_every_command_has_help(command: tuple[str, ...]) -> None:
    said = help_of(*command)
    assert f"Usage: pgfuse {' '.join(command)}" in said or "Usage:" in said
    assert len(said.splitlines()[3].strip(" │")) > 10


@pytest.mark.parametrize("command", [c for c in [*COMMANDS, *SETTINGS] if c[0] in WITH_EXAMPLE], ids=" ".join)
def test_its_example_is_one_of_this_command(command: tuple[str, ...]) -> None:
    found = re.search(r"Example: pgfuse (.*)", help_of(*command))
    assert found, "no example"
    words = shlex.split(found[1].strip())
    assert tuple(words[: len(command)]) == command
    options = {word for word in words if word.startswith("--")}
    assert all(option in help_of(*command) for option in options)
