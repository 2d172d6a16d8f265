"""The evaluation as one HTML file that needs nothing else."""

import json
from collections.abc import Sequence
from html import escape

from pgfuse.evaluate import charts, metrics
from pgfuse.evaluate.evaluation import Change, Comparison, Report

SHOWN = 10
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
body { color: #1b1b1b; background: #fff }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; display: block; overflow-x: auto }
th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid #8884; white-space: nowrap }
th:first-child, td:first-child, .text { text-align: left; white-space: normal }
svg { max-width: 100%; height: auto; font: 12px system-ui, sans-serif }
svg text { fill: currentColor } svg .grid { stroke: #8884 } .dim, small { opacity: .65 } b { color: #b34700 }
@media (prefers-color-scheme: dark) { body { color: #e6e6e6; background: #16181c } b { color: #ffb27a } }
"""


def render(report: Report) -> str:
    """The whole page."""
    judged, first = report.judged, f"ndcg@{report.k}"
    parts = [
        f"<h1>{escape(judged.name)}</h1>",
        f"<p>{len(judged.questions):,} judged queries in {len(judged.profiles):,} profiles. Figures are means over the "
        f"queries, with 95 % bootstrap intervals; all but recall@{metrics.DEPTH} are what a caller gets with "
        f"top_k = {report.k}.</p>",
        "".join(f"<p><small>Note: {escape(note)}.</small></p>" for note in judged.notes),
        f"<h2>nDCG@{report.k}</h2>",
        charts.intervals([(m.variant.name, m.estimates[first], not m.variant.route) for m in report.measured]),
        "<h2>Recall at 1 … 50</h2>",
        _curves(report),
        "<h2>All figures</h2>",
        _table(report),
        _comparison(report.comparison) if report.comparison else "",
        "<h2>Settings</h2>",
        *(_settings(m.variant.name, m.json()) for m in report.measured if not m.variant.route),
    ]
    head = f'<meta charset="utf-8"><title>{escape(judged.name)}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def _curves(report: Report) -> str:
    cuts = sorted({*metrics.RECALL_AT, report.k, metrics.DEPTH})
    rows = {m.variant.name: [m.estimates[f"recall@{cut}"].mean for cut in cuts] for m in report.measured}
    return charts.curves(cuts, rows)


def _table(report: Report) -> str:
    columns = metrics.names(report.k)
    best = {name: max(m.estimates[name].mean for m in report.measured) for name in columns}
    rows = []
    for measured in report.measured:
        cells = []
        for name in columns:
            found = measured.estimates[name]
            mean = f"<b>{found.mean:.3f}</b>" if found.mean == best[name] else f"{found.mean:.3f}"
            cells.append(f"<td>{mean}<br><small>{found.low:.3f}-{found.high:.3f}</small></td>")
        rows.append(f"<tr><td>{escape(measured.variant.name)}</td>{''.join(cells)}</tr>")
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    return f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"


def _comparison(comparison: Comparison) -> str:
    gains = [change for change in comparison.changes if change.gain > 0]
    losses = [change for change in reversed(comparison.changes) if change.gain < 0]
    return (
        f"<h2>{escape(comparison.after)} against {escape(comparison.before)}</h2>"
        f"<p>Gain in nDCG {comparison.gain.signed}; {len(gains)} queries better, {len(losses)} worse.</p>"
        + charts.differences([change.gain for change in comparison.changes])
        + _changes("Biggest gains", gains[:SHOWN])
        + _changes("Biggest losses", losses[:SHOWN])
    )


def _changes(title: str, changes: Sequence[Change]) -> str:
    rows = "".join(
        f'<tr><td class="text">{escape(change.text[:300])}</td><td>{change.gain:+.3f}</td>'
        f"<td>{_places(change.places_before)}</td><td>{_places(change.places_after)}</td></tr>"
        for change in changes
    )
    head = "<tr><th>query</th><th>gain</th><th>places before</th><th>places after</th></tr>"
    return f"<h3>{title}</h3><table>{head}{rows}</table>" if changes else ""


def _places(places: dict[str, int | None]) -> str:
    found = sorted(place for place in places.values() if place)
    return f"{', '.join(map(str, found)) or 'none'} of {len(places)}"


def _settings(name: str, said: dict[str, object]) -> str:
    shown = json.dumps({key: said[key] for key in ("preset", "settings")})
    return f"<p>{escape(name)}: <code>{escape(shown)}</code></p>"
