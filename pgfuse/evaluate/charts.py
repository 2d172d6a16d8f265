"""Charts as SVG, drawn by hand so that a report needs no plotting package."""

from collections.abc import Mapping, Sequence
from html import escape

from pgfuse.evaluate.intervals import Estimate

WIDTH = 720
LABELS = 170
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#7f7f7f")


def intervals(rows: Sequence[tuple[str, Estimate, bool]]) -> str:
    """A dot a row with its interval as a line; a row that stands out is drawn in another colour."""
    step, top = 26, 8
    height = top + step * len(rows) + 26
    low = min((found.low for _, found, _ in rows), default=0.0)
    high = max((found.high for _, found, _ in rows), default=1.0)
    scale = Scale(max(0.0, low - 0.02), min(1.0, high + 0.02), LABELS, WIDTH - 60)
    parts = [axis(scale, top, height - 22)]
    for index, (name, found, stands_out) in enumerate(rows):
        parts.append(_interval(name, found, scale, top + step * index + step // 2, COLOURS[1 if stands_out else 0]))
    return svg(height, parts)


class Scale:
    """From values to places on the paper."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high, self.start, self.end = low, max(high, low + 1e-9), start, end

    def __call__(self, value: float) -> float:
        """Where a value stands."""
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)

    def ticks(self, count: int = 5) -> list[float]:
        """Values to write on the axis."""
        return [self.low + (self.high - self.low) * index / count for index in range(count + 1)]


def _interval(name: str, found: Estimate, scale: Scale, y: float, colour: str) -> str:
    return (
        f'<text x="{LABELS - 10}" y="{y + 4:.1f}" text-anchor="end">{escape(name[:26])}</text>'
        f'<line x1="{scale(found.low):.1f}" x2="{scale(found.high):.1f}" y1="{y}" y2="{y}" '
        f'stroke="{colour}" stroke-width="2"/>'
        f'<circle cx="{scale(found.mean):.1f}" cy="{y}" r="4.5" fill="{colour}"/>'
        f'<text x="{scale.end + 10:.1f}" y="{y + 4:.1f}">{found.mean:.3f}</text>'
    )


def axis(scale: Scale, top: float, bottom: float) -> str:
    """Grid lines with their values below."""
    return "".join(
        f'<line x1="{scale(value):.1f}" x2="{scale(value):.1f}" y1="{top}" y2="{bottom}" class="grid"/>'
        f'<text x="{scale(value):.1f}" y="{bottom + 16}" text-anchor="middle" class="dim">{value:.2f}</text>'
        for value in scale.ticks()
    )


def curves(cuts: Sequence[int], rows: Mapping[str, Sequence[float]]) -> str:
    """A line a row over the cuts, with a legend at the right."""
    height, right = 260, WIDTH - 190
    across = {cut: 50 + (right - 50) * index / max(len(cuts) - 1, 1) for index, cut in enumerate(cuts)}
    up = Scale(0.0, 1.0, height - 30, 12)
    parts = [
        f'<line x1="50" x2="{right}" y1="{up(value):.1f}" y2="{up(value):.1f}" class="grid"/>'
        f'<text x="42" y="{up(value) + 4:.1f}" text-anchor="end" class="dim">{value:.1f}</text>'
        for value in up.ticks()
    ]
    parts += [f'<text x="{x:.1f}" y="{height - 10}" text-anchor="middle">{cut}</text>' for cut, x in across.items()]
    for index, (name, values) in enumerate(rows.items()):
        points = " ".join(f"{across[cut]:.1f},{up(value):.1f}" for cut, value in zip(cuts, values, strict=True))
        colour, y = COLOURS[index % len(COLOURS)], 20 + 18 * index
        dash = "" if index < len(COLOURS) else ' stroke-dasharray="5 3"'
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        parts.append(f'<rect x="{right + 14}" y="{y - 8}" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{right + 30}" y="{y + 1}">{escape(name[:24])}</text>')
    return svg(max(height, 24 + 18 * len(rows)), parts)


def differences(values: Sequence[float]) -> str:
    """A bar a question, from the biggest gain to the biggest loss."""
    height, middle = 200, 100.0
    width = (WIDTH - 60) / max(len(values), 1)
    parts = [f'<line x1="50" x2="{WIDTH - 10}" y1="{middle}" y2="{middle}" class="grid"/>']
    for index, value in enumerate(values):
        size = abs(value) * 90
        y, colour = (middle - size, COLOURS[2]) if value > 0 else (middle, COLOURS[1])
        parts.append(
            f'<rect x="{50 + index * width:.2f}" y="{y:.1f}" width="{max(width, 0.5):.2f}" height="{size:.1f}" '
            f'fill="{colour}"/>'
        )
    parts += [
        f'<text x="42" y="{middle - 90 * value + 4:.0f}" text-anchor="end">{value:+d}</text>' for value in (1, -1)
    ]
    return svg(height, parts)


def svg(height: float, parts: Sequence[str]) -> str:
    """The paper."""
    return f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img">{"".join(parts)}</svg>'
