"""Reembed builds another space beside the one in use, whatever happens meanwhile."""

import itertools
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

import pgfuse
from pgfuse import EmbeddingMismatch, InvalidInput, PgfuseError, doctor
from pgfuse.errors import DatabaseUnavailable
from pgfuse.reembed import Reembedded, drop_space, reembed
from tests.integration.derived import check_all
from tests.integration.fake_embedder import FakeEmbedder, vector_of

DIM = 32


class Toy:
    """Another model."""

    name = "toy"
    dim = DIM

    def __init__(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        self.meanwhile = meanwhile
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        self.texts += texts
        self.meanwhile()
        return np.array([vector_of(text, DIM) for text in texts])


def once(action: Callable[[], object]) -> Callable[[], None]:
    left = [action]

    def act() -> None:
        if left:
            left.pop()()

    return act


def memories(count: int) -> list[dict[str, Any]]:
    return [
        {
            "external_id": f"m{n}",
            "content": f"memory {n}",
            "session_id": f"s{n // 5}",
            "position": n % 5,
            "user_text": f"question {n}" if n % 2 else None,
            "assistant_text": "blank \t" if n % 3 else " ",
            "facets": {"likes": f"thing {n}"} if n % 4 == 0 else {},
        }
        for n in range(count)
    ]


@pytest.fixture
def filled(db: str) -> str:
    with psycopg.connect(db) as connection:
        pgfuse.remember(connection, "p", memories(30), embedder=FakeEmbedder())
        pgfuse.remember(connection, "q", memories(7), embedder=FakeEmbedder())
    return db


def query(url: str, statement: str) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def spaces(url: str) -> list[tuple[str, int, bool]]:
    return query(url, "SELECT model, dim, active FROM pgfuse.spaces ORDER BY space_id")


def check_whole(url: str) -> None:
    """Every derived thing is right in the space in use, and doctor agrees."""
    with psycopg.connect(url) as connection:
        check_all(connection)
        assert [finding for finding in doctor.examine(connection).findings if finding.about != "pgvector"] == []


def test_another_space_is_built_and_used(filled: str) -> None:
    toy = Toy()
    done = reembed(filled, toy)
    assert spaces(filled) == [("wordllama", 256, False), ("toy", DIM, True)]
    assert (done.space_id, done.previous_space_id, done.memories) == (2, 1, 37)
    assert done.vectors == len(toy.texts)
    check_whole(filled)
    with psycopg.connect(filled) as connection:
        hit = pgfuse.recall(connection, "memory 3", "p", embedder=toy)[0]
    assert hit.content == "memory 3"


def test_the_old_space_stays_until_it_is_dropped(filled: str) -> None:
    before = query(filled, "SELECT count(*) FROM pgfuse.vectors WHERE space_id = 1")
    reembed(filled, Toy())
    assert query(filled, "SELECT count(*) FROM pgfuse.vectors WHERE space_id = 1") == before
    assert drop_space(filled, 1) == before[0][0]
    assert spaces(filled) == [("toy", DIM, True)]
    check_whole(filled)


def test_the_way_back(filled: str) -> None:
    class Old(Toy):
        name = "wordllama"
        dim = 256

    reembed(filled, Toy())
    old = Old()
    assert reembed(filled, old).space_id == 1
    assert old.texts == []
    check_whole(filled)


@pytest.mark.parametrize("space", [1, 99])
def test_a_space_that_cannot_be_dropped(filled: str, space: int) -> None:
    with pytest.raises(InvalidInput, match=f"Space {space} does not exist or is the one in use"):
        drop_space(filled, space)


def test_writes_meanwhile_are_caught_up_with(filled: str) -> None:
    def write() -> None:
        with psycopg.connect(filled) as connection:
            changed = [memory | {"content": "changed meanwhile"} for memory in memories(2)]
            pgfuse.remember(connection, "p", [*changed, {"content": "new meanwhile"}], embedder=FakeEmbedder())
            pgfuse.forget(connection, "p", external_ids=["m5", "m6"])

    reembed(filled, Toy(once(write)))
    check_whole(filled)


def test_a_memory_that_a_writer_holds_is_waited_for(filled: str) -> None:
    """A row changed in an open transaction; its session is locked too."""
    writer = psycopg.connect(filled)
    changed = memories(1)[0] | {"content": "changed in the end"}
    release = threading.Timer(1.5, writer.commit)

    def hold() -> None:
        pgfuse.remember(writer, "p", [changed], embedder=FakeEmbedder())
        release.start()

    waits: list[str] = []
    reembed(filled, Toy(once(hold)), progress=lambda stage, _done, _total: waits.append(stage))
    release.join()
    writer.close()
    check_whole(filled)
    assert query(filled, "SELECT content FROM pgfuse.memories WHERE profile_id = 'p' AND external_id = 'm0'") == [
        ("changed in the end",)
    ]


def in_use(connection: psycopg.Connection) -> Any:
    row = connection.execute("SELECT model FROM pgfuse.spaces WHERE active").fetchone()
    return Toy() if row == ("toy",) else FakeEmbedder()


def write_and_read(connection: psycopg.Connection, number: int, turn: int) -> None:
    memory = {"external_id": f"w{number}-{turn % 20}", "content": f"turn {turn}", "user_text": f"u {turn}"}
    place = {"session_id": f"s{turn % 3}", "position": 100 + turn % 20}
    # the switch may fall between the choice of the embedder and the call
    with suppress(EmbeddingMismatch):
        pgfuse.remember(connection, "p", [memory | place], embedder=in_use(connection))
    assert pgfuse.recall(connection, "memory", "p", settings={"weights": {"vec_full": 0}})


def test_writers_and_readers_go_on_all_the_time(filled: str) -> None:
    stop, failures = threading.Event(), list[str]()

    def use(number: int) -> None:
        try:
            with psycopg.connect(filled, autocommit=True) as connection:
                for turn in itertools.takewhile(lambda _: not stop.is_set(), itertools.count()):
                    write_and_read(connection, number, turn)
        except Exception as error:
            failures.append(repr(error))

    users = [threading.Thread(target=use, args=(number,)) for number in range(3)]
    for user in users:
        user.start()
    try:
        reembed(filled, Toy())
    finally:
        stop.set()
        for user in users:
            user.join()
    assert failures == []
    check_whole(filled)


def test_what_the_space_in_use_lacks_is_filled_in(filled: str) -> None:
    query(filled, "DELETE FROM pgfuse.vectors WHERE memory_id % 3 = 0 OR route = 'vec_user'")
    query(filled, "DROP INDEX pgfuse.vectors_hnsw_1_vec_full")
    done = reembed(filled, InUse())
    assert done.space_id == done.previous_space_id == 1
    check_whole(filled)
    assert reembed(filled, InUse()).vectors == 0


class InUse(Toy):
    """The model of the space in use."""

    name = "wordllama"
    dim = 256

    def embed(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        return np.array([vector_of(text) for text in texts])


def test_vectors_that_callers_gave_are_not_replaced(db: str) -> None:
    given = vector_of("their own").tolist()
    with psycopg.connect(db) as connection:
        pgfuse.remember(
            connection,
            "p",
            [{"content": "a", "user_text": "b", "embeddings": {"vec_full": given}}],
            embedder=FakeEmbedder(),
        )
        connection.execute("DELETE FROM pgfuse.vectors WHERE route = 'vec_user'")
    assert reembed(db, InUse()).vectors == 1
    (stored,) = query(db, "SELECT embedding::real[] FROM pgfuse.vectors WHERE route = 'vec_full'")[0]
    assert np.array_equal(np.float32(stored), np.float32(given))


def test_vectors_without_a_text_are_counted(db: str) -> None:
    vectors = {route: vector_of(route).tolist() for route in ("vec_full", "vec_user", "vec_asst", "facet_likes")}
    with psycopg.connect(db) as connection:
        pgfuse.remember(connection, "p", [{"content": "a", "embeddings": vectors}])
        pgfuse.remember(connection, "p", [{"content": "zero"}], embedder=FakeEmbedder())
    done = reembed(db, Toy())
    assert (done.vectors, done.without_text, done.all_zero) == (1, 3, 1)


def test_it_goes_on_where_it_was_broken_off(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(Toy):
        def embed(self, texts: Sequence[str], /) -> NDArray[np.float32]:
            if self.texts:
                raise RuntimeError("the model fell over")
            return super().embed(texts)

    monkeypatch.setattr("pgfuse.missing_vectors.MISSING", small_pages())
    with pytest.raises(PgfuseError, match="the model fell over"):
        reembed(filled, Failing())
    assert spaces(filled) == [("wordllama", 256, True), ("toy", DIM, False)]
    half = query(
        filled,
        "SELECT count(DISTINCT (profile_id, memory_id)) FROM pgfuse.vectors WHERE space_id = 2 AND route = 'vec_full'",
    )
    assert half == [(10,)]
    assert reembed(filled, Toy()).memories == 27
    check_whole(filled)


def small_pages() -> str:
    from pgfuse.missing_vectors import MISSING

    assert "LIMIT 1000" in MISSING
    return MISSING.replace("LIMIT 1000", "LIMIT 10")


def test_an_index_that_a_killed_build_left_invalid_is_built_anew(filled: str) -> None:
    query(filled, f"SELECT pgfuse.create_space('toy', {DIM}, true)")
    for name in ("vectors_hnsw_2_vec_full", "vectors_hnsw_2_facets"):
        query(filled, f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'pgfuse.{name}'::regclass")
    reembed(filled, Toy())
    check_whole(filled)


def test_only_one_at_a_time(filled: str) -> None:
    stages: list[str] = []
    done: list[Reembedded] = []
    second = threading.Thread(
        target=lambda: done.append(reembed(filled, Toy(), progress=lambda stage, *_: stages.append(stage)))
    )

    def start_another() -> None:
        second.start()
        second.join(1.0)
        assert second.is_alive()

    reembed(filled, Toy(once(start_another)))
    second.join()
    assert stages[0] == "waiting for another reembed to end"
    assert done[0].vectors == 0
    check_whole(filled)


def test_the_dimension_must_be_the_models(filled: str) -> None:
    with pytest.raises(EmbeddingMismatch, match=f"toy gives {DIM} dimensions, not 64"):
        reembed(filled, Toy(), dim=64)
    assert len(spaces(filled)) == 1


def test_a_server_that_goes_away(filled: str) -> None:
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> {}"
    pull_the_plug = partial(query, filled, others.format("pg_backend_pid()"))
    with pytest.raises(DatabaseUnavailable, match="Run the same command again"):
        reembed(filled, Toy(once(pull_the_plug)))
    reembed(filled, Toy())
    check_whole(filled)


def test_a_writer_that_never_ends_does_not_stop_other_writers(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgfuse.reembed.SWITCH_ATTEMPTS", 1)
    writer = psycopg.connect(filled)

    def open_transaction(stage: str, done: int, total: int) -> None:
        if stage == "building indexes" and done == total:
            pgfuse.remember(writer, "r", [{"content": "open"}], embedder=FakeEmbedder())

    with pytest.raises(PgfuseError, match="Space 2 is complete but not in use"):
        reembed(filled, Toy(), progress=open_transaction)
    writer.close()
    reembed(filled, Toy())
    check_whole(filled)


def test_a_database_without_pgfuse(empty_db: str) -> None:
    with pytest.raises(pgfuse.SchemaMismatch, match="pgfuse migrate"):
        reembed(empty_db, Toy())
    with pytest.raises(pgfuse.SchemaMismatch, match="pgfuse migrate"):
        drop_space(empty_db, 1)
