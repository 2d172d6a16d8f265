"""The README's examples run as printed."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

README = (Path(__file__).parents[2] / "README.md").read_text()
MAKEFILE = (Path(__file__).parents[2] / "Makefile").read_text()
Shell = Callable[[str, str], subprocess.CompletedProcess[str]]
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


def commands(prefix: str) -> list[str]:
    lines = [line.split("#")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith(prefix)]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    program = tmp_path / "bin" / "pgfuse"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom pgfuse.cli import main\nmain()\n")
    program.chmod(0o755)
    path = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]

    def run(command: str, url: str) -> subprocess.CompletedProcess[str]:
        env = os.environ | {
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(part for part in path if part),
            "PGFUSE_DATABASE_URL": url,
        }
        return subprocess.run(
            ["/bin/bash", "-c", command], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=99, check=False
        )

    return run


def succeed(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, f"{done.args}\n{done.stdout}{done.stderr}"
    assert "Traceback" not in done.stderr


def test_examples_in_order(db: str, tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "examples.py").write_text("".join(blocks("python")) + "conn.commit()\n")
    succeed(shell(f"{sys.executable} examples.py", db))
    with psycopg.connect(db) as conn:
        for statement in filter(str.strip, "".join(blocks("sql")).split(";")):
            assert conn.execute(statement.encode()).fetchall()
    for command in commands("pgfuse "):
        if not command.startswith("pgfuse migrate"):
            succeed(shell(command, db))


@pytest.mark.parametrize("command", commands("pgfuse migrate"))
def test_migrate_examples(command: str, empty_db: str, shell: Shell) -> None:
    succeed(shell(command, empty_db))


@pytest.mark.parametrize("command", commands("make "))
def test_make_targets_exist(command: str) -> None:
    assert re.search(rf"^{command.split()[1]}:", MAKEFILE, re.MULTILINE)


def test_every_setting_of_the_readme_is_known(conn: psycopg.Connection[tuple[str]]) -> None:
    known = {row[0] for row in conn.execute("SELECT key FROM pgfuse.setting_rules() WHERE key <> 'preset'")}
    table = README[README.index("| setting | allowed |") : README.index("Presets (`preset=")]
    assert set(re.findall(r"`(\w+)`", table)) == known
