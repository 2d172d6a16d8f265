"""Which text of a memory is embedded for which route."""

from collections.abc import Mapping
from typing import Any

SPEAKER_KEYS = ("speaker", "role")


def compose_content(content: str | None, user_text: str | None, assistant_text: str | None) -> str | None:
    """The content as given, or made from the two sides of a question and answer."""
    if content is not None:
        return content
    if user_text and assistant_text:
        return f"user: {user_text}\nassistant: {assistant_text}"
    return user_text or assistant_text


def route_texts(columns: Mapping[str, Any]) -> dict[str, str]:
    """The text to embed for each route that the memory has one for; a known speaker stands before the content."""
    texts = {"vec_full": _spoken(columns["content"], columns["metadata"])}
    if columns["user_text"] and columns["user_text"].strip():
        texts["vec_user"] = columns["user_text"]
    if columns["assistant_text"] and columns["assistant_text"].strip():
        texts["vec_asst"] = columns["assistant_text"]
    return texts | {f"facet_{name}": text for name, text in columns["facets"].items()}


def _spoken(content: str, metadata: Mapping[str, Any]) -> str:
    for key in SPEAKER_KEYS:
        speaker = metadata.get(key)
        if isinstance(speaker, str) and speaker.strip() and not content.startswith(f"{speaker}:"):
            return f"{speaker}: {content}"
    return content
