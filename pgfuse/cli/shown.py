"""Hits and routes, made readable."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from pgfuse.types import Hit, Recall

SHOWN_CHARACTERS = 240
BAR_WIDTH = 16
ALIGNED: tuple[JustifyMethod, ...] = ("left", "left", "left", "right", "left", "right", "left")
STYLES = {"lexical": "yellow", "vec_full": "cyan"}
OTHER_STYLE = "magenta"


def clean(text: str, limit: int = SHOWN_CHARACTERS) -> str:
    """A text for the screen: on one line, cut short, and without characters that would steer the terminal."""
    shown = "".join(" " if character.isspace() else character for character in text[: 4 * limit])
    shown = "".join(character for character in shown if unicodedata.category(character) not in ("Cc", "Cs"))
    shown = " ".join(shown.split())
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def route_style(name: str) -> str:
    """The colour of a route."""
    return STYLES.get(name, OTHER_STYLE)


def part(found: Mapping[str, Any]) -> float:
    """What a route added to a hit's score: its share of the linear score, or else its reciprocal rank."""
    return float(found.get("linear", found["contribution"]))


def largest_part(hits: Iterable[Hit]) -> float:
    """The largest share that any route has in any of the hits, which a full bar stands for."""
    return max((part(found) for hit in hits for found in hit.explain["routes"].values()), default=0.0)


def bar(value: float, largest: float, width: int = BAR_WIDTH) -> str:
    """A bar whose length is the value's share of the largest; anything above nothing is seen."""
    if value <= 0 or largest <= 0:
        return ""
    return "█" * max(1, round(width * value / largest))


def hits_table(result: Recall) -> Table:
    """The hits, one row each; a neighbour stands below the hit it belongs to."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("#", "id", "score"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("found by")
    table.add_column("memory", ratio=1)
    number = 0
    for hit in result:
        if hit.neighbor_of is None:
            number += 1
            table.add_row(str(number), str(hit.id), f"{hit.final_score:.4f}", _routes(hit), _memory(hit))
        else:
            table.add_row("", str(hit.id), "", Text(f"next to {hit.neighbor_of}", style="dim"), _memory(hit))
    return table


def _routes(hit: Hit) -> Text:
    return Text(" ").join(Text(name, style=route_style(name)) for name in hit.routes)


def _memory(hit: Hit) -> Text:
    about = [hit.session_id and f"session {hit.session_id}", hit.occurred_at and f"{hit.occurred_at:%Y-%m-%d}"]
    said = " · ".join(clean(str(one), 60) for one in about if one)
    return Text.assemble(clean(hit.content), (f"  {said}" if said else "", "dim"))


def parts_table(hit: Hit, largest: float) -> Table:
    """What each route contributed to a hit, with bars, and what else went into its score."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for justify in ALIGNED:
        table.add_column(justify=justify, no_wrap=True)
    for name, found in sorted(hit.explain["routes"].items(), key=lambda item: (-part(item[1]), item[0])):
        style = route_style(name)
        filled = Text(bar(part(found), largest), style=style)
        table.add_row(" ", Text(name, style=style), *_figures(found), f"{part(found):.4f}", filled)
    for label, value in _extras(hit.explain):
        table.add_row(" ", Text(label, style="dim"), "", "", "", value, "")
    return table


def _figures(found: Mapping[str, Any]) -> tuple[str, str, str]:
    rank = "unranked" if found["rank"] is None else f"rank {found['rank']}"
    score = "" if found["score"] is None else f"{found['score']:.4f}"
    return rank, score, f"weight {found['weight']:g}"


def _extras(explain: Mapping[str, Any]) -> list[tuple[str, str]]:
    extras = []
    if explain.get("memory_weight") and explain.get("memory_score"):
        extras.append(("memory score", f"{explain['memory_weight'] * explain['memory_score']:.4f}"))
    if explain.get("turn_support"):
        extras.append((f"{explain['supporting_turn_count']} turns", f"{explain['turn_support']:.4f}"))
    if explain.get("recency") is not None:
        extras.append(("recency", f"x {explain['recency']:.4f}"))
    if explain.get("mmr", {}).get("redundancy"):
        extras.append((f"repeats {explain['mmr']['against']}", f"{explain['mmr']['redundancy']:.4f}"))
    return extras


def routes_table(trace: Mapping[str, Any]) -> Table:
    """What each route did."""
    table = Table(title="Routes", title_justify="left", box=None, padding=(0, 1, 0, 0), header_style="bold")
    for heading in ("route", "weight", "status", "method", "candidates", "complete", "top score"):
        table.add_column(
            heading, justify="right" if heading in ("weight", "candidates", "top score") else "left", no_wrap=True
        )
    weights = trace["settings"]["weights"]
    for name, did in sorted(trace["routes"].items(), key=lambda item: (item[1]["status"] == "skipped", item[0])):
        top = "" if did["top_score"] is None else f"{did['top_score']:.4f}"
        complete = {True: "yes", False: "no", None: ""}[did["complete"]]
        weight, method = f"{weights.get(name, 0):g}", did["method"] or ""
        style = "dim" if did["status"] == "skipped" else None
        table.add_row(
            Text(name, style=route_style(name) if style is None else ""),
            weight,
            did["status"],
            method,
            str(did["candidates"]),
            complete,
            top,
            style=style,
        )
    return table
