"""Export: a profile's memories as records that `ingest` takes back."""

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg.rows import dict_row

from pgfuse.spaces import Space, current_space
from pgfuse.steps import run

AT_ONCE = 500

MEMORIES = """
SELECT m.external_id, m.kind, m.granularity, m.session_id, m.project_id, m.position, m.content, m.user_text,
       m.assistant_text, m.task_tag, m.tags, m.language::text AS language, m.memory_score, m.metadata,
       m.occurred_at, m.created_at, pgfuse.stored_facets(m.profile_id, m.id) AS facets,
       (SELECT json_object_agg(v.route, v.embedding::text::json) FROM pgfuse.vectors v
        WHERE v.profile_id = m.profile_id AND v.memory_id = m.id AND v.space_id = %(space_id)s
            AND v.route <> 'vec_next_user') AS embeddings
FROM pgfuse.memories m
WHERE m.profile_id = %(profile_id)s
ORDER BY m.id
"""

Record = dict[str, Any]


def export(conn: psycopg.Connection[Any], profile_id: str, *, vectors: bool = False) -> Iterator[Record]:
    """Every memory of a profile as it stands at this moment, oldest first, as a record for one line of JSON.

    With `vectors` those of the space in use come along, so that nothing has to be embedded again.
    """
    space = run(conn, current_space())
    parameters = {"profile_id": profile_id, "space_id": space.space_id if vectors else None}
    transaction = conn.transaction() if conn.autocommit else contextlib.nullcontext()
    with transaction, conn.cursor(name="pgfuse_export", row_factory=dict_row) as cursor:
        cursor.itersize = AT_ONCE
        for row in cursor.execute(MEMORIES, parameters):
            yield _record(row, space)


def _record(row: Record, space: Space) -> Record:
    record = {name: _plain(value) for name, value in row.items() if value is not None and value not in ([], {})}
    if "embeddings" in record:
        record["embedding_model"] = space.model
    return record


def _plain(value: Any) -> Any:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
