"""kill -9 of clients and of the server at random moments, again and again: whole or absent, and running again completes."""

import os
import random
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from pgfuse import embedded, migrate, postmaster
from tests.integration.kills import check_whole, complete, kill, run_for, start

KILLS = int(os.environ.get("PGFUSE_SOAK_KILLS", "24"))


@pytest.fixture
def folder() -> Iterator[Path]:
    # not in pytest's own folder, which the account that root's servers run under cannot enter
    with tempfile.TemporaryDirectory(prefix="pgfuse-") as name:
        yield Path(name)


def forget_some(url: str, source: random.Random) -> None:
    """Make room, so that there is always something left to write."""
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute(
            "DELETE FROM pgfuse.memories WHERE split_part(external_id, '-', 1)::int %% %s = 0",
            (source.randrange(1, 4),),
        )


def kill_server(folder: Path, source: random.Random) -> None:
    """SIGKILL to the postmaster, or to one of its processes, which makes it restart all of them."""
    state = postmaster.read(folder / "cluster")
    assert state is not None
    server = psutil.Process(state.pid)
    victim = server if source.random() < 0.6 else source.choice(server.children())
    os.kill(victim.pid, signal.SIGKILL)
    if victim is server:
        server.wait(30)
    else:
        wait_for_recovery(folder)


def wait_for_recovery(folder: Path) -> None:
    """Wait until the server has restarted its processes: PostgreSQL 18 can hang when told to stop before that."""
    deadline = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(f"host={folder}/cluster user=postgres dbname=postgres").close()
            return
        except psycopg.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_killed_clients(folder: Path) -> None:
    source = random.Random(2)
    with embedded.start(folder) as server:
        migrate.upgrade(server.url)
        calls = []
        for _ in range(KILLS):
            calls.append(check_whole(server.url, run_for(server.url, source.uniform(0.02, 1.0))))
            forget_some(server.url, source)
        assert len(set(calls)) > 3
        complete(server.url)


def test_killed_servers(folder: Path) -> None:
    source = random.Random(3)
    with embedded.start(folder) as server:
        migrate.upgrade(server.url)
    calls = []
    for _ in range(KILLS):
        with embedded.start(folder) as server:
            client = start(server.url)
            time.sleep(source.uniform(0.02, 1.0))
            kill_server(folder, source)
            seen = kill(client)
        with embedded.start(folder) as server:
            calls.append(check_whole(server.url, seen))
            forget_some(server.url, source)
    assert len(set(calls)) > 3
    with embedded.start(folder) as server:
        complete(server.url)
