"""A migrated database of three dimensions, shared by all tests that roll back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from pgfuse import migrate

DIM = 3


@pytest.fixture(scope="session")
def small_template(databases: Callable[[str | None], str]) -> str:
    """The name of a migrated database for vectors of three dimensions that nobody is connected to."""
    url = databases(None)
    migrate.upgrade(url, dim=DIM, model="the-callers-own")
    return str(make_url(url).database)


@pytest.fixture(scope="session")
def small_url(databases: Callable[[str | None], str], small_template: str) -> str:
    """The URL of a database for vectors of three dimensions; nothing may be committed in it."""
    return databases(small_template)


@pytest.fixture
def small_copy(databases: Callable[[str | None], str], small_template: str) -> str:
    """The URL of such a database of the test's own."""
    return databases(small_template)


@pytest.fixture
def small(small_url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection in a transaction that is rolled back; property tests roll it back before every example."""
    with psycopg.connect(small_url) as connection:
        yield connection
        connection.rollback()
