"""The caller owns its connection: transactions, settings, row factories and errors are as they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row, namedtuple_row, scalar_row, tuple_row

import pgfuse
from tests.oracle.corpus import Doc, insert

pytest_plugins = ("tests.sql.fixtures",)
Connection = psycopg.Connection[Any]
QUERY = [1, 0, 0]
REFUSED: dict[str, Callable[[Connection], object]] = {
    "dimension": lambda conn: pgfuse.recall(conn, "x", "p", embedding=[1]),
    "too many dimensions": lambda conn: pgfuse.recall(conn, "x", "p", embedding=[1] * 20000),
    "zeros": lambda conn: pgfuse.recall(conn, "x", "p", embedding=[0, 0, 0]),
    "setting": lambda conn: pgfuse.recall(conn, "x", "p", embedding=QUERY, settings={"rrf_k": 0}),
    "filter": lambda conn: pgfuse.recall(conn, "x", "p", embedding=QUERY, since="soon"),
    "stored setting": lambda conn: pgfuse.set_settings(conn, "p", rrf_k=0),
    "rollback": lambda conn: pgfuse.rollback_settings(conn, "p", 99),
    "why_not": lambda conn: pgfuse.why_not(conn, "x", "p", 1, embedding=[1]),
    "remember": lambda conn: pgfuse.remember(conn, "p", [{"content": ""}]),
}


@pytest.fixture
def filled(small_copy: str) -> str:
    with psycopg.connect(small_copy) as conn:
        insert(conn, [Doc(id=1, content="apple", vectors={"vec_full": QUERY})])
    return small_copy


def status(conn: Connection) -> TransactionStatus:
    return conn.info.transaction_status


@pytest.mark.parametrize("call", REFUSED)
@pytest.mark.parametrize("known", [False, True])
def test_a_refused_call_leaves_the_transaction_usable(call: str, known: bool, small: Connection) -> None:
    if known:
        pgfuse.recall(small, "x", "p", embedding=QUERY)
    insert(small, [Doc(id=1, content="apple")])
    with pytest.raises(pgfuse.PgfuseError):
        REFUSED[call](small)
    assert status(small) == TransactionStatus.INTRANS
    assert small.execute("SELECT count(*) FROM pgfuse.memories").fetchone() == (1,)


@pytest.mark.parametrize("call", REFUSED)
def test_with_autocommit_no_transaction_is_left_open(call: str, small_url: str) -> None:
    with psycopg.connect(small_url, autocommit=True) as conn:
        with pytest.raises(pgfuse.PgfuseError):
            REFUSED[call](conn)
        assert status(conn) == TransactionStatus.IDLE
        pgfuse.recall(conn, "x", "p", embedding=QUERY)
        assert status(conn) == TransactionStatus.IDLE


def test_inside_a_savepoint_of_the_callers(small: Connection) -> None:
    small.execute("SELECT 1")
    with small.transaction():
        insert(small, [Doc(id=1, content="apple")])
        with small.transaction():
            insert(small, [Doc(id=2, content="apple")])
            with pytest.raises(pgfuse.InvalidSettings):
                pgfuse.recall(small, "apple", "p", embedding=QUERY, settings={"nope": 1})
            assert len(pgfuse.recall(small, "apple", "p", embedding=QUERY)) == 2
        assert len(pgfuse.recall(small, "apple", "p", embedding=QUERY)) == 2


def test_nothing_is_committed_behind_the_callers_back(filled: str) -> None:
    with psycopg.connect(filled) as conn, psycopg.connect(filled, autocommit=True) as other:
        insert(conn, [Doc(id=2, content="apple")])
        pgfuse.recall(conn, "apple", "p", embedding=QUERY)
        pgfuse.set_settings(conn, "p", rrf_k=7)
        pgfuse.why_not(conn, "apple", "p", 1, embedding=QUERY)
        with pytest.raises(pgfuse.PgfuseError):
            pgfuse.recall(conn, "apple", "p", embedding=[1])
        assert len(pgfuse.recall(other, "apple", "p", embedding=QUERY)) == 1
        assert pgfuse.get_settings(other, "p")["rrf_k"] == 60
        conn.rollback()
        assert len(pgfuse.recall(conn, "apple", "p", embedding=QUERY)) == 1


def test_an_aborted_transaction_is_told_as_such(small: Connection) -> None:
    with pytest.raises(psycopg.Error):
        small.execute("SELECT 1 / 0")
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        pgfuse.recall(small, "apple", "p", embedding=QUERY)
    small.rollback()
    assert len(pgfuse.recall(small, "apple", "p", embedding=QUERY)) == 0


def test_a_cancelled_recall_leaves_the_transaction_usable(small: Connection) -> None:
    pgfuse.recall(small, "apple", "p", embedding=QUERY)
    insert(small, [Doc(id=n, content="apple " * 50) for n in range(200)])
    small.execute("SET LOCAL statement_timeout = '1ms'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        pgfuse.recall(small, "apple pear " * 9000, "p", embedding=QUERY)
    small.execute("SET LOCAL statement_timeout = 0")
    assert small.execute("SELECT count(*) FROM pgfuse.memories").fetchone() == (200,)


def test_a_read_only_transaction_will_do(filled: str) -> None:
    with psycopg.connect(filled) as conn:
        conn.read_only = True
        assert len(pgfuse.recall(conn, "apple", "p", embedding=QUERY, preset="memory")) == 1
        assert pgfuse.why_not(conn, "apple", "p", 1, embedding=QUERY)["found"]
        assert pgfuse.get_settings(conn, "p")


@pytest.mark.parametrize("level", list(psycopg.IsolationLevel))
def test_any_isolation_level_will_do(level: psycopg.IsolationLevel, filled: str) -> None:
    with psycopg.connect(filled) as conn:
        conn.isolation_level = level
        assert len(pgfuse.recall(conn, "apple", "p", embedding=QUERY)) == 1


SHOWN = "SELECT name, setting FROM pg_settings WHERE name <> 'transaction_isolation' ORDER BY name"


@pytest.mark.parametrize("autocommit", [True, False])
def test_session_settings_are_what_they_were(autocommit: bool, small_url: str) -> None:
    with psycopg.connect(small_url, autocommit=autocommit) as conn:
        pgfuse.recall(conn, "apple", "p", embedding=QUERY)
        for name, value in {
            "hnsw.ef_search": "33",
            "hnsw.iterative_scan": "strict_order",
            "enable_sort": "off",
            "search_path": "pg_catalog, public",
        }.items():
            conn.execute("SELECT set_config(%s, %s, false)", [name, value])
        before = conn.execute(SHOWN).fetchall()
        pgfuse.recall(conn, "apple", "p", embedding=QUERY, preset="memory")
        assert conn.execute(SHOWN).fetchall() == before
        with pytest.raises(pgfuse.PgfuseError):
            pgfuse.recall(conn, "apple", "p", embedding=[1])
        assert conn.execute(SHOWN).fetchall() == before


@pytest.mark.parametrize("factory", [tuple_row, dict_row, namedtuple_row, scalar_row])
def test_any_row_factory_and_cursor_of_the_callers(factory: Any, filled: str) -> None:
    for cursor in (psycopg.Cursor, psycopg.ClientCursor, psycopg.RawCursor):
        with psycopg.connect(filled, row_factory=factory, cursor_factory=cursor) as conn:
            assert [hit.content for hit in pgfuse.recall(conn, "apple", "p", embedding=QUERY)] == ["apple"]
            assert pgfuse.get_settings(conn, "p")["rrf_k"] == 60
            assert conn.row_factory is factory


def test_a_search_path_of_the_callers(filled: str) -> None:
    with psycopg.connect(filled) as conn:
        conn.execute("SET search_path = ''")
        assert len(pgfuse.recall(conn, "apple", "p", embedding=QUERY)) == 1
        assert len(pgfuse.recall(conn, "apple", "p")) == 1


def test_a_dead_connection_is_told_as_such(filled: str) -> None:
    with psycopg.connect(filled, autocommit=True) as conn, psycopg.connect(filled, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [conn.info.backend_pid])
        with pytest.raises(psycopg.OperationalError, match=r"terminat|closed|lost"):
            pgfuse.recall(conn, "apple", "p", embedding=QUERY)
        with pytest.raises(psycopg.OperationalError, match="closed"):
            pgfuse.recall(conn, "apple", "p", embedding=QUERY)


def test_a_connection_that_dies_inside_a_transaction(filled: str) -> None:
    with psycopg.connect(filled, autocommit=True) as other:
        conn = psycopg.connect(filled)
        conn.execute("SELECT 1")
        other.execute("SELECT pg_terminate_backend(%s)", [conn.info.backend_pid])
        with pytest.raises(psycopg.OperationalError, match=r"terminat|closed|lost"):
            pgfuse.recall(conn, "apple", "p", embedding=QUERY)
        conn.close()


@pytest.mark.parametrize("conn", [None, "postgresql://", 5, object()])
def test_what_is_no_connection_is_refused(conn: Any) -> None:
    with pytest.raises(pgfuse.InvalidInput, match="conn is a"):
        pgfuse.recall(conn, "apple", "p", embedding=QUERY)


@pytest.mark.parametrize("threshold", [None, 0])
def test_behind_a_pooler_each_transaction_may_be_another_connection(threshold: int | None, filled: str) -> None:
    connections = [psycopg.connect(filled, prepare_threshold=threshold) for _ in range(3)]
    for number in range(9):
        conn = connections[number % 3]
        assert len(pgfuse.recall(conn, "apple", "p", embedding=QUERY)) == 1
        conn.execute("DISCARD PLANS")
        conn.commit()
    for conn in connections:
        conn.close()
