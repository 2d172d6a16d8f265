"""Eight writers at once: no deadlock, no lost or double memory, and everything derived is right at the end."""

import random
import threading
from collections.abc import Callable, Sequence
from typing import Any

import psycopg
import pytest

import pgfuse
from tests.integration.derived import check_all, check_lexical, check_next_user
from tests.integration.fake_embedder import FakeEmbedder
from tests.integration.writers import Work, at_once

WRITERS = 8


def memory(key: object, source: random.Random, sessions: int = 4) -> dict[str, Any]:
    words = " ".join(source.choices(["tea", "cat", "rain", "launch", "friday", "zero"], k=4))
    place = {"session_id": f"s{source.randrange(sessions)}", "position": source.randrange(20)}
    return place | {"external_id": str(key), "content": f"{words} {key}", "user_text": source.choice([None, words])}


def keys(url: str) -> list[tuple[str, str]]:
    with psycopg.connect(url) as conn:
        return conn.execute("SELECT profile_id, external_id FROM pgfuse.memories ORDER BY 1, 2").fetchall()


def check(url: str) -> None:
    with psycopg.connect(url) as conn:
        check_all(conn)


def own_keys(writer: int) -> Callable[[int], list[str]]:
    return lambda time: [f"{writer}-{time}-{number}" for number in range(20)]


def some_keys(writer: int) -> Callable[[int], list[int]]:
    return lambda time: random.Random(writer * 99 + time).sample(range(40), 15)


def remembering(profile: str, of: Callable[[int], Sequence[object]], seed: int) -> Work:
    def work(conn: psycopg.Connection[Any], time: int) -> None:
        source = random.Random(f"{seed} {time}")
        chosen = list(of(time))
        source.shuffle(chosen)
        pgfuse.remember(conn, profile, [memory(key, source) for key in chosen], embedder=FakeEmbedder())

    return work


def test_on_one_profile_with_memories_of_their_own(db: str) -> None:
    works = [remembering("p", own_keys(writer), writer) for writer in range(WRITERS)]
    assert at_once(db, works, times=4) == []
    assert keys(db) == sorted(("p", f"{w}-{t}-{n}") for w in range(WRITERS) for t in range(4) for n in range(20))
    check(db)


def test_on_one_profile_with_the_same_memories(db: str) -> None:
    works = [remembering("p", lambda _: range(30), writer) for writer in range(WRITERS)]
    assert at_once(db, works, times=5) == []
    assert keys(db) == sorted(("p", str(n)) for n in range(30))
    check(db)


def test_on_different_profiles(db: str) -> None:
    works = [remembering(f"p{writer}", lambda _: range(30), writer) for writer in range(WRITERS)]
    assert at_once(db, works, times=3) == []
    assert len(keys(db)) == WRITERS * 30
    check(db)


def test_remembering_and_forgetting_at_once(db: str) -> None:
    def forgetting(conn: psycopg.Connection[Any], time: int) -> None:
        source = random.Random(time)
        chosen = [str(n) for n in source.sample(range(40), 10)]
        pgfuse.forget(conn, "p", external_ids=chosen, session_ids=["s0"] if time % 2 else None)

    works = [remembering("p", some_keys(w), w) for w in range(5)]
    assert at_once(db, [*works, forgetting, forgetting, forgetting], times=6) == []
    check(db)


def test_calls_of_several_batches_in_opposite_orders(db: str) -> None:
    """More than a batch holds, the same memories, and each memory moves between sessions."""

    def work(order: int) -> Work:
        def write(conn: psycopg.Connection[Any], time: int) -> None:
            source = random.Random(f"{order} {time}")
            memories = [memory(n, source, sessions=3) | {"embeddings": {}} for n in range(1050)]
            pgfuse.remember(conn, "p", memories[::order], embedder=lambda texts: [[1.0] * 256] * len(texts))

        return write

    assert at_once(db, [work(1), work(-1)]) == []
    assert len(keys(db)) == 1050
    with psycopg.connect(db) as conn:
        check_lexical(conn)


def test_memories_that_move_between_sessions_in_opposite_directions(db: str) -> None:
    def work(here: str, there: str, first: int) -> Work:
        def write(conn: psycopg.Connection[Any], time: int) -> None:
            session = (here, there)[time % 2]
            turns = [
                {"external_id": f"{first + n}", "session_id": session, "position": n, "user_text": "hi"}
                for n in range(20)
            ]
            pgfuse.remember(conn, "p", turns, embedder=FakeEmbedder())

        return write

    assert (
        at_once(db, [work("A", "B", 0), work("B", "A", 100), work("A", "C", 200), work("C", "B", 300)], times=6) == []
    )
    check(db)


@pytest.mark.parametrize("level", [psycopg.IsolationLevel.REPEATABLE_READ, psycopg.IsolationLevel.SERIALIZABLE])
def test_stricter_isolation_fails_cleanly_or_is_right(db: str, level: psycopg.IsolationLevel) -> None:
    def stricter(conn: psycopg.Connection[Any], time: int) -> None:
        conn.execute(f"SET TRANSACTION ISOLATION LEVEL {level.name.replace('_', ' ')}")
        remembering("p", lambda _: range(20), time)(conn, time)

    works = [stricter] * 4 + [remembering("p", lambda _: range(20), w) for w in range(4)]
    errors = at_once(db, works, times=4)
    assert {type(error) for error in errors} <= {psycopg.errors.SerializationFailure}
    assert len(keys(db)) == 20
    check(db)


def test_plain_sql_beside_remember(db: str) -> None:
    """Writers of plain SQL may meet a deadlock, as any may; nothing is wrong afterwards."""

    def plain(conn: psycopg.Connection[Any], time: int) -> None:
        conn.execute(
            "UPDATE pgfuse.memories SET position = position + 1, content = content || ' x' WHERE external_id::int %% 5 = %s",
            (time,),
        )
        conn.execute("DELETE FROM pgfuse.memories WHERE external_id::int %% 7 = %s", (time,))

    def own(conn: psycopg.Connection[Any], time: int) -> None:
        conn.execute(
            "INSERT INTO pgfuse.memories (profile_id, session_id, position, content) VALUES ('p', 's1', %s, 'plain')",
            (time,),
        )

    works = [remembering("p", lambda _: range(40), w) for w in range(4)]
    errors = at_once(db, [*works, plain, plain, own, own], times=4)
    assert {type(error) for error in errors} <= {psycopg.errors.DeadlockDetected}
    with psycopg.connect(db) as conn:
        check_lexical(conn)


@pytest.mark.parametrize("same_words", [True, False])
def test_an_open_transaction_holds_nobody_up(db: str, same_words: bool) -> None:
    """Statistics are appended, never waited for: only writers of the same session or external id take turns."""
    with psycopg.connect(db) as slow, psycopg.connect(db, options="-c lock_timeout=2s", autocommit=True) as quick:
        for n in range(60):
            pgfuse.remember(
                slow,
                "p",
                [{"content": f"tea {n}", "session_id": "slow", "position": n, "user_text": "hi"}],
                embedder=FakeEmbedder(),
            )
        slow.execute("SELECT pgfuse.tidy_lexical('p', array_agg(DISTINCT term)) FROM pgfuse.postings")
        for n in range(60):
            text = f"tea {n}" if same_words else f"word {n}"
            pgfuse.remember(
                quick,
                "p",
                [{"content": text, "session_id": f"quick {n}", "position": 0, "user_text": "hi"}],
                embedder=FakeEmbedder(),
            )
        pgfuse.forget(quick, "p", session_ids=["quick 3"])
        quick.execute("UPDATE pgfuse.memories SET content = 'tea and more' WHERE session_id = 'quick 4'")
        check_lexical(quick)
        slow.commit()
        check_lexical(quick)
        check_next_user(quick)


def test_one_external_id_from_two_open_transactions(db: str) -> None:
    """The second waits for the first, then replaces what it wrote, whichever text was embedded before."""
    with psycopg.connect(db) as first, psycopg.connect(db) as second:
        one = pgfuse.remember(
            first, "p", [{"external_id": "a", "content": "one", "facets": {"x": "old"}}], embedder=FakeEmbedder()
        )
        two: list[int] = []

        def replace() -> None:
            two.extend(pgfuse.remember(second, "p", [{"external_id": "a", "content": "two"}], embedder=FakeEmbedder()))
            second.commit()

        thread = threading.Thread(target=replace)
        thread.start()
        thread.join(0.3)
        assert thread.is_alive()
        first.commit()
        thread.join()
        assert one == two
        assert first.execute("SELECT content FROM pgfuse.memories").fetchall() == [("two",)]
        check_all(first)


def test_a_memory_forgotten_while_it_is_embedded(db: str) -> None:
    """Compared as known, gone when it is stored: it comes back whole, with a new id."""
    with psycopg.connect(db) as writer, psycopg.connect(db, autocommit=True) as other:
        pgfuse.remember(
            other, "p", [{"external_id": "a", "content": "one", "user_text": "hi"}], embedder=FakeEmbedder()
        )
        embedder = FakeEmbedder()

        def meanwhile(texts: list[str]) -> Any:
            pgfuse.forget(other, "p", external_ids=["a"])
            return embedder(texts)

        pgfuse.remember(writer, "p", [{"external_id": "a", "content": "two", "user_text": "hi"}], embedder=meanwhile)
        writer.commit()
        check_all(other)
        assert keys(db) == [("p", "a")]
