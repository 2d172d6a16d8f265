"""The space in use: which model's vectors a database holds."""

from dataclasses import dataclass

from pgfuse.errors import NOT_MIGRATED, SchemaMismatch
from pgfuse.queries import SCHEMA_VERSION, SPACE
from pgfuse.steps import Query, Steps


@dataclass(frozen=True)
class Space:
    """An embedding model with its dimension, as recorded in the database."""

    space_id: int
    model: str
    dim: int


def current_space() -> Steps[Space]:
    """Read the space in use, and check that the schema is the one this package knows."""
    rows = yield Query(SPACE, {}, guarded=True)
    if not rows:
        raise SchemaMismatch(f"No embedding space is in use. {NOT_MIGRATED}")
    check_version(rows[0]["schema_version"])
    return Space(rows[0]["space_id"], rows[0]["model"], rows[0]["dim"])


def check_version(found: int) -> None:
    """Raise SchemaMismatch unless the database's schema version is this package's."""
    if found < SCHEMA_VERSION:
        raise SchemaMismatch(
            f"The database has schema version {found}, and this pgfuse needs {SCHEMA_VERSION}: run `pgfuse migrate`."
        )
    if found > SCHEMA_VERSION:
        raise SchemaMismatch(
            f"The database has schema version {found}, which is newer than this pgfuse knows ({SCHEMA_VERSION}): "
            "upgrade the package."
        )
