"""What a migration's revision does: run its frozen SQL files, or drop what they made.

Revisions also run inside a host application's own Alembic history, so nothing here relies on pgfuse's `env.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import context, op

from pgfuse.errors import InvalidInput

LOCK_KEY = int.from_bytes(b"pgfuse", "big")
LOCK = f"SELECT pg_advisory_xact_lock({LOCK_KEY})"
DEFAULT_DIM = 256
DEFAULT_MODEL = "wordllama"
MAX_DIM = 4000  # what pgvector can index as halfvec

KEEP_PATH = "SELECT set_config('pgfuse.kept_search_path', current_setting('search_path'), true)"
RESTORE_PATH = "SELECT set_config('search_path', current_setting('pgfuse.kept_search_path'), true)"
REQUIRE_PGVECTOR = """
DO $$
DECLARE
    found text := coalesce(
        (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
        (SELECT default_version FROM pg_available_extensions WHERE name = 'vector'));
BEGIN
    IF string_to_array(substring(found FROM '^[0-9.]+'), '.')::int[] < '{0,8,0}' THEN
        RAISE EXCEPTION 'pgvector % is too old: 0.8.0 or later is needed.', found
            USING ERRCODE = 'PF004',
                  HINT = 'Install a newer one on the server, run ALTER EXTENSION vector UPDATE, then migrate again.';
    END IF;
END
$$
"""
DROPS = {"tables": "TABLE", "types": "TYPE", "functions": "FUNCTION"}
TRIGGER = re.compile(r"CREATE (?:CONSTRAINT )?TRIGGER (\w+)\s.*?\sON (pgfuse\.\w+)", re.DOTALL)
DROP_EMPTY_SCHEMA = """
DO $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_depend
        WHERE refclassid = 'pg_namespace'::regclass AND refobjid = to_regnamespace('pgfuse') AND deptype = 'n'
    ) THEN
        DROP SCHEMA IF EXISTS pgfuse;
    END IF;
END
$$
"""


@dataclass(frozen=True)
class Space:
    """The embedding model and dimension asked for; `None` is what the caller left open."""

    dim: int | None = None
    model: str | None = None

    def __post_init__(self) -> None:
        if self.dim is not None and not 1 <= self.dim <= MAX_DIM:
            raise InvalidInput(
                f"A dimension of {self.dim} was given, and pgvector can index 1 to {MAX_DIM}. "
                "Choose a dimension in that range, for example by asking the model for shortened vectors."
            )
        if self.model is not None and not self.model.strip():
            raise InvalidInput("An empty model name was given. Name the model, for example wordllama, or leave it out.")

    @classmethod
    def parse(cls, values: dict[str, Any]) -> Space:
        """The space in `-x dim=… -x model=…`, or in the attributes a program set."""
        dim = values.get("dim")
        if isinstance(dim, str):
            if not re.fullmatch(r"\s*-?\d{1,9}\s*", dim):
                raise InvalidInput(f"dim={dim} was given; give a whole number from 1 to {MAX_DIM}, as in dim=1536.")
            dim = int(dim)
        return cls(dim, values.get("model"))


def requested_space() -> Space:
    """The space that `alembic -x`, or `Config.attributes["pgfuse"]`, asks for; wrong values are refused here."""
    return Space.parse({**context.get_x_argument(as_dictionary=True), **context.config.attributes.get("pgfuse", {})})


def order(folder: Path) -> list[str]:
    """The SQL files of a folder, as its `order.txt` names them."""
    lines = (folder / "order.txt").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def install(folder: Path) -> None:
    """Run the frozen files of the first revision in their order, then make the space for the vectors."""
    space = requested_space()
    _execute(LOCK)
    _execute(REQUIRE_PGVECTOR)
    _execute(KEEP_PATH)
    for name in order(folder):
        _execute((folder / name).read_text(encoding="utf-8"))
    make = sa.text("SELECT pgfuse.create_space(:model, :dim)")
    op.execute(make.bindparams(model=space.model or DEFAULT_MODEL, dim=space.dim or DEFAULT_DIM))
    _execute(RESTORE_PATH)


def remove(folder: Path) -> None:
    """Drop what the files made, last first, and the schema when nothing else is in it.

    Each object is dropped by its name and without CASCADE: a view or table of the user's that relies on one of them
    stops the downgrade, and the transaction leaves everything as it was.
    """
    _execute(LOCK)
    for name in reversed(order(folder)):
        if made := TRIGGER.search((folder / name).read_text(encoding="utf-8")):
            _execute(f"DROP TRIGGER IF EXISTS {made[1]} ON {made[2]}")
        elif kind := DROPS.get(Path(name).parent.name):
            _execute(f"DROP {kind} IF EXISTS pgfuse.{Path(name).stem}")
    _execute(DROP_EMPTY_SCHEMA)


def confirm_space(connection: sa.Connection) -> None:
    """Refuse a dimension or model that differs from the one the database was made for."""
    asked = requested_space()
    if connection.scalar(sa.text("SELECT to_regclass('pgfuse.spaces')")) is None:
        return
    row = connection.execute(sa.text("SELECT dim, model FROM pgfuse.spaces WHERE active")).first()
    if row and (asked.dim not in (None, row.dim) or asked.model not in (None, row.model)):
        raise InvalidInput(
            f"This database holds vectors of {row.model} with {row.dim} dimensions, and "
            f"{asked.model or row.model} with {asked.dim or row.dim} was asked for. Nothing was changed. "
            "Leave --dim and --model out to migrate it, or use `pgfuse reembed` to move it to another model."
        )


def _execute(statement: str) -> None:
    """Run one statement as it is: a colon is no placeholder, and offline output adds the semicolon itself."""
    op.execute(sa.text(statement.strip().removesuffix(";").replace(":", r"\:")))
