"""A benchmark as a chart: a bar for the middle time of each route, a line up to the slow ones."""

from html import escape

from pgfuse.bench.figures import Report, Timed
from pgfuse.evaluate.charts import COLOURS, LABELS, WIDTH, Scale, axis, svg

STEP, TOP = 28, 34
STYLE = "<style>text{font:12px sans-serif}.grid{stroke:#ddd}.dim{fill:#666}</style>"


def render(report: Report) -> str:
    """The whole SVG file."""
    rows = [(route.route, route.time, 0) for route in report.routes]
    rows += [(f"{route.route}, exact", route.exact, 7) for route in report.routes if route.exact]
    rows.append(("recall, whole", report.recall, 1))
    height = TOP + STEP * len(rows) + 30
    scale = Scale(0.0, max(time.p95 for _, time, _ in rows), LABELS, WIDTH - 90)
    title = f"{report.profile_id[:60]}: {report.memories:,} memories, {report.queries} queries, milliseconds"
    parts = [STYLE, f'<text x="10" y="18">{escape(title)}</text>', axis(scale, TOP - 6, height - 24)]
    parts += [_bar(name, time, scale, TOP + STEP * place, COLOURS[hue]) for place, (name, time, hue) in enumerate(rows)]
    return svg(height, parts).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)


def _bar(name: str, time: Timed, scale: Scale, y: int, colour: str) -> str:
    start, middle, slow = scale(0.0), scale(time.p50), scale(time.p95)
    return (
        f'<text x="{LABELS - 10}" y="{y + 14}" text-anchor="end">{escape(name[:26])}</text>'
        f'<rect x="{start:.1f}" y="{y + 3}" width="{middle - start:.1f}" height="14" fill="{colour}"/>'
        f'<line x1="{middle:.1f}" x2="{slow:.1f}" y1="{y + 10}" y2="{y + 10}" stroke="{colour}" stroke-width="2"/>'
        f'<text x="{slow + 6:.1f}" y="{y + 14}">{time.p50:.2f}</text>'
    )
