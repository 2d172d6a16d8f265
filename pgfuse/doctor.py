"""Look a database over: versions, indexes, missing vectors and lexical statistics, with a remedy for each finding."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import psycopg
from psycopg.rows import dict_row

from pgfuse.migrate import resource
from pgfuse.queries import SCHEMA_VERSION

SERVERS = range(14, 19)
PGVECTOR_NEEDED = (0, 8, 0)
PGVECTOR_ADVISED = (0, 8, 4)  # earlier ones lack fixes for corrupted indexes

VERSIONS = """
SELECT current_setting('server_version') AS server,
       current_setting('server_version_num')::int / 10000 AS major,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS pgvector,
       to_regproc('pgfuse.schema_version') IS NOT NULL AS migrated
"""
SPACES = """
SELECT s.space_id, s.model, s.dim, s.active, count(v.memory_id) AS vectors
FROM pgfuse.spaces s LEFT JOIN pgfuse.vectors v USING (space_id)
GROUP BY s.space_id ORDER BY s.space_id
"""
INDEXES = """
SELECT c.relname AS name, i.indisvalid AND i.indisready AS valid
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relnamespace = 'pgfuse'::regnamespace
"""
SPACE_INDEXES = """
SELECT i.name, format(i.definition, 'CONCURRENTLY') AS statement
FROM pgfuse.spaces s CROSS JOIN LATERAL pgfuse.space_indexes(s.space_id) i
WHERE s.active OR EXISTS (SELECT FROM pgfuse.vectors v WHERE v.space_id = s.space_id)
"""
MISSING = """
WITH wanted AS (
    SELECT m.profile_id, m.id, r.route
    FROM pgfuse.memories m
    CROSS JOIN LATERAL (VALUES ('vec_full', m.content), ('vec_user', m.user_text), ('vec_asst', m.assistant_text))
        AS r (route, text)
    WHERE r.text <> ''
    UNION ALL
    SELECT f.profile_id, f.memory_id, 'facet_' || f.name FROM pgfuse.facets f
)
SELECT w.route, count(*) AS wanted, count(*) FILTER (WHERE v.memory_id IS NULL) AS missing
FROM wanted w
LEFT JOIN pgfuse.vectors v
    ON (v.profile_id, v.memory_id, v.route) = (w.profile_id, w.id, w.route)
    AND v.space_id = (SELECT space_id FROM pgfuse.spaces WHERE active)
GROUP BY w.route ORDER BY w.route
"""
LEXICAL = """
WITH found AS MATERIALIZED (
    SELECT p.profile_id, e.id FROM pgfuse.postings p CROSS JOIN LATERAL unnest(p.ids, p.packed) AS e (id, packed)
    GROUP BY p.profile_id, e.id HAVING sum(sign(e.packed)) > 0
)
SELECT (SELECT count(*) FROM pgfuse.memories m WHERE m.fts <> '' AND NOT EXISTS
           (SELECT FROM found f WHERE (f.profile_id, f.id) = (m.profile_id, m.id))) AS without_postings,
       (SELECT count(*) FROM found f WHERE NOT EXISTS
           (SELECT FROM pgfuse.memories m WHERE (m.profile_id, m.id) = (f.profile_id, f.id))) AS without_memory,
       (SELECT count(*) FROM (SELECT profile_id, count(*) AS docs FROM pgfuse.memories GROUP BY profile_id) m
           FULL JOIN (SELECT profile_id, sum(docs) AS docs FROM pgfuse.lexical_stats GROUP BY profile_id) s
           USING (profile_id) WHERE coalesce(m.docs, 0) <> coalesce(s.docs, 0)
       ) AS wrong_counts
"""

Level = Literal["error", "warning"]


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be, and what to do about it."""

    level: Level
    about: str
    message: str
    action: str


@dataclass(frozen=True)
class Report:
    """What was looked at, and what was found."""

    facts: dict[str, Any]
    findings: tuple[Finding, ...]

    @property
    def healthy(self) -> bool:
        """No finding is an error; a warning is advice."""
        return all(finding.level != "error" for finding in self.findings)


def examine(conn: psycopg.Connection[Any]) -> Report:
    """Look the database over; only reads, and reads each table at most a few times."""
    facts = _rows(conn, VERSIONS)[0]
    findings = list(_version_findings(facts))
    if facts["migrated"]:
        facts["schema"] = _rows(conn, "SELECT pgfuse.schema_version() AS version")[0]["version"]
        findings += _schema_findings(facts["schema"])
    if facts.get("schema") == SCHEMA_VERSION:
        for look in LOOKS:
            findings += look(conn, facts)
    return Report(facts, tuple(findings))


def _rows(conn: psycopg.Connection[Any], query: str) -> list[dict[str, Any]]:
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query).fetchall()


def _version_findings(facts: dict[str, Any]) -> Iterator[Finding]:
    if facts["major"] not in SERVERS:
        wanted = f"{SERVERS[0]} to {SERVERS[-1]}"
        yield Finding("warning", "server", f"PostgreSQL {facts['server']} is not tested.", f"Use PostgreSQL {wanted}.")
    if facts["pgvector"] is None:
        yield Finding("error", "pgvector", "The extension vector is not in this database.", "Run `pgfuse migrate`.")
    else:
        yield from _pgvector_findings(facts["pgvector"])
    if not facts["migrated"]:
        yield Finding("error", "schema", "The database is not migrated.", "Run `pgfuse migrate`.")


def _pgvector_findings(version: str) -> Iterator[Finding]:
    number = tuple(int(part) for part in re.findall(r"\d+", version)[:3])
    upgrade = "Install a newer pgvector on the server, then run ALTER EXTENSION vector UPDATE in this database"
    if number < PGVECTOR_NEEDED:
        yield Finding("error", "pgvector", f"pgvector {version} is too old: 0.8.0 is needed.", f"{upgrade}.")
    elif number < PGVECTOR_ADVISED:
        message = f"pgvector {version} lacks fixes for corrupted indexes that 0.8.4 has."
        yield Finding("warning", "pgvector", message, f"{upgrade} and REINDEX TABLE CONCURRENTLY pgfuse.vectors.")


def _schema_findings(version: int) -> Iterator[Finding]:
    message = f"The schema has version {version}, and this package works with {SCHEMA_VERSION}."
    if version < SCHEMA_VERSION:
        yield Finding("error", "schema", message, "Run `pgfuse migrate`.")
    elif version > SCHEMA_VERSION:
        yield Finding("error", "schema", message, "Install the newer pgfuse that migrated this database.")


def _look_at_indexes(conn: psycopg.Connection[Any], facts: dict[str, Any]) -> Iterator[Finding]:
    found = {row["name"]: row["valid"] for row in _rows(conn, INDEXES)}
    facts["indexes"] = len(found)
    for name, statement in _expected_indexes(conn).items():
        if name not in found:
            yield Finding("error", "index", f"The index pgfuse.{name} is missing.", f"Run: {statement}")
    for name, valid in found.items():
        if not valid:
            message = f"The index pgfuse.{name} is invalid: an online build was broken off or still runs."
            yield Finding("error", "index", message, f"When no build runs: REINDEX INDEX CONCURRENTLY pgfuse.{name}")


def _expected_indexes(conn: psycopg.Connection[Any]) -> dict[str, str]:
    """Each index by name, with the statement that builds it without stopping writers."""
    expected = {}
    for path in sorted((resource("sql") / "indexes").glob("*.sql")):
        lines = (line for line in path.read_text().splitlines() if not line.startswith("--"))
        expected[path.stem] = " ".join(" ".join(lines).split()).replace(" INDEX ", " INDEX CONCURRENTLY ", 1)
    return expected | {row["name"]: row["statement"] for row in _rows(conn, SPACE_INDEXES)}


def _look_at_spaces(conn: psycopg.Connection[Any], facts: dict[str, Any]) -> Iterator[Finding]:
    facts["spaces"] = _rows(conn, SPACES)
    if not any(space["active"] for space in facts["spaces"]):
        action = "Run SELECT pgfuse.activate_space(space_id) with one of pgfuse.spaces."
        yield Finding("error", "space", "No space is active, so no vector is searched.", action)


def _look_at_vectors(conn: psycopg.Connection[Any], facts: dict[str, Any]) -> Iterator[Finding]:
    facts["vectors"] = {row.pop("route"): row for row in _rows(conn, MISSING)}
    for route, count in facts["vectors"].items():
        if count["missing"]:
            # A text without any word that the model knows has no vector, and a few of those are no fault.
            level: Level = "error" if count["missing"] > count["wanted"] / 100 else "warning"
            message = f"{count['missing']} of {count['wanted']} memories have no {route} vector in the active space."
            yield Finding(level, "vectors", message, "Run `pgfuse reembed`, or store vectors of your own for them.")


def _look_at_words(conn: psycopg.Connection[Any], facts: dict[str, Any]) -> Iterator[Finding]:
    facts["lexical"] = _rows(conn, LEXICAL)[0]
    for key, message in {
        "without_postings": "memories have words but cannot be found by them",
        "without_memory": "removed memories are still in the inverted index",
        "wrong_counts": "profiles have a wrong number of memories in pgfuse.lexical_stats",
    }.items():
        if count := facts["lexical"][key]:
            yield Finding("error", "lexical", f"{count} {message}.", REPAIR_WORDS)


REPAIR_WORDS = "Rows were written with triggers off. Build the inverted index anew: SELECT pgfuse.rebuild_lexical()"
LOOKS: tuple[Callable[[psycopg.Connection[Any], dict[str, Any]], Iterator[Finding]], ...] = (
    _look_at_spaces,
    _look_at_indexes,
    _look_at_vectors,
    _look_at_words,
)
