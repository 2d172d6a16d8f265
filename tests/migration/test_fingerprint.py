"""Every way to make the database gives the same one, and released files stay as they are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import psycopg
import pytest
from alembic.script import ScriptDirectory

from pgfuse import migrate, revisions

Fingerprint = Callable[[str], list[str]]
SQL = migrate.resource("sql")
MIGRATIONS = migrate.resource("migrations")


@pytest.fixture
def canonical(empty_db: str) -> str:
    """A database made from `sql/` alone, in one transaction."""
    with psycopg.connect(empty_db) as connection:
        for name in revisions.order(SQL):
            connection.execute((SQL / name).read_text())
        connection.execute("SELECT pgfuse.create_space('wordllama', 256)")
    return empty_db


def test_sql_and_the_migrations_make_the_same_database(canonical: str, db: str, fingerprint: Fingerprint) -> None:
    assert fingerprint(canonical) == fingerprint(db)


def test_the_fingerprint_sees_a_difference(db: str, fingerprint: Fingerprint) -> None:
    before = fingerprint(db)
    with psycopg.connect(db) as connection:
        connection.execute("ALTER TABLE pgfuse.memories ALTER COLUMN kind SET DEFAULT 'semantic'")
        connection.execute("COMMENT ON FUNCTION pgfuse.schema_version() IS 'changed'")
    assert len(set(fingerprint(db)) - set(before)) == 2


def test_every_revision_up_down_and_up_again(empty_db: str, db: str, fingerprint: Fingerprint) -> None:
    script = ScriptDirectory(str(MIGRATIONS))
    names = [revision.revision for revision in script.walk_revisions()][::-1]
    for name in names:
        migrate.upgrade(empty_db, revision=name)
        before = fingerprint(empty_db)
        migrate.downgrade(empty_db, revision=f"{name}@-1")
        migrate.upgrade(empty_db, revision=name)
        assert fingerprint(empty_db) == before
    assert fingerprint(empty_db) == fingerprint(db)


def test_downgrade_to_base_and_up_again(db: str, fingerprint: Fingerprint) -> None:
    before = fingerprint(db)
    migrate.downgrade(db)
    migrate.upgrade(db)
    assert fingerprint(db) == before


def test_offline_sql_makes_the_same_database(empty_db: str, db: str, fingerprint: Fingerprint) -> None:
    with psycopg.connect(empty_db, autocommit=True) as connection:
        connection.execute(migrate.offline_sql())
    assert fingerprint(empty_db) == fingerprint(db)
    assert migrate.status(empty_db) == migrate.status(db)
    migrate.upgrade(empty_db)


def test_frozen_files_match_their_checksums() -> None:
    versions = MIGRATIONS / "versions"
    listed = (versions / "SHA256SUMS").read_text().splitlines()
    frozen = [path for path in versions.glob("*/**/*") if path.is_file() and path.suffix != ".pyc"]
    found = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(versions)}" for path in frozen]
    assert sorted(listed) == sorted(found)


def test_every_sql_file_is_run_and_holds_no_tab() -> None:
    files = {path.relative_to(SQL).as_posix(): path for path in SQL.rglob("*.sql")}
    assert sorted(files) == sorted(revisions.order(SQL))
    assert [name for name, path in files.items() if "\t" in path.read_text()] == []  # offline output would change them


def test_downgrade_leaves_what_is_not_ours(db: str) -> None:
    with psycopg.connect(db) as connection:
        connection.execute("CREATE TABLE pgfuse.mine AS SELECT 1 AS one")
        connection.execute("CREATE TABLE public.theirs AS SELECT 2 AS two")
    migrate.downgrade(db)
    with psycopg.connect(db) as connection:
        left = connection.execute(
            "SELECT array_agg(relname::text ORDER BY relname) FROM pg_class"
            " WHERE relnamespace IN ('pgfuse'::regnamespace, 'public'::regnamespace) AND relkind = 'r'"
        ).fetchone()
        extensions = connection.execute("SELECT count(*) FROM pg_extension WHERE extname IN ('vector', 'btree_gin')")
        assert left == (["alembic_version", "mine", "theirs"],)
        assert extensions.fetchone() == (2,)
        functions = "SELECT count(*) FROM pg_proc WHERE pronamespace = 'pgfuse'::regnamespace"
        assert connection.execute(functions).fetchone() == (0,)


def test_downgrade_stops_at_a_view_of_the_users(db: str, fingerprint: Fingerprint) -> None:
    with psycopg.connect(db) as connection:
        connection.execute("CREATE VIEW public.notes AS SELECT content FROM pgfuse.memories")
    before = fingerprint(db)
    with pytest.raises(Exception, match="other objects depend on it"):
        migrate.downgrade(db)
    assert fingerprint(db) == before


def test_the_version_is_in_our_schema_and_the_search_path_is_as_before(db: str) -> None:
    with psycopg.connect(db) as connection:
        rows = connection.execute("SELECT version_num FROM pgfuse.alembic_version").fetchall()
        assert rows == [("pgfuse_0001",)]
        assert connection.execute("SHOW search_path").fetchone() == ('"$user", public',)
