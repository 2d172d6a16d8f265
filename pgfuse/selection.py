"""What is done with the database's rows before they are hits: MMR, neighbours, and a token budget."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pgfuse import mmr
from pgfuse.errors import InvalidInput
from pgfuse.steps import Row
from pgfuse.types import Hit
from pgfuse.vectors import from_binary


def characters_by_four(text: str) -> int:
    """A rough count of tokens: characters by four, rounded up."""
    return -(-len(text) // 4)


def to_hit(row: Row) -> Hit:
    """A row of the SQL function as a Hit."""
    fields = {name: row[name] for name in Hit.__dataclass_fields__}
    return Hit(**fields | {name: tuple(row[name]) for name in ("tags", "routes", "sources")})


def select(rows: Sequence[Row], top_k: int, trace: dict[str, Any]) -> list[Hit]:
    """The hits among the rows: as they come, or chosen by MMR when the settings ask for it."""
    if not trace["settings"]["mmr"]:
        return [to_hit(row) for row in rows]
    candidates = [row for row in rows if row["neighbor_of"] is None]
    chosen = _diversify(candidates, top_k, trace)
    return _with_neighbors(chosen, [to_hit(row) for row in rows], _reach(chosen, trace["settings"]))


def _diversify(rows: Sequence[Row], top_k: int, trace: dict[str, Any]) -> list[Hit]:
    settings = trace["settings"]
    best = max((row["final_score"] for row in rows), default=0.0)
    scale = best if settings["mmr_normalize"] and best > 0 else 1.0
    selection = mmr.select(
        [row["final_score"] / scale for row in rows],
        [None if row["embedding"] is None else from_binary(row["embedding"]) for row in rows],
        [row["tags"] for row in rows],
        top_k=top_k,
        lambda_=settings["mmr_lambda"],
        duplicate_threshold=settings["duplicate_threshold"],
        tag_weight=settings["mmr_tag_weight"],
    )
    trace["duplicates"] = [{"id": rows[c.index]["id"]} | _account(c, rows) for c in selection.duplicates]
    return [_explained(rows[c.index], _account(c, rows)) for c in selection.chosen]


def _account(choice: mmr.Choice, rows: Sequence[Row]) -> dict[str, Any]:
    against = None if choice.against is None else rows[choice.against]["id"]
    return {"relevance": choice.relevance, "redundancy": choice.redundancy, "against": against, "score": choice.score}


def _explained(row: Row, account: dict[str, Any]) -> Hit:
    hit = to_hit(row)
    return replace(hit, explain=hit.explain | {"mmr": account})


def _reach(chosen: Sequence[Hit], settings: dict[str, Any]) -> int:
    sessions = settings["session_first"] and any(hit.granularity == "session" for hit in chosen)
    reach: int = 0 if sessions else settings["neighbors"]
    return reach


def _with_neighbors(chosen: Sequence[Hit], near: Sequence[Hit], reach: int) -> list[Hit]:
    taken = {hit.id for hit in chosen}
    result: list[Hit] = []
    for hit in chosen:
        around = [other for other in near if other.id not in taken and _is_near(hit, other, reach)]
        taken |= {other.id for other in around}
        result += [hit, *(_as_neighbor(other, hit) for other in sorted(around, key=lambda o: (o.position, o.id)))]
    return result


def _is_near(hit: Hit, other: Hit, reach: int) -> bool:
    if reach == 0 or hit.session_id is None or hit.session_id != other.session_id:
        return False
    return hit.position is not None and other.position is not None and abs(hit.position - other.position) <= reach


def _as_neighbor(other: Hit, hit: Hit) -> Hit:
    return replace(
        other,
        neighbor_of=hit.id,
        rrf_score=0.0,
        blend_score=0.0,
        final_score=0.0,
        routes=(),
        sources=(),
        explain={"routes": {}},
    )


def pack(hits: list[Hit], max_tokens: int | None, count: Callable[[str], int], trace: dict[str, Any]) -> list[Hit]:
    """The hits, in order, that fit into the budget; the first that does not fit ends it."""
    if max_tokens is None:
        return hits
    used, kept = 0, 0
    for hit in hits:
        size = count(hit.content)
        if not isinstance(size, int) or size < 0:
            raise InvalidInput(f"count_tokens gave {size!r}; it must give a whole number that is not negative.")
        if used + size > max_tokens:
            break
        used, kept = used + size, kept + 1
    trace["packing"] = {"max_tokens": max_tokens, "used": used, "left_out": len(hits) - kept}
    return hits[:kept]
