"""A client that remembers in a process of its own, and is killed at a moment that chance chooses."""

import random
import signal
import subprocess
import sys
import textwrap
import time
from typing import Any

import psycopg

import pgfuse
from tests.integration.derived import check_all
from tests.integration.fake_embedder import FakeEmbedder

BATCHES = 24
SIZE = 20
CLIENT = """
    import psycopg
    import pgfuse
    from tests.integration.fake_embedder import FakeEmbedder
    from tests.integration.kills import BATCHES, batch

    with psycopg.connect({url!r}, autocommit=True) as conn:
        print("ready", flush=True)
        for number in range(BATCHES):
            pgfuse.remember(conn, "p", batch(number), embedder=FakeEmbedder())
            print(number, flush=True)
"""


def batch(number: int) -> list[dict[str, Any]]:
    """The memories of one call: turns of a few sessions, so that calls touch what others wrote."""
    source = random.Random(number)
    return [
        {
            "external_id": f"{number}-{index}",
            "session_id": f"s{source.randrange(5)}",
            "position": number * SIZE + index,
            "user_text": " ".join(source.choices(["tea", "rain", "launch", "friday", "cats"], k=5)),
            "facets": {"events": f"event {index}"},
        }
        for index in range(SIZE)
    ]


def start(url: str) -> subprocess.Popen[str]:
    """Start the client, and wait until it is about to write."""
    code = textwrap.dedent(CLIENT.format(url=url))
    client = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert client.stdout is not None
    assert client.stdout.readline() == "ready\n"
    return client


def kill(client: subprocess.Popen[str]) -> list[int]:
    """Kill it, and return the numbers of the calls that it saw succeed."""
    client.send_signal(signal.SIGKILL)
    said, _ = client.communicate()
    return [int(line) for line in said.split("\n")[:-1]]


def run_for(url: str, seconds: float) -> list[int]:
    """Let a client write for a while, and kill it."""
    client = start(url)
    time.sleep(seconds)
    return kill(client)


def settle(conn: psycopg.Connection[Any]) -> None:
    """Wait until the killed client's transaction has ended in the server."""
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    while conn.execute(others).fetchone() != (0,):
        time.sleep(0.02)


def check_whole(url: str, seen: list[int]) -> int:
    """Every call is there whole or not at all, and all that the client saw succeed are; how many calls are there."""
    with psycopg.connect(url, autocommit=True) as conn:
        settle(conn)
        found: dict[int, int] = dict(
            conn.execute(
                "SELECT split_part(external_id, '-', 1)::int, count(*) FROM pgfuse.memories GROUP BY 1"
            ).fetchall()
        )
        assert set(found.values()) <= {SIZE}
        assert set(seen) <= set(found)
        check_all(conn)
    return len(found)


def complete(url: str) -> None:
    """Run all of it again: what is missing comes, what is there is not embedded again."""
    embedder = FakeEmbedder()
    with psycopg.connect(url, autocommit=True) as conn:
        (before,) = conn.execute("SELECT count(*) FROM pgfuse.memories").fetchone() or (0,)
        for number in range(BATCHES):
            pgfuse.remember(conn, "p", batch(number), embedder=embedder)
        assert conn.execute("SELECT count(*) FROM pgfuse.memories").fetchone() == (BATCHES * SIZE,)
        assert len(embedder.texts) == 3 * (BATCHES * SIZE - before)
        check_all(conn)
