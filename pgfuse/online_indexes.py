"""The indexes of a space, built without stopping writers."""

from collections.abc import Callable

import psycopg
from psycopg import sql
from psycopg.rows import DictRow

WANTED = """
SELECT i.name, format(i.definition, 'CONCURRENTLY') AS statement, x.indisvalid AS valid
FROM pgfuse.space_indexes(space => %(space_id)s) i
LEFT JOIN pg_class c ON c.relname = i.name AND c.relnamespace = 'pgfuse'::regnamespace
LEFT JOIN pg_index x ON x.indexrelid = c.oid
ORDER BY i.name
"""

Progress = Callable[[str, int, int], None]


def build_indexes(conn: psycopg.Connection[DictRow], space_id: int, progress: Progress) -> None:
    """Build the indexes that a space lacks; one that a killed build left invalid is built anew."""
    wanted = [row for row in conn.execute(WANTED, {"space_id": space_id}).fetchall() if not row["valid"]]
    for number, row in enumerate(wanted):
        progress("building indexes", number, len(wanted))
        if row["valid"] is False:
            conn.execute(sql.SQL("DROP INDEX CONCURRENTLY pgfuse.{}").format(sql.Identifier(row["name"])))
        conn.execute(sql.SQL(row["statement"]))
    if wanted:
        progress("building indexes", len(wanted), len(wanted))
