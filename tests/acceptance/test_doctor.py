"""`pgfuse doctor` finds what is wrong, and its remedies help."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

from pgfuse import doctor
from pgfuse.cli import app

MEMORY = "INSERT INTO pgfuse.memories (profile_id, content, user_text) VALUES ('p', 'red apples', 'what is red?')"
VECTOR = """
INSERT INTO pgfuse.vectors (profile_id, memory_id, space_id, route, embedding)
SELECT profile_id, id, 1, route, array_fill(1, ARRAY[256])::vector
FROM pgfuse.memories, unnest(%s::text[]) AS route
"""


def examine(url: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(app, ["doctor", "--json", "--database-url", url])
    report: dict[str, Any] = json.loads(result.stdout)
    return result.exit_code, report


def errors(report: dict[str, Any]) -> list[tuple[str, str]]:
    """What is wrong; a warning about this server's pgvector is not."""
    return [(found["message"], found["action"]) for found in report["findings"] if found["level"] == "error"]


def execute(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_new_database_is_healthy(db: str) -> None:
    code, report = examine(db)
    assert (code, report["healthy"], errors(report)) == (0, True, [])
    assert report["facts"]["schema"] == 1
    space = report["facts"]["spaces"][0]
    assert (space["model"], space["dim"], space["active"], space["vectors"]) == ("wordllama", 256, True, 0)


def test_people_get_a_table(db: str) -> None:
    result = CliRunner().invoke(app, ["doctor", "--database-url", db])
    assert result.exit_code == 0
    for part in ("PostgreSQL", "pgvector", "wordllama, 256 dimensions, active", "Nothing is wrong."):
        assert part in result.stdout


def test_a_database_without_pgfuse(empty_db: str) -> None:
    code, report = examine(empty_db)
    assert code == 1
    assert ("The database is not migrated.", "Run `pgfuse migrate`.") in errors(report)


@pytest.mark.parametrize(("version", "action"), [(0, "Run `pgfuse migrate`."), (2, "Install the newer pgfuse")])
def test_a_schema_of_another_version(db: str, version: int, action: str) -> None:
    execute(db, f"CREATE OR REPLACE FUNCTION pgfuse.schema_version() RETURNS int LANGUAGE sql RETURN {version}")
    code, report = examine(db)
    assert code == 1
    ((message, remedy),) = errors(report)
    assert message == f"The schema has version {version}, and this package works with 1."
    assert remedy.startswith(action)


@pytest.mark.parametrize("name", ["memories_fts", "vectors_hnsw_1_vec_full", "vectors_hnsw_1_facets"])
def test_a_missing_index_and_the_statement_that_builds_it(db: str, name: str) -> None:
    execute(db, f"DROP INDEX pgfuse.{name}")
    code, report = examine(db)
    ((message, remedy),) = errors(report)
    assert (code, message) == (1, f"The index pgfuse.{name} is missing.")
    execute(db, remedy.removeprefix("Run: "))
    assert examine(db)[0] == 0


def test_an_invalid_index_and_its_remedy(db: str) -> None:
    execute(db, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'pgfuse.memories_fts'::regclass")
    code, report = examine(db)
    ((message, remedy),) = errors(report)
    assert (code, message.split(":")[0]) == (1, "The index pgfuse.memories_fts is invalid")
    execute(db, remedy.split(": ")[1])
    assert examine(db)[0] == 0


def test_memories_without_vectors_are_counted_by_route(db: str) -> None:
    execute(db, MEMORY, MEMORY, "INSERT INTO pgfuse.facets SELECT profile_id, id, 'likes', 'red' FROM pgfuse.memories")
    with psycopg.connect(db) as connection:
        connection.execute(VECTOR, (["vec_full", "facet_likes"],))
    code, report = examine(db)
    counts = report["facts"]["vectors"]
    assert counts == {
        "vec_full": {"wanted": 2, "missing": 0},
        "vec_user": {"wanted": 2, "missing": 2},
        "facet_likes": {"wanted": 2, "missing": 0},
    }
    ((message, remedy),) = errors(report)
    assert (code, message) == (1, "2 of 2 memories have no vec_user vector in the active space.")
    assert "`pgfuse reembed`" in remedy


def test_a_few_texts_without_a_vector_are_only_a_warning(conn: psycopg.Connection) -> None:
    conn.execute("INSERT INTO pgfuse.memories (profile_id, content) SELECT 'p', 'text' FROM generate_series(1, 200)")
    conn.execute(VECTOR, (["vec_full"],))
    conn.execute("DELETE FROM pgfuse.vectors WHERE memory_id = (SELECT min(memory_id) FROM pgfuse.vectors)")
    report = doctor.examine(conn)
    assert report.healthy
    assert [found.message for found in report.findings if found.about == "vectors"] == [
        "1 of 200 memories have no vec_full vector in the active space."
    ]


def test_words_written_with_triggers_off_and_their_remedy(db: str) -> None:
    execute(
        db,
        MEMORY,
        "ALTER TABLE pgfuse.memories DISABLE TRIGGER USER",
        "DELETE FROM pgfuse.memories",
        *[MEMORY] * 2,
        "ALTER TABLE pgfuse.memories ENABLE TRIGGER USER",
    )
    code, report = examine(db)
    assert code == 1
    assert report["facts"]["lexical"] == {"without_postings": 2, "without_memory": 1, "wrong_counts": 1}
    execute(db, errors(report)[-1][1].split("anew: ")[1])
    with psycopg.connect(db) as connection:
        facts = doctor.examine(connection).facts
        found = connection.execute("SELECT count(*) FROM pgfuse.recall('p', 'apples', NULL, 8, '{}')").fetchone()
    assert facts["lexical"] == {"without_postings": 0, "without_memory": 0, "wrong_counts": 0}
    assert found == (2,)


@pytest.mark.parametrize(
    ("version", "level"),
    [("0.7.4", "error"), ("0.8.0", "warning"), ("0.8.3", "warning"), ("0.8.4", None), ("1.0", None)],
)
def test_the_version_of_pgvector(conn: psycopg.Connection, version: str, level: str | None) -> None:
    conn.execute("UPDATE pg_extension SET extversion = %s WHERE extname = 'vector'", (version,))
    found = [finding.level for finding in doctor.examine(conn).findings if finding.about == "pgvector"]
    assert found == ([level] if level else [])


def test_no_active_space(conn: psycopg.Connection) -> None:
    conn.execute("UPDATE pgfuse.spaces SET active = false")
    assert "space" in [finding.about for finding in doctor.examine(conn).findings]
