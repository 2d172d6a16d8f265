"""Many migrators at once, one that is killed, and the ways of people who use Alembic themselves."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from pgfuse import migrate
from pgfuse.errors import InvalidInput

Fingerprint = Callable[[str], list[str]]
MIGRATE = "import sys; from pgfuse import migrate; migrate.upgrade(sys.argv[1])"
PREPARED_BY_A_SUPERUSER = (
    "CREATE SCHEMA extensions",
    "CREATE EXTENSION vector SCHEMA extensions",
    "CREATE EXTENSION btree_gin SCHEMA extensions",
    "CREATE ROLE {role} LOGIN PASSWORD 's'",
    "GRANT USAGE ON SCHEMA extensions TO {role}",
    "GRANT CREATE ON DATABASE {role} TO {role}",
)
ROOT = migrate.resource("migrations").parent
SLOW_DOWN = """
CREATE FUNCTION public.wait() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_sleep(60);
END
$$;
CREATE EVENT TRIGGER wait ON ddl_command_end WHEN TAG IN ('CREATE TRIGGER') EXECUTE FUNCTION public.wait();
"""


def begin_migrating(url: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", MIGRATE, url], stderr=subprocess.PIPE)


def alembic(*arguments: str, folder: Path = ROOT) -> str:
    command = [sys.executable, "-m", "alembic", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def test_eight_migrators_at_once_all_succeed(empty_db: str, db: str, fingerprint: Fingerprint) -> None:
    migrators = [begin_migrating(empty_db) for _ in range(8)]
    said = [migrator.communicate(timeout=60)[1].decode() for migrator in migrators]
    assert [migrator.returncode for migrator in migrators] == [0] * 8, said
    assert fingerprint(empty_db) == fingerprint(db)


def test_a_killed_migration_changes_nothing(empty_db: str, db: str, fingerprint: Fingerprint) -> None:
    with psycopg.connect(empty_db, autocommit=True) as watcher:
        watcher.execute(SLOW_DOWN)
        migrator = begin_migrating(empty_db)
        backends = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
        wait_for(lambda: watcher.execute(backends).fetchone() is not None)
        migrator.kill()
        migrator.communicate()
        watcher.execute("SELECT pg_terminate_backend(pid, 10000) FROM (" + backends + ") AS waiting")
        assert watcher.execute("SELECT to_regnamespace('pgfuse')").fetchone() == (None,)
        watcher.execute("DROP EVENT TRIGGER wait")
    migrate.upgrade(empty_db)
    assert fingerprint(empty_db) == fingerprint(db)


def wait_for(condition: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_alembic_up_and_down_by_hand(empty_db: str, db: str, fingerprint: Fingerprint) -> None:
    alembic("-x", f"url={empty_db}", "upgrade", "head")
    assert fingerprint(empty_db) == fingerprint(db)
    assert alembic("-x", f"url={empty_db}", "heads") == "pgfuse_0001 (pgfuse) (head)\n"
    alembic("-x", f"url={empty_db}", "downgrade", "base")
    assert migrate.status(empty_db) == migrate.Status()


def test_alembic_takes_dimension_and_model(empty_db: str) -> None:
    alembic("-x", f"url={empty_db}", "-x", "dim=1536", "-x", "model=openai:text-embedding-3-small", "upgrade", "head")
    assert migrate.status(empty_db) == migrate.Status(1, "openai:text-embedding-3-small", 1536)


def test_alembic_prints_the_same_sql(empty_db: str) -> None:
    assert alembic("-x", "dim=64", "upgrade", "head", "--sql") == migrate.offline_sql(dim=64)
    with psycopg.connect(empty_db, autocommit=True) as connection:
        connection.execute(migrate.offline_sql(dim=64, model="it's 100%: mine"))
    assert migrate.status(empty_db) == migrate.Status(1, "it's 100%: mine", 64)


@pytest.mark.parametrize(("dim", "model"), [(300, None), (None, "another"), (256, "another")])
def test_another_space_than_the_recorded_one_is_refused(db: str, dim: int | None, model: str | None) -> None:
    with pytest.raises(InvalidInput, match=r"wordllama with 256 dimensions, and .* `pgfuse reembed`"):
        migrate.upgrade(db, dim=dim, model=model)


def test_a_role_without_superuser_and_pgvector_in_another_schema(empty_db: str) -> None:
    role = make_url(empty_db).database or ""
    with psycopg.connect(empty_db, autocommit=True) as connection:
        for statement in PREPARED_BY_A_SUPERUSER:
            connection.execute(sql.SQL(statement).format(role=sql.Identifier(role)))
        try:
            migrate.upgrade(make_url(empty_db).set(username=role, password="s").render_as_string(hide_password=False))
            found = connection.execute("SELECT count(*) FROM pgfuse.recall('p', 'a question', NULL, 8, '{}')")
            assert found.fetchone() == (0,)
        finally:
            connection.execute(sql.SQL("DROP OWNED BY {role}; DROP ROLE {role}").format(role=sql.Identifier(role)))


def test_the_recorded_space_may_be_named_again(db: str) -> None:
    migrate.upgrade(db, dim=256, model="wordllama")
    assert migrate.status(db) == migrate.Status(1, "wordllama", 256)
