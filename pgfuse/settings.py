"""The settings of a profile: read, changed, looked back on and rolled back."""

from typing import Any

from pgfuse.connections import AsyncSource, SyncSource
from pgfuse.errors import InvalidInput, InvalidSettings
from pgfuse.queries import CONFIGURE, ROLLBACK_SETTINGS, SETTINGS, SETTINGS_HISTORY
from pgfuse.steps import Query, Row, Steps, arun, run
from pgfuse.texts import check_json, check_profile

Settings = dict[str, Any]


def get_settings(conn: SyncSource, profile_id: str | None) -> Settings:
    """The settings in force for a profile; None stands for the database default."""
    return run(conn, _one(SETTINGS, profile_id))


def set_settings(conn: SyncSource, profile_id: str | None, **changes: Any) -> Settings:
    """Change settings of a profile (or of the database, with None) and return those in force."""
    return run(conn, _one(CONFIGURE, profile_id, changes=_json(changes)))


def settings_history(conn: SyncSource, profile_id: str | None) -> list[Row]:
    """Every version of a profile's own settings, oldest first."""
    return run(conn, _history(profile_id))


def rollback_settings(conn: SyncSource, profile_id: str | None, version: int | None = None) -> Settings:
    """Go back to an earlier version of a profile's settings (the last but one, unless said), as a new version."""
    return run(conn, _one(ROLLBACK_SETTINGS, profile_id, version=version))


async def aget_settings(conn: AsyncSource, profile_id: str | None) -> Settings:
    """`get_settings` on an async connection."""
    return await arun(conn, _one(SETTINGS, profile_id))


async def aset_settings(conn: AsyncSource, profile_id: str | None, **changes: Any) -> Settings:
    """`set_settings` on an async connection."""
    return await arun(conn, _one(CONFIGURE, profile_id, changes=_json(changes)))


async def asettings_history(conn: AsyncSource, profile_id: str | None) -> list[Row]:
    """`settings_history` on an async connection."""
    return await arun(conn, _history(profile_id))


async def arollback_settings(conn: AsyncSource, profile_id: str | None, version: int | None = None) -> Settings:
    """`rollback_settings` on an async connection."""
    return await arun(conn, _one(ROLLBACK_SETTINGS, profile_id, version=version))


def _json(changes: dict[str, Any]) -> str:
    try:
        return check_json("settings", changes)
    except InvalidInput as error:
        raise InvalidSettings(str(error)) from error


def _profile(profile_id: str | None) -> str:
    return "" if profile_id is None else check_profile(profile_id)


def _one(sql: str, profile_id: str | None, **params: Any) -> Steps[Settings]:
    rows = yield Query(sql, {"profile_id": _profile(profile_id), **params})
    settings: Settings = rows[0]["settings"]
    return settings


def _history(profile_id: str | None) -> Steps[list[Row]]:
    rows: list[Row] = yield Query(SETTINGS_HISTORY, {"profile_id": _profile(profile_id)})
    return rows
