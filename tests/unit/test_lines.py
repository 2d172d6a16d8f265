"""Lines of JSON become memories, or say why they cannot."""

import io
import json
from typing import Any

import pytest

from pgfuse import InvalidInput
from pgfuse.lines import Line, read_input, read_lines


def of(record: Any, profile: str | None = "p") -> tuple[str, dict[str, Any]]:
    given = read_input(Line(1, 0, json.dumps(record).encode()), profile)
    return given.profile_id, given.memory


def memory(record: Any) -> dict[str, Any]:
    return of(record)[1]


def refusal(text: bytes | None, profile: str | None = "p") -> str:
    with pytest.raises(InvalidInput) as raised:
        read_input(Line(1, 0, text), profile)
    return str(raised.value)


def test_lines_are_numbered_as_in_an_editor() -> None:
    lines = list(read_lines(io.BytesIO(b'\xef\xbb\xbf{"a":1}\r\n\n   \n{"b":2}')))
    assert [(line.number, line.end, line.text) for line in lines] == [(1, 12, b'{"a":1}\r\n'), (4, 24, b'{"b":2}')]


def test_a_line_that_is_too_long_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgfuse.lines.MAX_LINE", 10)
    lines = list(read_lines(io.BytesIO(b'{"long": "very"}\n{"a":1}\n')))
    assert [(line.number, line.text) for line in lines] == [(1, None), (2, b'{"a":1}\n')]
    assert refusal(None) == "the line has more than 10 bytes."


def test_columns_stay_what_they_are() -> None:
    record = {"content": "a", "external_id": "x", "tags": ["t"], "created_at": "2026-01-01T00:00:00Z", "oops": 1}
    assert memory(record) == record


@pytest.mark.parametrize(
    ("keys", "wanted"), [({"_id": "a"}, "a"), ({"id": 7}, "7"), ({"id": "a", "external_id": "b"}, "b")]
)
def test_an_id_is_the_external_id(keys: dict[str, Any], wanted: str) -> None:
    assert memory({"content": "a", **keys}) == {"content": "a", "external_id": wanted}


def test_a_line_without_an_id_gets_one_of_all_it_says() -> None:
    one = memory({"content": "a", "tags": ["t"]})["external_id"]
    assert one.startswith("sha256:")
    assert memory({"tags": ["t"], "content": "a", "user_text": None})["external_id"] == one
    assert memory({"content": "a", "tags": ["t"], "embeddings": {"vec_full": [1]}})["external_id"] == one
    assert memory({"content": "a", "tags": ["u"]})["external_id"] != one


def test_the_line_names_its_profile() -> None:
    assert of({"content": "a", "profile_id": "q"})[0] == "q"
    assert of({"content": "a"})[0] == "p"
    assert "pass --profile" in refusal(b'{"content": "a"}', None)
    assert "profile_id" in refusal(b'{"content": "a", "profile_id": 7}')
    assert "NUL" in refusal(b'{"content": "a", "profile_id": "\\u0000"}')


@pytest.mark.parametrize(
    ("title", "text", "content"),
    [
        ("T", "body", "T\nbody"),
        ("T", "T. body", "T. body"),
        ("", "body", "body"),
        ("T", "", "T"),
        (None, "body", "body"),
    ],
)
def test_a_document_of_a_corpus(title: str | None, text: str, content: str) -> None:
    record = {"_id": "d1", "title": title, "text": text, "metadata": {"year": 1}, "url": "u", "tags": ["t"]}
    assert memory(record) == {
        "external_id": "d1",
        "content": content,
        "tags": ["t"],
        "metadata": {"year": 1, "url": "u"},
    }


TURN = {
    "id": "c1/D1:2",
    "text": "Hello",
    "conv": "c1",
    "session": 1,
    "turn": 2,
    "role": "Ada",
    "time": "2023-05-08T13:56:00",
    "has_image": False,
}


def test_a_turn_of_a_conversation() -> None:
    profile, turn = of(TURN)
    assert profile == "p"
    assert turn == {
        "external_id": "c1/D1:2",
        "content": "Ada: Hello",
        "session_id": "c1/1",
        "position": 2,
        "granularity": "turn",
        "occurred_at": "2023-05-08T13:56:00",
        "metadata": {"has_image": False, "speaker": "Ada"},
    }


def test_a_conversation_is_a_profile_when_none_is_given() -> None:
    profile, turn = of(TURN, None)
    assert (profile, turn["session_id"]) == ("c1", "1")
    assert of({"text": "a", "conv": 3}, None) == ("3", memory({"text": "a", "conv": 3}))


@pytest.mark.parametrize(("role", "side"), [("user", "user_text"), ("Assistant", "assistant_text")])
def test_the_side_of_a_turn(role: str, side: str) -> None:
    turn = memory({"text": "Hello", "role": role})
    assert (turn["content"], turn[side], turn["metadata"]) == ("Hello", "Hello", {"speaker": role})


def test_a_time_in_seconds() -> None:
    assert memory({"text": "a", "time": 0})["occurred_at"] == "1970-01-01T00:00:00+00:00"
    assert "seconds since 1970" in refusal(b'{"text": "a", "time": 1e300}')


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"{", "the line is not JSON"),
        (b'{"content": NaN}', "NaN is not a number of JSON's"),
        (b'{"content": "\xff"}', "the line is not UTF-8 (byte 14)."),
        (b"[1]", "the line is a JSON list; it must be an object."),
        (b"[" * 200_000, "nested too deeply"),
    ],
)
def test_what_is_no_record(text: bytes, reason: str) -> None:
    assert reason in refusal(text)
