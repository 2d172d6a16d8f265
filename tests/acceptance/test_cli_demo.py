"""`pgfuse demo` runs on anything, twice, and makes its point."""

import os
import re
import subprocess
import sys

import psycopg

from pgfuse.cli.demo import QUESTIONS, what_next
from tests.acceptance.commands import invoke

COMMAND = [sys.executable, "-W", "error", "-c", "from pgfuse.cli import main; main()"]


def test_twice_on_a_database_that_is_not_migrated(empty_db: str) -> None:
    first = invoke(empty_db, "demo").stdout
    assert "Remembered 47 memories of two people in" in first
    for question in QUESTIONS:
        assert question.text in first
    again = invoke(empty_db, "demo").stdout
    assert "(47 were there already)" in again
    with psycopg.connect(empty_db) as connection:
        query = "SELECT profile_id, count(*) FROM pgfuse.memories GROUP BY 1 ORDER BY 1"
        assert connection.execute(query).fetchall() == [("demo-leo", 22), ("demo-nora", 25)]


def test_each_route_has_its_moment(db: str) -> None:
    said = invoke(db, "demo").stdout
    panels = said.split("╭─")[1:]
    marks = [re.findall("[✓✗]", panel) for panel in panels]
    assert marks[0] == ["✗", "✓", "✓"]
    assert marks[1] == ["✓", "✗", "✓"]
    assert [found[-1] for found in marks] == ["✓"] * len(QUESTIONS)


def test_the_commands_it_ends_with_work(db: str) -> None:
    said = invoke(db, "demo").stdout
    for line in what_next("pgfuse", named=False):
        assert line in said
        arguments = [part.strip('"') for part in line.replace('"Which bills are open?"', "bills").split()[1:]]
        assert invoke(db, *arguments).stdout


def test_the_script_in_a_pipe_shows_no_warning(db: str) -> None:
    environment = os.environ | {"PGFUSE_DATABASE_URL": db}
    done = subprocess.run([*COMMAND, "demo"], env=environment, check=True, capture_output=True, text=True)
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
