"""A judged collection in a folder, and a database to evaluate it beside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from tests.judged_folder import write_folder


@pytest.fixture(scope="session")
def eval_url(databases: Callable[[str | None], str], template: str) -> Iterator[str]:
    """A migrated database for evaluations to work beside; their scratch databases are dropped after the run."""
    url = databases(template)
    yield url
    with psycopg.connect(url, autocommit=True) as conn:
        scratch = f"{make_url(url).database}_eval_%"
        names = conn.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", (scratch,)).fetchall()
        for (name,) in names:
            conn.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The collection, in a folder of the test's own."""
    return write_folder(tmp_path / "tiny")
