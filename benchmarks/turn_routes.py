"""Conversations with all eight routes: the two sides of each turn, and facets found by their wording."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from pgfuse.evaluate.documents import Memories

SENTENCE = re.compile(r"(?<=[.!?])\s+")
PEOPLE = "wife|husband|mom|mum|dad|mother|father|sister|brother|son|daughter|kids?|family|dog|cat"
DAYS = (
    "night|week|weekend|month|year|summer|winter|spring|fall|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
)
MONTHS = "january|february|march|april|june|july|august|september|october|november|december"
DEEDS = "went|visited|attended|joined|started|finished|won|bought|got|took|met|signed up"
WORDINGS = {
    "personal_info": rf"i am|i'm a|i work|i live|i moved|i grew up|my ({PEOPLE}|name|job|home|birthday|career|degree)",
    "preferences": r"i (really |also |just )*(love|like|enjoy|prefer|hate)|favou?rite|my passion|i'm into|fan of",
    "events": rf"yesterday|today|tonight|tomorrow|(last|next|this) ({DAYS})|{MONTHS}|(i|we) (just )?({DEEDS})",
}
FACETS = {name: re.compile(rf"\b({wording})\b", re.IGNORECASE) for name, wording in WORDINGS.items()}


def with_sides(grouped: Memories, *, facets: bool) -> Memories:
    """The same memories, each turn with its sides; the first to speak in a conversation is taken as the user.

    A user's turn has the reply that follows as its assistant_text; the reply itself has no user_text, so that the
    database takes the next turn of the user as vec_next_user of both. Own vectors stand for the same texts.
    """
    return {profile: _sides(memories, facets=facets) for profile, memories in grouped.items()}


def _sides(memories: list[dict[str, Any]], *, facets: bool) -> list[dict[str, Any]]:
    user = memories[0]["metadata"]["speaker"]
    sessions: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for memory in memories:
        sessions[memory["session_id"]].append(memory)
    made = []
    for turns in sessions.values():
        turns.sort(key=lambda memory: memory["position"])
        for turn, after in zip(turns, [*turns[1:], None], strict=True):
            is_user = turn["metadata"]["speaker"] == user
            reply = turn if not is_user else after if after and after["metadata"]["speaker"] != user else None
            made.append(_with(turn, turn if is_user else None, reply, facets=facets))
    return made


def _with(
    turn: dict[str, Any], user: dict[str, Any] | None, reply: dict[str, Any] | None, *, facets: bool
) -> dict[str, Any]:
    sides = {"user_text": user and user["content"], "assistant_text": reply and reply["content"]}
    made = {**turn, **sides, "facets": _facets(turn) if facets else {}}
    if "embeddings" in turn:
        sources = {"vec_full": turn, "vec_user": user, "vec_asst": reply}
        made["embeddings"] = {name: source["embeddings"]["vec_full"] for name, source in sources.items() if source}
    return made


def _facets(turn: dict[str, Any]) -> dict[str, str]:
    speaker = turn["metadata"]["speaker"]
    said = SENTENCE.split(turn["content"].removeprefix(f"{speaker}: "))
    found = {name: " ".join(part for part in said if pattern.search(part)) for name, pattern in FACETS.items()}
    return {name: f"{speaker}: {text}" for name, text in found.items() if text}
