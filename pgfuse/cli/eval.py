"""`pgfuse eval`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pgfuse.cli import questions
from pgfuse.cli.database import DatabaseUrl, Json, database
from pgfuse.cli.options import read_object, read_settings
from pgfuse.cli.progress import Progress
from pgfuse.cli.shown import clean

if TYPE_CHECKING:
    from pgfuse.evaluate.evaluation import Change, Comparison, Measured, Report
    from pgfuse.evaluate.preparation import Prepared
    from pgfuse.evaluate.runs import Asker
    from pgfuse.evaluate.variants import Variant

SHOWN = 5
IN_FORCE = "in force"

Profile = Annotated[
    str | None, typer.Option("--profile", "-p", help="Use the judgments stored for this profile (pgfuse.judgments).")
]
Preset = Annotated[str | None, typer.Option(help="The preset to measure.")]
Set = Annotated[list[str] | None, typer.Option("--set", help="A setting to measure with, key=value; repeatable.")]
Compare = Annotated[
    str | None, typer.Option(help="Show what each query gains over this preset, JSON object, or key=value,key=value.")
]
Cut = Annotated[int, typer.Option("--k", min=1, max=1000, help="How many hits a caller asks for.")]
Html = Annotated[Path | None, typer.Option("--report", help="Also write the figures with plots to this .html file.")]
Routes = Annotated[bool, typer.Option(help="Measure every single route too.")]
Presets = Annotated[bool, typer.Option(help="Measure every preset too.")]


def command(
    folder: questions.Folder = None,
    profile: Profile = None,
    vectors: questions.Vectors = None,
    model: questions.Model = None,
    profile_key: questions.ProfileKey = None,
    exclude_category: questions.Exclude = None,
    preset: Preset = None,
    set_: Set = None,
    compare: Compare = None,
    k: Cut = 10,
    report: Html = None,
    routes: Routes = True,
    presets: Presets = True,
    as_json: Json = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Measure how good the answers are: every route, every preset and the settings chosen, on judged queries.

    A folder is stored in a scratch database beside the one named; the judgments of a profile are asked where they are.

    Example: pgfuse eval my-collection --compare balanced --report report.html
    """
    from pgfuse.evaluate.preparation import prepare_profile

    if (folder is None) == (profile is None):
        raise typer.BadParameter("Give either a folder or --profile.")
    if report and report.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter(f"--report {report}: the report is an HTML page; name it .html.")
    source = questions.read_source(folder, vectors, model, profile_key, exclude_category)
    chosen, other = read_chosen(preset, set_, stored=profile is not None), read_variant(compare) if compare else None
    with database(database_url) as address, questions.progress() as shown:
        place = questions.prepare(address, source, shown) if source else prepare_profile(address, profile or "")
        found = run(place, shown, wanted(chosen, other, presets=presets), other, routes=routes, k=k)
    publish(found, report, as_json=as_json)


def read_chosen(preset: str | None, pairs: list[str] | None, *, stored: bool) -> Variant:
    """What is to be measured: the preset and settings given, else the profile's own or the default."""
    from pgfuse.evaluate.variants import Variant

    if preset is None and not pairs:
        return Variant(IN_FORCE) if stored else Variant("default", "default")
    return Variant(" ".join([preset or "", *(pairs or ())]).strip(), preset, read_settings(pairs))


def read_variant(text: str) -> Variant:
    """What to compare with: a preset's name, a JSON object of settings, or key=value pairs with commas."""
    from pgfuse.evaluate.variants import PRESETS, Variant

    if text in PRESETS:
        return Variant(text, text)
    given = read_object("--compare", text) if text.lstrip().startswith("{") else None
    if given is None and "=" not in text:
        raise typer.BadParameter(f"--compare {text}: give one of {', '.join(PRESETS)}, or settings as key=value.")
    settings = given if given is not None else read_settings(text.split(","))
    return Variant(text, settings.pop("preset", None), settings)


def wanted(chosen: Variant, other: Variant | None, *, presets: bool) -> list[Variant]:
    """The variants to measure, each once: the chosen one, the one to compare with, and the presets."""
    from pgfuse.evaluate.variants import PRESETS, Variant

    rows = [chosen, *([other] if other else [])]
    rows += [Variant(name, name) for name in PRESETS] if presets else []
    return list({variant.name: variant for variant in rows}.values())


def run(
    place: Prepared, shown: Progress, variants: list[Variant], other: Variant | None, *, routes: bool, k: int
) -> Report:
    """Measure the routes and the variants, the first of which is compared with the other one."""
    from pgfuse.evaluate.evaluation import Report, compare
    from pgfuse.evaluate.runs import asker
    from pgfuse.evaluate.variants import all_routes

    with asker(place.url) as asking:
        alone = all_routes(asking.conn, place.judged.profiles, variants[0]) if routes else []
        measured = [told_measure(asking, place, shown, variant, k) for variant in [*alone, *variants]]
    named = {found.variant.name: found for found in measured}
    comparison = compare(place.judged, named[other.name], named[variants[0].name], k) if other else None
    return Report(place.judged, k, measured, comparison)


def told_measure(asking: Asker, place: Prepared, shown: Progress, variant: Variant, k: int) -> Measured:
    """Measure a variant, telling how far it has come."""
    from pgfuse.evaluate.evaluation import measure, passes

    total, asked = passes(variant, k) * len(place.judged.questions), 0

    def done(count: int) -> None:
        nonlocal asked
        asked += count
        shown.update(f"Measuring {variant.name}", asked, asked, total)

    return measure(asking, place.judged, variant, k, done)


def publish(found: Report, path: Path | None, *, as_json: bool) -> None:
    """The report on the screen or as JSON, and in a file where one was asked for."""
    if path:
        from pgfuse.evaluate.html import render

        path.write_text(render(found), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(found.json()))
        return
    console = Console()
    console.print(figures(found))
    console.print(said(found), markup=False, highlight=False, soft_wrap=True, style="dim")
    if found.comparison:
        show_comparison(console, found.comparison)
    if path:
        console.print(f"The report is in {path}", markup=False, highlight=False, soft_wrap=True)


def figures(found: Report) -> Table:
    """A row a variant; the best of each column stands out."""
    from pgfuse.evaluate.metrics import names

    columns = names(found.k)
    best = {name: max(m.estimates[name].mean for m in found.measured) for name in columns}
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("", max_width=24, overflow="ellipsis", no_wrap=True)
    for heading in [columns[0], "95 %", *map(short, columns[1:])]:
        table.add_column(heading, justify="right", no_wrap=True)
    for measured in found.measured:
        means = {name: measured.estimates[name].mean for name in columns}
        first, *rest = (
            Text(f"{means[name]:.3f}", style="bold green" * (means[name] == best[name])) for name in columns
        )
        interval = measured.estimates[columns[0]]
        name = Text(measured.variant.name, style="cyan" if measured.variant.route else "")
        table.add_row(name, first, Text(f"{interval.low:.3f}-{interval.high:.3f}", style="dim"), *rest)
    return table


def short(name: str) -> str:
    """A heading that leaves room for others: the columns of recall stand beside each other."""
    return (
        name.removeprefix("recall")
        if name.startswith("recall@") and name != "recall@1"
        else name.replace("recall_", "")
    )


def said(found: Report) -> str:
    """What the figures stand on."""
    judged = found.judged
    about = [
        f"{len(judged.questions):,} judged queries in {len(judged.profiles):,} profiles, means with 95 % intervals."
    ]
    return "\n".join(about + [f"Note: {note}." for note in judged.notes])


def show_comparison(console: Console, comparison: Comparison) -> None:
    """The gain, and the questions that gained and lost most."""
    changes = comparison.changes
    gains, losses = [c for c in changes if c.gain > 0], [c for c in reversed(changes) if c.gain < 0]
    console.print(
        f"\n{comparison.after} against {comparison.before}: {comparison.gain.signed}, "
        f"{len(gains)} queries better, {len(losses)} worse",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    for some in (gains[:SHOWN], losses[:SHOWN]):
        for change in some:
            console.print(line(change), markup=False, highlight=False, soft_wrap=True)


def line(change: Change) -> str:
    """A question with what it gained, and where its documents stood before and after."""
    before, after = (
        ",".join(str(place) for place in sorted(filter(None, places.values()))) or "-"
        for places in (change.places_before, change.places_after)
    )
    return f"  {change.gain:+.3f}  {clean(change.text, 80)}  (places {before} → {after})"
