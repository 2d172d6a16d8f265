"""`pgfuse reembed`: another model from another server, killed on the way, and the old one dropped."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import psycopg
import pytest

import pgfuse
from tests.acceptance.commands import error, invoke, invoke_json
from tests.integration.derived import check_all
from tests.unit.embedding_server import Answer, EmbeddingServer, embedding_server

MODEL = "openai:house-model"
COMMAND = [sys.executable, "-W", "error", "-c", "from pgfuse.cli import main; main()"]
SLOW = Answer(delay=0.1)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    with embedding_server(dim=8) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


@pytest.fixture
def known(db: str) -> str:
    with psycopg.connect(db) as connection:
        memories = [
            {"content": f"text {n}", "user_text": f"user {n}", "session_id": "s", "position": n} for n in range(20)
        ]
        pgfuse.remember(connection, "p", memories)
    return db


def spaces(url: str) -> list[tuple[str, bool]]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT model, active FROM pgfuse.spaces ORDER BY space_id").fetchall()


def test_change_of_model_and_drop(known: str, server: EmbeddingServer) -> None:
    said = invoke(known, "reembed", "--model", MODEL).stdout
    assert "Made 40 vectors for 20 memories in " in said
    assert "space 2 (openai:house-model, 8 dimensions) is now in use" in said
    assert "pgfuse reembed --drop-space 1" in said
    with psycopg.connect(known) as connection:
        check_all(connection)
        assert pgfuse.recall(connection, "text 3", "p")[0].routes == ("lexical", "vec_full")
    assert invoke(known, "reembed", "--drop-space", "1").stdout == "Dropped space 1 with 59 vectors.\n"
    assert spaces(known) == [("openai:house-model", True)]


def test_json_twice_and_drop_old(known: str, server: EmbeddingServer) -> None:
    done = invoke_json(known, "reembed", "--model", MODEL, "--drop-old")
    assert set(done) == {
        *(
            "space_id",
            "model",
            "dim",
            "previous_space_id",
            "memories",
            "vectors",
            "all_zero",
            "without_text",
            "seconds",
        ),
        *("switched", "dropped_old"),
    }
    assert (done["dim"], done["vectors"], done["switched"], done["dropped_old"]) == (8, 40, True, True)
    again = invoke_json(known, "reembed", "--model", MODEL)
    assert (again["vectors"], again["switched"], again["dropped_old"]) == (0, False, False)
    assert spaces(known) == [("openai:house-model", True)]


def test_a_shorter_vector(known: str, server: EmbeddingServer) -> None:
    done = invoke_json(known, "reembed", "--model", "openai:text-embedding-3-small", "--dim", "8")
    assert (done["model"], done["dim"]) == ("openai:text-embedding-3-small@8", 8)
    assert server.requests[0]["dimensions"] == 8


def test_what_is_missing_is_filled_in(known: str) -> None:
    with psycopg.connect(known) as connection:
        connection.execute("DELETE FROM pgfuse.vectors WHERE route = 'vec_user'")
    assert "Made 20 vectors for 20 memories" in invoke(known, "reembed").stdout
    with psycopg.connect(known) as connection:
        check_all(connection)
    assert "Made 0 vectors for 0 memories" in invoke(known, "reembed").stdout


def test_killed_on_the_way_it_goes_on(known: str, server: EmbeddingServer) -> None:
    with psycopg.connect(known) as connection:
        many = (
            "INSERT INTO pgfuse.memories (profile_id, content) SELECT 'q', 'text ' || n FROM generate_series(1, 1500) n"
        )
        connection.execute(many)
    server.plan = [SLOW] * 100
    running = subprocess.Popen([*COMMAND, "reembed", "--model", MODEL], env=os.environ | {"PGFUSE_DATABASE_URL": known})
    deadline = time.monotonic() + 60
    while stored(known) == 0 and time.monotonic() < deadline:
        time.sleep(0.02)
    running.kill()
    running.wait()
    half = stored(known)
    assert 0 < half < 1520
    assert spaces(known)[0] == ("wordllama", True)
    server.plan = []
    done = invoke_json(known, "reembed", "--model", MODEL)
    assert (done["switched"], stored(known)) == (True, 1520)
    assert done["memories"] <= 1520 - half + 1000  # what the killed one had under way may have been stored after it
    with psycopg.connect(known) as connection:
        check_all(connection)


def stored(url: str) -> int:
    with psycopg.connect(url) as connection:
        query = "SELECT count(*) FROM pgfuse.vectors WHERE space_id = 2 AND route = 'vec_full'"
        (count,) = connection.execute(query).fetchone() or (0,)
    return int(count)


def test_a_server_that_fails(known: str, server: EmbeddingServer) -> None:
    server.plan = [Answer(status=401)] * 10
    assert "refused with HTTP 401" in error(known, "reembed", "--model", MODEL)
    assert spaces(known)[0] == ("wordllama", True)


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["--model", "nonsense"], "No embedder is called 'nonsense'", 1),
        (["--dim", "64"], "wordllama gives 256 dimensions, not 64", 1),
        (["--dim", "4001"], "dim", 2),
        (["--drop-space", "1"], "Space 1 does not exist or is the one in use", 1),
        (["--drop-space", "1", "--model", "wordllama"], "--drop-space goes with none of", 2),
    ],
)
def test_bad_input(known: str, arguments: list[str], said: str, code: int) -> None:
    assert said in error(known, "reembed", *arguments, code=code)


def test_a_database_without_pgfuse(empty_db: str) -> None:
    assert "pgfuse migrate" in error(empty_db, "reembed")
