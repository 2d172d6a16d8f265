"""What a user sees when the database is not as it should be: one paragraph, the next step, no traceback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url
from typer.testing import CliRunner

from pgfuse import embedded
from pgfuse.cli import app

EMBEDDED = not os.environ.get("PGFUSE_TEST_DSN") and os.environ.get("PGFUSE_TEST_DOCKER") != "1"


def failure(*arguments: str) -> str:
    """The one line on stderr of a command that fails."""
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def execute(url: str, *statements: str | sql.Composed) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture
def password_url(server_url: str) -> Iterator[str]:
    """A server that asks for a password; the tests' embedded one lets its own user in without."""
    if not EMBEDDED:
        yield server_url
        return
    with tempfile.TemporaryDirectory(prefix="pgfuse-") as folder, embedded.start(folder, port=free_port()) as server:
        assert server.tcp_url
        yield server.tcp_url


@pytest.mark.parametrize("command", ["migrate", "doctor"])
def test_no_database_listens(command: str) -> None:
    said = failure(command, "--database-url", f"postgresql://postgres@127.0.0.1:{free_port()}/postgres")
    assert "Connection refused" in said
    assert "Start the server, or correct the host and port" in said


def test_no_such_host() -> None:
    said = failure("migrate", "--database-url", "postgresql://postgres@no-such-host.invalid/postgres")
    assert "correct the host and port" in said


def test_a_wrong_password(password_url: str) -> None:
    url = make_url(password_url).set(password="wrong").render_as_string(hide_password=False)
    said = failure("migrate", "--database-url", url)
    assert "password authentication failed" in said
    assert "Check the user and password" in said
    assert "wrong" not in said


def test_a_database_that_does_not_exist(server_url: str) -> None:
    url = make_url(server_url).set(database="no_such_database").render_as_string(hide_password=False)
    assert "Create that database or role first" in failure("migrate", "--database-url", url)


def test_a_url_that_is_none() -> None:
    assert "as in postgresql://user:password@host:5432/name" in failure("migrate", "--database-url", "nonsense")


def hide_extensions(url: str, folder: str) -> None:
    """Let the database look for extensions elsewhere, which PostgreSQL can since version 18."""
    with psycopg.connect(url, autocommit=True) as connection:
        if connection.info.server_version < 180000:
            pytest.skip("this server looks for extensions in one place only")
        change = sql.SQL("ALTER DATABASE {} SET extension_control_path = {}")
        connection.execute(change.format(sql.Identifier(connection.info.dbname), sql.Literal(folder)))


def test_a_server_without_pgvector(empty_db: str) -> None:
    hide_extensions(empty_db, "/nowhere")
    said = failure("migrate", "--database-url", empty_db)
    assert 'extension "vector" is not available' in said
    assert "Install pgvector 0.8.0 or later on the server" in said


@pytest.mark.skipif(not EMBEDDED, reason="the server must see this machine's files")
def test_a_server_with_an_old_pgvector(empty_db: str) -> None:
    with tempfile.TemporaryDirectory(prefix="pgfuse-") as folder:
        Path(folder).chmod(0o755)
        Path(folder, "extension").mkdir()
        Path(folder, "extension", "vector.control").write_text("default_version = '0.7.4'\ncomment = 'old'\n")
        hide_extensions(empty_db, folder)
        said = failure("migrate", "--database-url", empty_db)
    assert "pgvector 0.7.4 is too old" in said
    assert "Install a newer one on the server" in said


def test_a_role_that_may_not_create(empty_db: str) -> None:
    role = make_url(empty_db).database or ""
    execute(empty_db, sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'secret'").format(sql.Identifier(role)))
    try:
        url = make_url(empty_db).set(username=role, password="secret").render_as_string(hide_password=False)
        said = failure("migrate", "--database-url", url)
    finally:
        execute(empty_db, sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))
    assert "permission denied for database" in said
    assert "Use a role that may create schemas" in said


def test_a_schema_of_somebody_elses(empty_db: str) -> None:
    execute(empty_db, "CREATE SCHEMA pgfuse", "CREATE TABLE pgfuse.theirs (id int)")
    said = failure("migrate", "--database-url", empty_db)
    assert "objects that are not from this migration" in said
    assert "Rename or drop that schema" in said
    with psycopg.connect(empty_db) as connection:
        tables = connection.execute("SELECT relname FROM pg_class WHERE relnamespace = 'pgfuse'::regnamespace")
        assert tables.fetchall() == [("theirs",)]


def test_a_dimension_that_cannot_be_indexed(empty_db: str) -> None:
    assert "can index 1 to 4000" in failure("migrate", "--database-url", empty_db, "--dim", "4001")


def test_another_model_than_the_recorded_one(db: str) -> None:
    assert "`pgfuse reembed`" in failure("migrate", "--database-url", db, "--model", "another")


def test_a_downgrade_below_a_view_of_the_users(db: str) -> None:
    execute(db, "CREATE VIEW public.notes AS SELECT content FROM pgfuse.memories")
    said = failure("migrate", "--database-url", db, "--downgrade", "base")
    assert "Drop the objects of yours" in said


def test_a_revision_that_does_not_exist(empty_db: str) -> None:
    said = failure("migrate", "--database-url", empty_db, "--revision", "nonsense")
    assert "The revision nonsense cannot be used" in said


def test_a_database_that_a_newer_package_migrated(db: str) -> None:
    execute(db, "UPDATE pgfuse.alembic_version SET version_num = 'pgfuse_9999'")
    said = failure("migrate", "--database-url", db)
    assert "pgfuse_9999" in said
    assert "Install the newer pgfuse" in said


def test_the_script_itself_shows_no_traceback() -> None:
    command = [sys.executable, "-W", "error", "-c", "from pgfuse.cli import main; main()", "doctor", "--database-url"]
    url = f"postgresql://postgres@127.0.0.1:{free_port()}/postgres"
    done = subprocess.run([*command, url], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: ")
    assert "Traceback" not in done.stderr
