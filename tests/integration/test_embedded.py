"""The embedded server keeps its data, survives being killed, and is shared by all who use it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from pgfuse import embedded, postmaster
from pgfuse.errors import DatabaseUnavailable

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("PGFUSE_TEST_DSN")) or os.environ.get("PGFUSE_TEST_DOCKER") == "1",
    reason="the run is about another server",
)
NOBODY = 65534
USE = """
import sys
from pgfuse import embedded
server = embedded.start(sys.argv[1])
print(server.url, flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pgfuse-") as path:
        yield Path(path)


def client(folder: Path) -> subprocess.Popen[str]:
    """Another process that uses the server until it reads a line, or is killed."""
    command = [sys.executable, "-W", "error", "-c", USE, str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("postgresql://")
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.communicate("\n", timeout=30)
    assert process.returncode == 0


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def runs(folder: Path) -> bool:
    return postmaster.is_alive(folder / "cluster")


def query(url: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def server_pid(folder: Path) -> int:
    return int((folder / "cluster" / "postmaster.pid").read_text().splitlines()[0])


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_data_is_kept_between_runs(folder: Path) -> None:
    with embedded.start(folder) as server:
        query(server.url, "CREATE TABLE kept AS SELECT 1 AS one")
    assert not runs(folder)
    with embedded.start(folder) as server:
        assert query(server.url, "SELECT one FROM kept") == [(1,)]


def test_the_last_process_to_leave_stops_the_server(folder: Path) -> None:
    first, second = client(folder), client(folder)
    end(first)
    assert runs(folder)
    end(second)
    assert not runs(folder)


def test_a_killed_client_does_not_keep_the_server(folder: Path) -> None:
    killed, other = client(folder), client(folder)
    kill(killed)
    assert runs(folder)
    end(other)
    assert not runs(folder)


def test_a_server_left_by_its_only_client_is_joined(folder: Path) -> None:
    kill(client(folder))
    left = server_pid(folder)
    with embedded.start(folder) as server:
        assert server_pid(folder) == left
        assert query(server.url, "SELECT 1") == [(1,)]
    assert not runs(folder)


def test_committed_data_survives_a_killed_server(folder: Path) -> None:
    with embedded.start(folder) as server:
        query(server.url, "CREATE TABLE kept AS SELECT 1 AS one")
        os.kill(server_pid(folder), signal.SIGKILL)
        with embedded.start(folder) as again:  # at once, while the killed process may still be listed
            assert query(again.url, "SELECT one FROM kept") == [(1,)]
        assert query(server.url, "SELECT one FROM kept") == [(1,)]
    assert not runs(folder)


def test_a_recycled_process_number_is_no_server(folder: Path) -> None:
    with embedded.start(folder):
        os.kill(server_pid(folder), signal.SIGKILL)
        wait_for(lambda: not runs(folder))
    path = folder / "cluster" / "postmaster.pid"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([str(os.getpid()), *lines[1:], ""]))
    with embedded.start(folder) as server:
        assert query(server.url, "SELECT 1") == [(1,)]


def test_two_first_runs_at_once(folder: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", USE, str(folder)]
    both = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    urls = [process.communicate("\n", timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert urls[0] == urls[1]
    assert not runs(folder)


def test_a_folder_with_a_long_name_and_odd_letters(folder: Path) -> None:
    with embedded.start(folder / ("it's, a long & odd name " * 6)) as server:
        assert query(server.url, "SELECT 1") == [(1,)]


def test_the_url_works_for_sqlalchemy(folder: Path) -> None:
    with embedded.start(folder) as server:
        engine = sa.create_engine(server.url.replace("postgresql:", "postgresql+psycopg:"), poolclass=sa.NullPool)
        with engine.connect() as connection:
            assert connection.scalar(sa.text("SELECT 1")) == 1


def test_tcp_is_off_unless_asked_for_and_wants_the_password(folder: Path) -> None:
    with embedded.start(folder) as server:
        assert server.tcp_url is None
        assert query(server.url, "SHOW listen_addresses") == [("",)]
    with embedded.start(folder, port=54329) as server:
        assert server.tcp_url is not None
        assert query(server.tcp_url, "SELECT 1") == [(1,)]
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect("postgresql://postgres:wrong@127.0.0.1:54329/postgres")
        with pytest.raises(DatabaseUnavailable, match="already runs, and not on port 54330"):
            embedded.start(folder, port=54330)


def test_a_folder_that_cannot_be_made() -> None:
    with pytest.raises(DatabaseUnavailable, match="cannot keep its data in /dev/null/x"):
        embedded.start("/dev/null/x")


def test_the_extra_is_named_when_it_is_missing(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DatabaseUnavailable, match=r"pip install 'pgfuse\[embedded\]'"):
        embedded.start(folder)


def start_as_nobody(folder: Path) -> None:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    with embedded.start(folder) as server:
        assert query(server.url, "SELECT 1") == [(1,)]
        assert (folder / "cluster").stat().st_uid == NOBODY


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_can_run_it(folder: Path) -> None:
    if not all(parent.stat().st_mode & 0o001 for parent in embedded.binaries().resolve().parents):
        pytest.skip("the programs are in a folder that only root can reach")
    os.chown(folder, NOBODY, NOBODY)
    child = multiprocessing.get_context("fork").Process(target=start_as_nobody, args=(folder,))
    child.start()  # forked, so that Python itself may be where only root can read it
    child.join(60)
    assert child.exitcode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="PostgreSQL only refuses root")
def test_root_opens_a_closed_folder_for_the_server_alone(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    with embedded.start(closed / "data") as server:
        assert query(server.url, "SELECT 1") == [(1,)]
    assert closed.stat().st_mode & 0o777 == 0o710
    assert folder.stat().st_mode & 0o007 == 0
