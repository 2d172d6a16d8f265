"""Hybrid retrieval inside PostgreSQL: the right memories for an agent, in one call, with the reasons."""

from pgfuse.errors import EmbedderError, EmbeddingMismatch, InvalidInput, InvalidSettings, PgfuseError, SchemaMismatch
from pgfuse.recall import arecall, awhy_not, recall, why_not
from pgfuse.remember import aforget, aremember, forget, remember
from pgfuse.settings import (
    aget_settings,
    arollback_settings,
    aset_settings,
    asettings_history,
    get_settings,
    rollback_settings,
    set_settings,
    settings_history,
)
from pgfuse.types import Hit, Memory, Recall, RetrievalMode

__version__ = "0.1.0"

__all__ = [
    "EmbedderError",
    "EmbeddingMismatch",
    "Hit",
    "InvalidInput",
    "InvalidSettings",
    "Memory",
    "PgfuseError",
    "Recall",
    "RetrievalMode",
    "SchemaMismatch",
    "aforget",
    "aget_settings",
    "arecall",
    "aremember",
    "arollback_settings",
    "aset_settings",
    "asettings_history",
    "awhy_not",
    "forget",
    "get_settings",
    "recall",
    "remember",
    "rollback_settings",
    "set_settings",
    "settings_history",
    "why_not",
]
