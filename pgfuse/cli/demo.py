"""`pgfuse demo`."""

from __future__ import annotations

import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

import pgfuse
from pgfuse.cli import shown
from pgfuse.cli.database import DatabaseUrl, database
from pgfuse.ingest import Summary, ingest
from pgfuse.types import Hit

MEMORIES = Path(__file__).resolve().parent.parent / "demo.jsonl"
NORA, LEO = "demo-nora", "demo-leo"
ALONE: dict[str, dict[str, Any]] = {
    "vectors alone": {"weights": {"lexical": 0}},
    "words alone": {"weights": {"vec_full": 0}},
    "both, fused": {},
}
WITH_PREFERENCES: dict[str, dict[str, Any]] = {"…with preferences": {"weights": {"facet_preferences": 1}}}


@dataclass(frozen=True)
class Question:
    """A question, who is asked about, what it is there to show, and which memory answers it."""

    profile_id: str
    text: str
    about: str
    answer: str
    ways: dict[str, dict[str, Any]]


QUESTIONS = (
    Question(NORA, "What was error PAY-4127?", "An identifier: one digit decides.", "payments-incident/2", ALONE),
    Question(LEO, "Is my kid allergic to anything?", "A paraphrase: no word in common.", "mathilde/3", ALONE),
    Question(
        NORA, "What transport does she use on rainy days?", "A bit of each: the sum decides.", "getting-around/1", ALONE
    ),
    Question(
        NORA,
        "What sort of flights do I prefer?",
        "A facet: what was said between the lines, kept beside the turn as a preference.",
        "lisbon/2",
        ALONE | WITH_PREFERENCES,
    ),
    Question(NORA, "What do I drink in the morning?", "One question …", "mornings/1", ALONE | WITH_PREFERENCES),
    Question(
        LEO, "What do I drink in the morning?", "… two profiles, two answers.", "mornings/1", ALONE | WITH_PREFERENCES
    ),
)


def command(database_url: DatabaseUrl = None) -> None:
    """Remember a few conversations of two people, and ask questions that show what each route is good for.

    Example: pgfuse demo

    Writes only to the profiles demo-nora and demo-leo, and may be run again at any time.
    """
    console, started = Console(), time.perf_counter()
    with database(database_url) as url:
        prepare(url)
        with psycopg.connect(url, autocommit=True) as connection, MEMORIES.open("rb") as lines:
            console.print(Rule("pgfuse: hybrid retrieval inside PostgreSQL"))
            console.print(remembered(ingest(connection, lines)), highlight=False)
            for question in QUESTIONS:
                console.print()
                console.print(Panel(asked(connection, question), title=title(question), title_align="left"))
    console.print(Text(f"\nDone in {time.perf_counter() - started:.1f} seconds. Now try:", style="bold"))
    for line in what_next(program(), named=database_url is not None):
        console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)


def prepare(url: str) -> None:
    """Migrate a database that has no pgfuse yet; one of another version is for its owner to migrate."""
    from pgfuse import migrate

    if migrate.status(url).version is None:
        migrate.upgrade(url)


def remembered(summary: Summary) -> str:
    """What was stored."""
    known = f" ({summary.unchanged} were there already)" if summary.unchanged else ""
    return f"Remembered {summary.stored} memories of two people{known} in {summary.seconds:.1f} s."


def title(question: Question) -> Text:
    """Who is asked about, and what."""
    name = question.profile_id.removeprefix("demo-").capitalize()
    return Text.assemble((f"{name}: ", "bold"), (question.text, "bold green"))


def asked(connection: psycopg.Connection, question: Question) -> Group:
    """The first hit of each way to search, and what made the last one win."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    best: Hit | None = None
    for way, settings in question.ways.items():
        best = first_hit(connection, question, settings)
        table.add_row(way, mark(best, question), shown.clean(best.content, 110) if best else Text("nothing", "dim"))
    why: list[RenderableType] = [Text(""), shown.parts_table(best, shown.largest_part([best]))] if best else []
    return Group(Text(question.about, style="dim"), table, *why)


def first_hit(connection: psycopg.Connection, question: Question, settings: dict[str, Any]) -> Hit | None:
    """The best memory; from the built-in settings, whatever the profile's own have become."""
    found = pgfuse.recall(connection, question.text, question.profile_id, preset="default", settings=settings)
    return found[0] if found else None


def mark(hit: Hit | None, question: Question) -> Text:
    """Whether it is the memory that answers the question."""
    right = hit is not None and hit.external_id == question.answer
    return Text("✓", style="bold green") if right else Text("✗", style="red")


def program() -> str:
    """How this program was called, so that what is printed can be typed."""
    called = Path(sys.argv[0])
    found = shutil.which("pgfuse")
    if not called.name.startswith("pgfuse") or (found and Path(found).samefile(called)):
        return "pgfuse"
    return str(called.relative_to(Path.cwd())) if called.is_relative_to(Path.cwd()) else str(called)


def what_next(name: str, *, named: bool) -> list[str]:
    """Commands that work as they stand; a database that was named must be named to them too."""
    before = ["(with PGFUSE_DATABASE_URL set to the same database)"] if named else []
    return [
        *before,
        f'{name} recall "Which bills are open?" --profile {LEO} --explain',
        f"{name} export --profile {NORA}",
        f"{name} doctor",
    ]
