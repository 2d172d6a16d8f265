"""Lines of JSON on their way to being memories."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, BinaryIO, NoReturn

from pgfuse.errors import InvalidInput
from pgfuse.memory_rows import FIELDS
from pgfuse.texts import check_text

MAX_LINE = 100_000_000
TEXT_FIELDS = ("content", "user_text", "assistant_text")
OWN_KEYS = ("_id", "id", "profile_id", "embedding_model")
CORPUS_KEYS = ("title", "text", "conv", "session", "turn", "role", "time", "metadata")
SIDES = {"user": "user_text", "human": "user_text", "assistant": "assistant_text", "ai": "assistant_text"}

Record = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """A line of a file: its number, where it ends, and its bytes, or None when it is too long to be read."""

    number: int
    end: int
    text: bytes | None


@dataclass(frozen=True)
class Input:
    """A line as a memory: the profile it goes to, the memory, and the model of the vectors that came with it."""

    profile_id: str
    memory: Record
    embedding_model: str | None


def read_lines(stream: BinaryIO) -> Iterator[Line]:
    """The lines of a stream that are not blank, one at a time."""
    number = end = 0
    while chunk := stream.readline(MAX_LINE):
        number, end = number + 1, end + len(chunk)
        text: bytes | None = chunk
        while not chunk.endswith(b"\n") and (chunk := stream.readline(MAX_LINE)):
            text, end = None, end + len(chunk)
        if text is None or text.strip():
            yield Line(number, end, text.removeprefix(b"\xef\xbb\xbf") if text and number == 1 else text)


def read_input(line: Line, profile_id: str | None) -> Input:
    """The memory that a line stands for; InvalidInput says why it is none.

    A line with `content`, `user_text` or `assistant_text` has the columns of a memory. A line with `text` is one of
    a corpus: `title` and `text` are its content, and what is not a column goes into its metadata.
    """
    record = _record(line)
    is_corpus = "text" in record and not any(name in record for name in TEXT_FIELDS)
    conversation = record.get("conv") if is_corpus else None
    profile = record.get("profile_id") or profile_id or (None if conversation is None else str(conversation))
    if not profile:
        raise InvalidInput("no profile is given; pass --profile, or put profile_id into the line.")
    own_profile = not record.get("profile_id") and not profile_id
    memory = _from_corpus(record, own_profile) if is_corpus else _columns(record)
    memory["external_id"] = _external_id(record, memory)
    return Input(check_text("profile_id", profile), memory, record.get("embedding_model"))


def _record(line: Line) -> Record:
    if line.text is None:
        raise InvalidInput(f"the line has more than {MAX_LINE:,} bytes.")
    try:
        record = json.loads(line.text, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the line is not UTF-8 (byte {error.start + 1}).") from error
    except RecursionError as error:
        raise InvalidInput("the JSON is nested too deeply.") from error
    except ValueError as error:
        raise InvalidInput(f"the line is not JSON: {error}.") from error
    if not isinstance(record, dict):
        raise InvalidInput(f"the line is a JSON {type(record).__name__}; it must be an object.")
    return record


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON's")


def _columns(record: Record) -> Record:
    return {name: value for name, value in record.items() if name not in OWN_KEYS}


def _external_id(record: Record, memory: Record) -> Any:
    for name in ("external_id", "_id", "id"):
        value = record.get(name)
        if value is not None:
            return str(value) if isinstance(value, int) else value
    return _derived_id(memory)


def _derived_id(memory: Record) -> str:
    """An id made of all that the line says, so that the same line is the same memory wherever it stands."""
    said = {name: value for name, value in memory.items() if value is not None and name != "embeddings"}
    text = json.dumps(said, sort_keys=True, ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def _from_corpus(record: Record, own_profile: bool) -> Record:
    memory = {name: value for name, value in record.items() if name in FIELDS and name != "metadata"}
    memory["content"] = _attributed(record, _titled(record))
    memory["metadata"] = _metadata(record)
    return _placed(record, own_profile) | _spoken(record) | memory


def _titled(record: Record) -> Any:
    title, text = record.get("title"), record["text"]
    if not isinstance(text, str) or not isinstance(title, str) or text.startswith(title):
        return text
    return f"{title}\n{text}" if text.strip() else title


def _attributed(record: Record, content: Any) -> Any:
    """The speaker's name before what was said, since questions name people."""
    role = record.get("role")
    named = isinstance(role, str) and role.strip() and role.lower() not in SIDES
    return f"{role}: {content}" if named and isinstance(content, str) and content.strip() else content


def _metadata(record: Record) -> Any:
    given = record.get("metadata") or {}
    if not isinstance(given, dict):
        return given
    others = {name: value for name, value in record.items() if name not in {*FIELDS, *OWN_KEYS, *CORPUS_KEYS}}
    speaker = {"speaker": record["role"]} if record.get("role") is not None else {}
    return others | speaker | given


def _placed(record: Record, own_profile: bool) -> Record:
    """Where in which conversation, and when."""
    conversation, session = record.get("conv"), record.get("session")
    parts = [session] if own_profile and session is not None else [conversation, session]
    names = [str(part) for part in parts if part is not None]
    placed: Record = {"session_id": "/".join(names)} if names else {}
    if record.get("turn") is not None:
        placed |= {"position": record["turn"], "granularity": "turn"}
    if record.get("time") is not None:
        placed["occurred_at"] = _time(record["time"])
    return placed


def _time(value: Any) -> Any:
    """A time as it stands, or one in seconds since 1970."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    try:
        return datetime.fromtimestamp(value, UTC).isoformat()
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(f"time: {value!r:.100} is not allowed; it must be a time or seconds since 1970.") from error


def _spoken(record: Record) -> Record:
    """The side of the conversation that the text is, where the role says it."""
    role = record.get("role")
    side = SIDES.get(role.lower()) if isinstance(role, str) else None
    return {side: record["text"]} if side else {}
