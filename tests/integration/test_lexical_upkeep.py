"""Plain SQL on pgfuse.memories keeps postings and statistics exactly right, whatever the statement."""

from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

import pgfuse
from tests.integration.derived import check_lexical
from tests.integration.statements import Statements

ROWS = [
    ("p", "a", "english", "planning", "The launches are on Friday, and Friday is soon."),
    ("p", "b", "english", None, "Nothing was launched."),
    ("p", "c", "german", "Häuser", "Die Häuser sind groß, das Haus ist klein."),
    ("p", "d", "simple", None, "the the the"),
    ("p", "e", "english", None, "the of and"),
    ("p", "f", "english", "🙂", "!!! ??? \t"),
    ("q", "a", "english", "planning", "Friday again."),
]
COLUMNS = "(profile_id, external_id, language, task_tag, content)"

STATEMENTS = {
    "insert": "INSERT INTO pgfuse.memories (profile_id, content) VALUES ('p', 'new words'), ('r', 'other words here')",
    "insert from itself": "INSERT INTO pgfuse.memories (profile_id, language, content) SELECT 'r', language, content FROM pgfuse.memories",
    "update content": "UPDATE pgfuse.memories SET content = content || ' and more launching'",
    "update to the same": "UPDATE pgfuse.memories SET content = content, language = language",
    "update score": "UPDATE pgfuse.memories SET memory_score = 0.5, tags = '{x}', metadata = '{\"a\": 1}'",
    "update language": "UPDATE pgfuse.memories SET language = 'simple' WHERE profile_id = 'p'",
    "update task_tag": "UPDATE pgfuse.memories SET task_tag = CASE WHEN task_tag IS NULL THEN 'Friday planning' END",
    "update profile": "UPDATE pgfuse.memories SET profile_id = 'r' WHERE external_id <> 'a'",
    "update id": "UPDATE pgfuse.memories SET id = id + 1000000",
    "swap texts": "UPDATE pgfuse.memories m SET content = o.content FROM pgfuse.memories o "
    "WHERE m.profile_id = 'p' AND o.profile_id = 'p' AND (m.external_id, o.external_id) IN (('a', 'b'), ('b', 'a'))",
    "swap profiles": "UPDATE pgfuse.memories SET profile_id = CASE profile_id WHEN 'p' THEN 'q' ELSE 'p' END, external_id = NULL",
    "update everything": "UPDATE pgfuse.memories SET profile_id = 'z' || profile_id, id = id + 7, language = 'french', content = 'les maisons'",
    "delete": "DELETE FROM pgfuse.memories WHERE profile_id = 'p' AND external_id IN ('a', 'c', 'e')",
    "delete all": "DELETE FROM pgfuse.memories",
    "delete nothing": "DELETE FROM pgfuse.memories WHERE false",
    "truncate": "TRUNCATE pgfuse.memories CASCADE",
    "upsert": f"INSERT INTO pgfuse.memories {COLUMNS} VALUES ('p', 'a', 'english', NULL, 'replaced'), ('p', 'x', 'german', NULL, 'neu') "
    "ON CONFLICT (profile_id, external_id) DO UPDATE SET content = excluded.content, task_tag = excluded.task_tag",
    "upsert that does nothing": f"INSERT INTO pgfuse.memories {COLUMNS} VALUES ('p', 'a', 'english', NULL, 'ignored') ON CONFLICT DO NOTHING",
    "merge": f"MERGE INTO pgfuse.memories m USING (VALUES ('p', 'a', 'one'), ('p', 'c', NULL), ('p', 'x', 'two words')) AS n (p, e, c) "
    "ON m.profile_id = n.p AND m.external_id = n.e WHEN MATCHED AND n.c IS NULL THEN DELETE "
    f"WHEN MATCHED THEN UPDATE SET content = n.c WHEN NOT MATCHED THEN INSERT {COLUMNS} VALUES (n.p, n.e, 'simple', NULL, n.c)",
    "several in one": "WITH gone AS (DELETE FROM pgfuse.memories WHERE external_id = 'b' RETURNING *), "
    "changed AS (UPDATE pgfuse.memories SET content = 'changed words' WHERE external_id = 'c' RETURNING *), "
    "moved AS (UPDATE pgfuse.memories SET language = 'simple' WHERE external_id = 'a' RETURNING *), "
    "more AS (INSERT INTO pgfuse.memories (profile_id, content) SELECT 's', content FROM changed RETURNING *) "
    "INSERT INTO pgfuse.memories (profile_id, content) SELECT 'r', content FROM gone",
}


@pytest.fixture(autouse=True)
def _rows(conn: psycopg.Connection) -> None:
    conn.cursor().executemany(f"INSERT INTO pgfuse.memories {COLUMNS} VALUES (%s, %s, %s, %s, %s)", ROWS)


def tidy(conn: psycopg.Connection) -> None:
    """Merge whatever can be merged."""
    conn.execute(
        "SELECT pgfuse.tidy_lexical(profile_id, array_agg(DISTINCT term)) FROM pgfuse.postings GROUP BY profile_id"
    )


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement(conn: psycopg.Connection, name: str) -> None:
    conn.execute(STATEMENTS[name])
    check_lexical(conn)
    tidy(conn)
    check_lexical(conn)


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_twice_and_undone(conn: psycopg.Connection, name: str) -> None:
    with conn.transaction(force_rollback=True):
        conn.execute(STATEMENTS[name])
        with conn.transaction():
            conn.execute("UPDATE pgfuse.memories SET content = content || ' again'")
        check_lexical(conn)
    check_lexical(conn)


def test_every_statement_after_the_other(conn: psycopg.Connection) -> None:
    """One session, so that plans made for one row serve many and the other way round."""
    for statement in 2 * list(STATEMENTS.values()):
        with conn.transaction(force_rollback=True):
            conn.execute(statement)
            conn.execute("UPDATE pgfuse.memories SET content = content || ' again'")
            tidy(conn)
            check_lexical(conn)


def test_random_statements(conn: psycopg.Connection) -> None:
    conn.rollback()
    quick = settings(max_examples=40, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck))
    machine: Any = partial(Statements, conn)
    run_state_machine_as_test(machine, settings=quick)


def test_copy(conn: psycopg.Connection) -> None:
    with conn.cursor().copy(f"COPY pgfuse.memories {COLUMNS} FROM STDIN") as copy:
        for number in range(200):
            copy.write_row(("p", f"copied {number}", "english", None, f"copied words {number % 7}"))
    check_lexical(conn)


def test_a_failed_statement(conn: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.UniqueViolation), conn.transaction():
        conn.execute(
            f"INSERT INTO pgfuse.memories {COLUMNS} VALUES ('p', 'x', 'english', NULL, 'y'), ('p', 'a', 'english', NULL, 'z')"
        )
    check_lexical(conn)


def test_vectors_hold_a_memory_in_its_profile(conn: psycopg.Connection) -> None:
    pgfuse.remember(conn, "p", [{"external_id": "v", "content": "x", "embeddings": {"vec_full": [1.0] * 256}}])
    with pytest.raises(psycopg.errors.ForeignKeyViolation), conn.transaction():
        conn.execute("UPDATE pgfuse.memories SET profile_id = 'other' WHERE external_id = 'v'")
    check_lexical(conn)


def test_words_back_and_forth_while_merging_in_part(conn: psycopg.Connection) -> None:
    """What takes an entry back may be in a large segment, which is not merged with the small ones."""
    insert = "INSERT INTO pgfuse.memories (profile_id, external_id, content) VALUES ('p', %s, 'apple')"
    conn.cursor().executemany(insert, [(f"n{number}",) for number in range(600)])
    for _ in range(2):
        conn.execute("UPDATE pgfuse.memories SET content = 'pear' WHERE content = 'apple'")
        tidy(conn)
        back = "UPDATE pgfuse.memories SET content = 'apple' WHERE profile_id = 'p' AND external_id = %s"
        conn.cursor().executemany(back, [(f"n{number}",) for number in range(600)])
        tidy(conn)
        check_lexical(conn)


def test_single_inserts_do_not_pile_up(conn: psycopg.Connection) -> None:
    insert = "INSERT INTO pgfuse.memories (profile_id, content) VALUES ('p', 'tea')"
    conn.cursor().executemany(insert, [()] * 1500)
    segments, stats = (
        conn.execute(f"SELECT count(*) FROM pgfuse.{table} WHERE profile_id = 'p'").fetchone()
        for table in ("postings", "lexical_stats")
    )
    assert segments is not None
    assert stats is not None
    assert segments[0] < 500
    assert stats[0] < 500
    check_lexical(conn)


def test_the_searcher_sees_what_plain_sql_wrote(conn: psycopg.Connection) -> None:
    def found(query: str) -> list[Any]:
        return [row[0] for row in conn.execute("SELECT external_id FROM pgfuse.recall('p', %s, NULL, 10)", (query,))]

    assert found("launching") == ["a", "b"] or found("launching") == ["b", "a"]
    conn.execute("UPDATE pgfuse.memories SET content = 'quiet' WHERE external_id = 'b'")
    assert found("launching") == ["a"]
    assert found("quiet") == ["b"]
    conn.execute("DELETE FROM pgfuse.memories WHERE external_id = 'a'")
    assert found("launching") == []


def test_a_row_with_very_many_words_is_written_in_time(conn: psycopg.Connection) -> None:
    conn.execute("SET LOCAL statement_timeout = '10s'")
    conn.execute(
        "INSERT INTO pgfuse.memories (profile_id, content) SELECT 'p', string_agg(n::text, ' ') FROM generate_series(1, 17000) n"
    )
    conn.execute("UPDATE pgfuse.memories SET content = content || ' more'")
    check_lexical(conn)


@pytest.mark.parametrize(
    "statement",
    ["UPDATE pgfuse.memories SET memory_score = 0.3", "UPDATE pgfuse.memories SET content = content || ' more'"],
)
def test_many_rows_after_few_in_one_session(conn: psycopg.Connection, statement: str) -> None:
    """A plan made for one row must not be used for thousands."""
    for key in "abcdef":
        conn.execute(f"{statement} WHERE external_id = %s", (key,))
    conn.execute(
        "INSERT INTO pgfuse.memories (profile_id, session_id, position, content, user_text) "
        "SELECT 'p', 's' || n % 100, n, 'word ' || n % 50, 'x' FROM generate_series(1, 4000) n"
    )
    conn.execute("SET LOCAL statement_timeout = '10s'")
    conn.execute(statement)
    check_lexical(conn)


def test_rebuilding_changes_nothing(conn: psycopg.Connection) -> None:
    conn.execute("SELECT pgfuse.rebuild_lexical()")
    check_lexical(conn)


@pytest.mark.parametrize(
    "damage", ["DELETE FROM pgfuse.postings", "DELETE FROM pgfuse.lexical_stats", "UPDATE pgfuse.postings SET docs = 9"]
)
def test_rebuilding_mends(conn: psycopg.Connection, damage: str) -> None:
    conn.execute(damage)
    conn.execute("SELECT pgfuse.rebuild_lexical('p'), pgfuse.rebuild_lexical('q')")
    check_lexical(conn)


@pytest.fixture
def connect(db: str) -> Callable[[], psycopg.Connection]:
    return lambda: psycopg.connect(db)


def test_a_merge_that_is_not_committed_is_left_alone_by_others(connect: Callable[[], psycopg.Connection]) -> None:
    """Two transactions merge at the same time, one of them is undone."""
    insert = "INSERT INTO pgfuse.memories (profile_id, content) VALUES ('p', 'tea time')"
    with connect() as one, connect() as two:
        one.cursor().executemany(insert, [()] * 40)
        one.commit()
        one.execute(insert)
        tidy(one)
        two.execute("SET lock_timeout = '2s'")
        two.cursor().executemany(insert, [()] * 40)
        tidy(two)
        check_lexical(one)
        two.commit()
        check_lexical(one)
        one.rollback()
        check_lexical(one)
        tidy(one)
        one.commit()
        check_lexical(two)
