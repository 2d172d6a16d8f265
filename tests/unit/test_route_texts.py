"""Which text is embedded for which route."""

from typing import Any

import pytest

from pgfuse.memory_rows import memory_row
from pgfuse.route_texts import compose_content


def texts(**memory: Any) -> dict[str, str]:
    return memory_row(memory).texts


def test_content_alone() -> None:
    assert texts(content="tea") == {"vec_full": "tea"}


def test_both_sides_and_facets() -> None:
    expected = {
        "vec_full": "user: q\nassistant: a",
        "vec_user": "q",
        "vec_asst": "a",
        "facet_events": "e",
        "facet_x": "f",
    }
    assert texts(user_text="q", assistant_text="a", facets={"events": "e", "x": "f"}) == expected


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_a_blank_side_has_no_vector(blank: str) -> None:
    assert texts(content="c", user_text=blank, assistant_text="a") == {"vec_full": "c", "vec_asst": "a"}
    assert texts(user_text="q", assistant_text=blank) == {"vec_full": "q", "vec_user": "q"}


@pytest.mark.parametrize(
    ("metadata", "text"),
    [
        ({"speaker": "Ann"}, "Ann: tea"),
        ({"role": "user"}, "user: tea"),
        ({"speaker": "Ann", "role": "user"}, "Ann: tea"),
        ({"speaker": " ", "role": "user"}, "user: tea"),
        ({"speaker": 5, "role": None}, "tea"),
        ({"speaker": ""}, "tea"),
        ({"author": "Ann"}, "tea"),
    ],
)
def test_a_known_speaker_stands_before_the_content(metadata: dict[str, Any], text: str) -> None:
    assert texts(content="tea", metadata=metadata) == {"vec_full": text}


def test_a_speaker_who_is_named_already_is_not_named_twice() -> None:
    assert texts(content="Ann: tea", metadata={"speaker": "Ann"}) == {"vec_full": "Ann: tea"}


def test_the_sides_are_embedded_as_they_were_said() -> None:
    assert texts(user_text="q", metadata={"speaker": "Ann"}) == {"vec_full": "Ann: q", "vec_user": "q"}


def test_content_is_made_of_the_sides_only_when_not_given() -> None:
    assert compose_content("c", "q", "a") == "c"
    assert compose_content(None, "q", "a") == "user: q\nassistant: a"
    assert compose_content(None, "q", None) == "q"
    assert compose_content(None, None, "a") == "a"
    assert compose_content(None, None, None) is None
