"""Random statements on pgfuse.memories, for state machines: every rule is one statement of plain SQL."""

from typing import Any

import psycopg
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.integration.derived import check_lexical

WORDS = ["tea", "teas", "the", "Häuser", "don't", "well-known", "🙂", "x1", "e@mail.org", "run", "running"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
PROFILES = st.sampled_from(["p", "q"])
KEYS = st.sampled_from(["a", "b", "c", "d"])
LANGUAGES = st.sampled_from(["english", "simple", "german"])
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "profile_id": PROFILES,
            "external_id": KEYS | st.none(),
            "language": LANGUAGES,
            "task_tag": st.none() | TEXTS,
            "content": TEXTS,
        }
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda row: (row["profile_id"], row["external_id"] or object()),
)
CONFLICT = (
    "ON CONFLICT (profile_id, external_id) DO UPDATE SET content = excluded.content, language = excluded.language"
)


class Statements(RuleBasedStateMachine):
    """Everything happens in one transaction, which is rolled back at the end."""

    def __init__(self, conn: psycopg.Connection[Any]) -> None:
        super().__init__()
        self.conn = conn
        self.savepoints = 0

    @initialize()
    def begin(self) -> None:
        self.conn.execute("SELECT 1")

    def teardown(self) -> None:
        self.conn.rollback()

    def insert(self, rows: list[dict[str, Any]], end: str) -> None:
        columns = ("profile_id", "external_id", "language", "task_tag", "content")
        values = [row[column] for row in rows for column in columns]
        marks = ", ".join(["(%s, %s, %s::regconfig, %s, %s)"] * len(rows))
        self.conn.execute(f"INSERT INTO pgfuse.memories ({', '.join(columns)}) VALUES {marks} {end}", values)

    @rule(rows=ROWS)
    def upsert(self, rows: list[dict[str, Any]]) -> None:
        self.insert(rows, CONFLICT)

    @rule(rows=ROWS)
    def insert_what_is_new(self, rows: list[dict[str, Any]]) -> None:
        self.insert(rows, "ON CONFLICT DO NOTHING")

    @rule(rows=ROWS)
    def copy(self, rows: list[dict[str, Any]]) -> None:
        with self.conn.cursor().copy("COPY pgfuse.memories (profile_id, language, content) FROM STDIN") as copy:
            for row in rows:
                copy.write_row((row["profile_id"], row["language"], row["content"]))

    @rule(key=KEYS, text=TEXTS)
    def update_content(self, key: str, text: str) -> None:
        self.conn.execute("UPDATE pgfuse.memories SET content = %s WHERE external_id = %s", (text, key))

    @rule(profile=PROFILES, language=LANGUAGES)
    def update_language(self, profile: str, language: str) -> None:
        self.conn.execute(
            "UPDATE pgfuse.memories SET language = %s::regconfig WHERE profile_id = %s", (language, profile)
        )

    @rule(key=KEYS | st.none(), text=TEXTS | st.none())
    def update_task_tag(self, key: str | None, text: str | None) -> None:
        self.conn.execute(
            "UPDATE pgfuse.memories SET task_tag = %s WHERE external_id IS NOT DISTINCT FROM %s", (text, key)
        )

    @rule(profile=PROFILES, odd=st.integers(0, 1))
    def move(self, profile: str, odd: int) -> None:
        self.conn.execute(
            "UPDATE pgfuse.memories SET profile_id = %s, external_id = NULL WHERE id %% 2 = %s", (profile, odd)
        )

    @rule(step=st.integers(-3, 1000))
    def renumber(self, step: int) -> None:
        self.conn.execute("UPDATE pgfuse.memories SET id = id + 100000 + %s WHERE id %% 3 = 0", (step,))

    @rule(key=KEYS, text=TEXTS | st.none())
    def merge(self, key: str, text: str | None) -> None:
        self.conn.execute(
            "MERGE INTO pgfuse.memories m USING (SELECT 'p', %s, %s) AS n (p, e, c) "
            "ON m.profile_id = n.p AND m.external_id = n.e WHEN MATCHED AND n.c IS NULL THEN DELETE "
            "WHEN MATCHED THEN UPDATE SET content = n.c WHEN NOT MATCHED AND n.c IS NOT NULL THEN "
            "INSERT (profile_id, external_id, content) VALUES (n.p, n.e, n.c)",
            (key, text),
        )

    @rule(key=KEYS)
    def delete(self, key: str) -> None:
        self.conn.execute("DELETE FROM pgfuse.memories WHERE external_id = %s", (key,))

    @rule(profile=PROFILES)
    def delete_profile(self, profile: str) -> None:
        self.conn.execute("DELETE FROM pgfuse.memories WHERE profile_id = %s", (profile,))

    @rule()
    def truncate(self) -> None:
        self.conn.execute("TRUNCATE pgfuse.memories CASCADE")

    @rule()
    def tidy(self) -> None:
        self.conn.execute(
            "SELECT pgfuse.tidy_lexical(profile_id, array_agg(DISTINCT term)) FROM pgfuse.postings GROUP BY profile_id"
        )

    @rule()
    def savepoint(self) -> None:
        self.savepoints += 1
        self.conn.execute(f"SAVEPOINT s{self.savepoints}")

    @precondition(lambda self: self.savepoints)
    @rule(undo=st.booleans())
    def end_savepoint(self, undo: bool) -> None:
        self.conn.execute(f"{'ROLLBACK TO' if undo else 'RELEASE'} SAVEPOINT s{self.savepoints}")
        self.savepoints -= 1

    @invariant()
    def everything_follows(self) -> None:
        check_lexical(self.conn)
