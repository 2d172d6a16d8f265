"""What a database's catalog says about the schema pgfuse, in lines that two databases can be compared by."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

FINGERPRINT = """
WITH ours AS (
    SELECT c.* FROM pg_class c
    WHERE c.relnamespace = 'pgfuse'::regnamespace AND c.relname !~ '^alembic_version'
), lines (kind, line) AS (
    SELECT 'relation', format('%s %s %s %s', c.oid::regclass, c.relkind, c.relpersistence, c.reloptions)
    FROM ours c
    UNION ALL
    SELECT 'column', format('%s %s %s %s null=%s %s%s %s', a.attrelid::regclass, a.attnum, a.attname,
        format_type(a.atttypid, a.atttypmod), NOT a.attnotnull, a.attidentity, a.attgenerated,
        pg_get_expr(d.adbin, d.adrelid))
    FROM ours c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON (d.adrelid, d.adnum) = (a.attrelid, a.attnum)
    WHERE c.relkind IN ('r', 'c', 'v')
    UNION ALL
    SELECT 'constraint', format('%s %s %s', n.conrelid::regclass, n.conname, pg_get_constraintdef(n.oid))
    FROM ours c JOIN pg_constraint n ON n.conrelid = c.oid
    UNION ALL
    SELECT 'index', format('%s valid=%s', pg_get_indexdef(i.indexrelid), i.indisvalid)
    FROM ours c JOIN pg_index i ON i.indexrelid = c.oid
    UNION ALL
    SELECT 'trigger', format('%s %s', pg_get_triggerdef(t.oid), t.tgenabled)
    FROM ours c JOIN pg_trigger t ON t.tgrelid = c.oid WHERE NOT t.tgisinternal
    UNION ALL
    SELECT 'policy', format('%s %s %s', p.polname, p.polcmd, pg_get_expr(p.polqual, p.polrelid))
    FROM ours c JOIN pg_policy p ON p.polrelid = c.oid
    UNION ALL
    SELECT 'function', format('%s %s %s %s %s',
        pg_get_functiondef(p.oid), p.provolatile, p.proparallel, p.prosecdef, p.proacl)
    FROM pg_proc p WHERE p.pronamespace = 'pgfuse'::regnamespace
    UNION ALL
    SELECT 'type', format('%s %s', t.oid::regtype, t.typtype)
    FROM pg_type t WHERE t.typnamespace = 'pgfuse'::regnamespace AND t.typname !~ '^_?alembic_version'
    UNION ALL
    SELECT 'comment', format('%s: %s', pg_describe_object(d.classoid, d.objoid, d.objsubid), d.description)
    FROM pg_description d
    WHERE (d.classoid = 'pg_class'::regclass AND d.objoid IN (SELECT oid FROM ours))
        OR (d.classoid = 'pg_proc'::regclass
            AND d.objoid IN (SELECT oid FROM pg_proc WHERE pronamespace = 'pgfuse'::regnamespace))
        OR (d.classoid = 'pg_namespace'::regclass AND d.objoid = 'pgfuse'::regnamespace)
        OR (d.classoid = 'pg_type'::regclass
            AND d.objoid IN (SELECT oid FROM pg_type WHERE typnamespace = 'pgfuse'::regnamespace))
    UNION ALL
    SELECT 'space', format('%s %s %s', space_id, model, dim) FROM pgfuse.spaces WHERE active
)
SELECT kind || ' ' || line FROM lines ORDER BY 1
"""


@pytest.fixture
def fingerprint() -> Callable[[str], list[str]]:
    """Read the catalog of the database at a URL."""

    def read(url: str) -> list[str]:
        with psycopg.connect(url) as connection:
            return [row[0] for row in connection.execute(FINGERPRINT)]

    return read
