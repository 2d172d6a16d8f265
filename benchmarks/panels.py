"""Plots of measured figures, as SVG and PNG."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

ACROSS = 3
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#7f7f7f")


@dataclass(frozen=True)
class Panel:
    """One diagram: a value for each label in each series (None where there is none)."""

    title: str
    unit: str
    labels: Sequence[str]
    series: Mapping[str, Sequence[float | None]]
    kind: Literal["lines", "bars"] = "lines"
    scale: Literal["linear", "log"] = "linear"


def draw(panels: Sequence[Panel], path: Path) -> list[Path]:
    """Draw the panels, three side by side, into PATH.svg and PATH.png."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    across, down = min(ACROSS, len(panels)), -(-len(panels) // ACROSS)
    figure, axes = pyplot.subplots(down, across, figsize=(6.5 * across, 4.5 * down), squeeze=False)
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    for panel, axis in zip(panels, axes.flat, strict=False):
        (_lines if panel.kind == "lines" else _bars)(panel, axis)
        axis.set_title(panel.title)
        axis.tick_params(axis="x", rotation=20, labelsize=8)
        axis.set_ylabel(panel.unit)
        axis.set_yscale(panel.scale)
        axis.grid(axis="y", alpha=0.3)
        if len(panel.series) > 1:
            axis.legend(fontsize=8)
    figure.tight_layout()
    paths = [path.with_suffix(suffix) for suffix in (".svg", ".png")]
    for name in paths:
        figure.savefig(name, dpi=110)
    pyplot.close(figure)
    return paths


def _lines(panel: Panel, axis: Any) -> None:
    for colour, (name, values) in zip(COLOURS, panel.series.items(), strict=False):
        points = [(label, value) for label, value in zip(panel.labels, values, strict=True) if value is not None]
        axis.plot([point[0] for point in points], [point[1] for point in points], "o-", color=colour, label=name)


def _bars(panel: Panel, axis: Any) -> None:
    step = 0.8 / len(panel.series)
    for index, (name, values) in enumerate(panel.series.items()):
        places = [place + (index + 0.5) * step - 0.4 for place in range(len(panel.labels))]
        axis.bar(places, [value or 0 for value in values], step, color=COLOURS[index % len(COLOURS)], label=name)
    axis.set_xticks(range(len(panel.labels)), panel.labels, ha="right")
