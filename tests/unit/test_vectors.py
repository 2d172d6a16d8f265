"""Vectors on their way into and out of PostgreSQL."""

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pgfuse.errors import EmbeddingMismatch, InvalidInput
from pgfuse.vectors import check_vector, from_binary, to_binary, to_text

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
VECTORS = arrays(np.float32, st.integers(1, 50), elements=FLOATS)


@pytest.mark.parametrize(
    "value", [[1, 2], (1.0, 2.0), np.array([1, 2]), np.array([1, 2], dtype=np.float16), range(1, 3)]
)
def test_lists_and_arrays_of_numbers_are_vectors(value: Any) -> None:
    vector = check_vector("v", value)
    assert vector.dtype == np.float32
    assert vector.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "shape|list of numbers"),
        (5, "shape"),
        ([], "shape"),
        ([[1, 2]], "shape"),
        ([[1], [1, 2]], "list of numbers"),
        ("[1, 2]", "list of numbers"),
        (["a"], "list of numbers"),
        (["1"], "list of numbers"),
        ([True, False], "list of numbers"),
        ({"a": 1}, "list of numbers"),
        ([1 + 2j], "list of numbers"),
        (np.array([1 + 2j]), "list of numbers"),
        ([1.0, float("nan")], "position 1"),
        ([float("-inf")], "position 0"),
        ([1.0, 1e300], "position 1"),
        (np.array([1e300]), "position 0"),
        ([10**400], "list of numbers"),
    ],
)
def test_anything_else_is_refused_by_name(value: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^v .*({message})"):
        check_vector("v", value)


def test_more_dimensions_than_pgvector_takes() -> None:
    with pytest.raises(EmbeddingMismatch, match="v has 16001 dimensions"):
        check_vector("v", np.ones(16_001))


def test_a_vector_is_a_copy_or_left_alone() -> None:
    given_vector = np.array([1, 2], dtype=np.float32)
    to_binary(check_vector("v", given_vector))
    assert given_vector.tolist() == [1, 2]


def test_binary_is_what_pgvector_reads() -> None:
    """Two shorts, the dimension and a zero, then big-endian floats."""
    assert to_binary(np.array([1, -2], dtype=np.float32)) == struct.pack(">hhff", 2, 0, 1, -2)


@given(VECTORS)
def test_binary_goes_both_ways(vector: Any) -> None:
    assert np.array_equal(from_binary(to_binary(vector)), vector)


@given(VECTORS)
def test_text_goes_both_ways(vector: Any) -> None:
    text = to_text(vector)
    assert text[0] + text[-1] == "[]"
    assert np.array_equal(np.array([float(number) for number in text[1:-1].split(",")], dtype=np.float32), vector)
