"""A folder's corpus as memories, each in the profile that it belongs to."""

import hashlib
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from pgfuse.errors import InvalidInput
from pgfuse.evaluate.folders import Folder, Record, identifier
from pgfuse.lines import read_input

Memories = dict[str, list[dict[str, Any]]]
CONVERSATION = "conv"


def profile_key(folder: Folder, asked: str | None) -> str | None:
    """The field that tells profiles apart: the one asked for, else `conv` where every line has it."""
    records = [*folder.documents, *folder.queries]
    missing = next((record for record in records if record.get(asked or CONVERSATION) is None), None)
    if missing is None and records:
        return asked or CONVERSATION
    if asked:
        raise InvalidInput(f"profile key: {asked!r} is missing in the line with the id {missing!r:.100}.")
    return None


def profile_namer(folder: Folder, key: str | None) -> Callable[[Record], str]:
    """What the profile of a document or query is called; folders of the same name get different ones."""
    place = hashlib.sha256(str(folder.path.resolve()).encode()).hexdigest()[:6]
    base = f"eval:{folder.path.resolve().name}-{place}"
    return lambda record: f"{base}/{record[key]}" if key else base


def memories(folder: Folder, name: Callable[[Record], str]) -> Memories:
    """The documents by profile. A speaker stands before the text, so that who said it can be searched for too."""
    grouped: Memories = defaultdict(list)
    for index, document in enumerate(folder.documents):
        memory = read_input(folder.lines[index], name(document)).memory
        if not str(memory["content"]).strip():
            continue
        memory |= {"external_id": identifier(document), "content": spoken(memory)}
        if folder.document_vectors is not None:
            memory["embeddings"] = {"vec_full": folder.document_vectors[index]}
        grouped[name(document)].append(memory)
    return dict(grouped)


def spoken(memory: dict[str, Any]) -> str:
    """The content with its speaker in front, where there is one."""
    speaker, content = memory["metadata"].get("speaker"), str(memory["content"])
    return f"{speaker}: {content}" if speaker and not content.startswith(f"{speaker}:") else content
