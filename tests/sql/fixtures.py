"""A migrated database of three dimensions, shared by all tests that roll back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from pgfuse import migrate

DIM = 3


@pytest.fixture(scope="session")
def small_url(databases: Callable[[str | None], str]) -> str:
    """The URL of a database for vectors of three dimensions; nothing may be committed in it."""
    url = databases(None)
    migrate.upgrade(url, dim=DIM, model="the-callers-own")
    return url


@pytest.fixture
def small(small_url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection in a transaction that is rolled back; property tests roll it back before every example."""
    with psycopg.connect(small_url) as connection:
        yield connection
        connection.rollback()
