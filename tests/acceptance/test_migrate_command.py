"""`pgfuse migrate` and `pgfuse serve-db` as a user runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
import pytest
from typer.testing import CliRunner

from pgfuse import migrate
from pgfuse.cli import app

SCRIPT = [sys.executable, "-W", "error", "-c", "from pgfuse.cli import main; main()"]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_migrate_says_what_it_did(empty_db: str) -> None:
    url = ("--database-url", empty_db)
    space = "vectors of mine with 8 dimensions"
    assert run("migrate", *url, "--dim", "8", "--model", "mine") == f"Migrated to schema version 1: {space}.\n"
    assert run("migrate", *url) == f"Already at schema version 1: {space}. Nothing to do.\n"
    assert json.loads(run("migrate", *url, "--downgrade", "base", "--json")) == {
        "before": {"version": 1, "model": "mine", "dim": 8},
        "after": {"version": None, "model": None, "dim": None},
    }
    assert run("migrate", *url, "--downgrade", "base") == "The database holds nothing of pgfuse's.\n"


def test_migrate_prints_sql_that_psql_can_run() -> None:
    printed = run("migrate", "--sql", "--dim", "12")
    assert printed == migrate.offline_sql(dim=12)
    assert printed.startswith("BEGIN;")


def test_options_that_do_not_go_together() -> None:
    result = CliRunner().invoke(app, ["migrate", "--sql", "--downgrade", "base"])
    assert result.exit_code == 2


@pytest.mark.skipif(os.environ.get("PGFUSE_TEST_DOCKER") == "1", reason="the run is about another server")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_db_prints_its_url_and_stops_cleanly(number: signal.Signals) -> None:
    with tempfile.TemporaryDirectory(prefix="pgfuse-") as folder:
        server = subprocess.Popen(
            [*SCRIPT, "serve-db", "--data-dir", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        with psycopg.connect(server.stdout.readline().strip()) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        server.send_signal(number)
        _, said = server.communicate(timeout=30)
        assert server.returncode == 0
        assert said == f"PostgreSQL runs with its data in {folder}. Press Ctrl-C to stop it.\nStopped.\n"
        assert not Path(folder, "cluster", "postmaster.pid").exists()


@pytest.mark.skipif(os.environ.get("PGFUSE_TEST_DOCKER") == "1", reason="the run is about another server")
def test_without_a_url_the_embedded_server_is_used_and_named() -> None:
    with tempfile.TemporaryDirectory(prefix="pgfuse-") as folder:
        environment = {name: value for name, value in os.environ.items() if name != "PGFUSE_DATABASE_URL"}
        environment["PGFUSE_HOME"] = folder
        done = subprocess.run([*SCRIPT, "migrate"], check=False, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, f"Embedded PostgreSQL, data in {folder}\n")
    assert done.stdout == "Migrated to schema version 1: vectors of wordllama with 256 dimensions.\n"
