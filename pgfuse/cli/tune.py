"""`pgfuse tune`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import psycopg
import typer
from rich.console import Console

import pgfuse
from pgfuse.cli import questions
from pgfuse.cli.database import DatabaseUrl, Json, database
from pgfuse.cli.progress import Progress

if TYPE_CHECKING:
    from pgfuse.evaluate.preparation import Prepared
    from pgfuse.evaluate.tuning import Tuned

Profile = Annotated[
    str | None, typer.Option("--profile", "-p", help="The profile whose settings are tuned, with its judgments.")
]
Trials = Annotated[int, typer.Option(min=1, max=10000, help="How many settings are tried in each search.")]
Folds = Annotated[
    int | None,
    typer.Option(min=2, max=20, help="Parts to hold out in turn.  [default: 2, or 5 below 60 queries]"),
]
Seed = Annotated[int, typer.Option(help="For the same result on the same data.")]
Cut = Annotated[int, typer.Option("--k", min=1, max=1000, help="How many hits a caller asks for.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be written, and write nothing.")]
Weak = Annotated[
    bool, typer.Option("--accept-known-items", help="Write settings found without judgments, if they win.")
]


def command(
    folder: questions.Folder = None,
    profile: Profile = None,
    vectors: questions.Vectors = None,
    model: questions.Model = None,
    profile_key: questions.ProfileKey = None,
    exclude_category: questions.Exclude = None,
    trials: Trials = 60,
    folds: Folds = None,
    seed: Seed = 0,
    k: Cut = 10,
    dry_run: DryRun = False,
    accept_known_items: Weak = False,
    as_json: Json = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Find better settings from judged queries, and write them only if they win on queries that were held out.

    With a folder alone nothing is written; with a folder and a profile, the profile gets what was found on the folder.
    Without judgments, queries are made from the profile's own memories.

    Example: pgfuse tune --profile ada --dry-run
    """
    if folder is None and profile is None:
        raise typer.BadParameter("Give --profile, or a folder.")
    source = questions.read_source(folder, vectors, model, profile_key, exclude_category)
    with database(database_url) as address, questions.progress() as shown:
        place = questions.prepare(address, source, shown) if source else of_profile(address, profile or "", seed)
        present = in_force(address, profile) if profile else None
        tuned = run(place, shown, present, trials=trials, folds=folds, seed=seed, k=k)
        weak = is_known_items(place) and not accept_known_items
        written = write(address, profile, tuned) if profile and tuned.wins and not dry_run and not weak else False
    about = {"written": written, "profile": profile, "known_items": is_known_items(place), "notes": place.judged.notes}
    if as_json:
        typer.echo(json.dumps(tuned.json() | about))
    else:
        show(tuned, about, dry_run=dry_run, weak=weak)


def of_profile(address: str, profile: str, seed: int) -> Prepared:
    """The profile's judgments, or queries made from its memories where it has none."""
    from pgfuse.evaluate.preparation import prepare_known_items, prepare_profile

    with psycopg.connect(address) as conn:
        judged = conn.execute("SELECT FROM pgfuse.judgments WHERE profile_id = %s LIMIT 1", (profile,)).fetchone()
    return prepare_known_items(address, profile, seed) if judged is None else prepare_profile(address, profile)


def is_known_items(place: Prepared) -> bool:
    """Whether the queries were made from memories."""
    return any(question.id.startswith("known:") for question in place.judged.questions)


def in_force(address: str, profile: str) -> dict[str, Any]:
    """The settings that are to be bettered."""
    with psycopg.connect(address) as conn:
        return pgfuse.get_settings(conn, profile)


def run(
    place: Prepared,
    shown: Progress,
    present: dict[str, Any] | None,
    *,
    trials: int,
    folds: int | None,
    seed: int,
    k: int,
) -> Tuned:
    """Tune, telling how far it has come."""
    from pgfuse.evaluate.runs import asker
    from pgfuse.evaluate.tuning import folds_for, tune

    parts, tried = folds_for(place.judged, folds), 0

    def done(count: int) -> None:
        nonlocal tried
        tried += count
        shown.update(f"Trying settings ({tried} of {trials * (parts + 1)})", 0, tried, trials * (parts + 1))

    with asker(place.url) as asking:
        return tune(asking, place.judged, present=present, k=k, folds=parts, trials=trials, seed=seed, done=done)


def write(address: str, profile: str, tuned: Tuned) -> bool:
    """Write the settings, as a version of their own that can be rolled back."""
    with psycopg.connect(address) as conn:
        pgfuse.set_settings(conn, profile, **tuned.settings)
    return True


def show(tuned: Tuned, about: dict[str, Any], *, dry_run: bool, weak: bool) -> None:
    """What was found, and what was done with it."""
    console = Console()
    lines = [f"Note: {note}." for note in about["notes"]]
    lines += [
        f"nDCG on held-out queries ({tuned.queries} in {len(tuned.folds)} parts)",
        f"  in force  {tuned.before}",
        f"  tuned     {tuned.after}",
        f"  gain      {tuned.gain.signed}",
    ]
    lines += [f"Settings: {' '.join(pairs(tuned.settings))}"] if tuned.settings else []
    lines.append(decision(tuned, about, dry_run=dry_run, weak=weak))
    console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)


def decision(tuned: Tuned, about: dict[str, Any], *, dry_run: bool, weak: bool) -> str:
    """What was done, and why."""
    if not tuned.wins:
        return "Nothing was written: on held-out queries the gain is not surely above 0. The settings stay as they are."
    if about["written"]:
        return f"Written to {about['profile']}. To undo: pgfuse settings rollback --profile {about['profile']}"
    if dry_run or about["profile"] is None:
        return "Nothing was written. To use them: pgfuse settings set --profile NAME " + " ".join(pairs(tuned.settings))
    if weak:
        return "Nothing was written: the evidence is weak. To write it all the same, add --accept-known-items."
    return "Nothing was written."


def pairs(settings: dict[str, Any]) -> list[str]:
    """Settings as `pgfuse settings set` takes them."""
    plain = [f"{name}={json.dumps(value)}".replace('"', "") for name, value in settings.items() if name != "weights"]
    return plain + [f"weights.{route}={weight:g}" for route, weight in settings.get("weights", {}).items()]
