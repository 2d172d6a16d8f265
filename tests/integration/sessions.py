"""Random turns of conversations that come, change, move and go, for state machines."""

from typing import Any

import psycopg
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import pgfuse
from pgfuse.vectors import to_text
from tests.integration.derived import check_next_user
from tests.integration.fake_embedder import FakeEmbedder, vector_of

KEYS = st.sampled_from([f"t{number}" for number in range(7)])
SESSIONS = st.sampled_from(["A", "A", "B", None])
POSITIONS = st.sampled_from([-(2**31), -1, 0, 1, 1, 2, 3, 2**31 - 1, None])
SAID = st.sampled_from([None, "hello", "how are you", "bye", "zero"])
PLACE = {
    "session_id": SESSIONS,
    "position": POSITIONS,
    "granularity": st.sampled_from(["chunk", "chunk", "turn", "session"]),
}
TURN = st.fixed_dictionaries(
    PLACE | {"external_id": KEYS, "user_text": SAID | st.just(" "), "content": st.sampled_from(["hm", "zero"])}
)
MOVES = st.sampled_from(
    [
        "position = position + 1",
        "position = -position",
        "session_id = 'B'",
        "granularity = 'turn'",
        "user_text = NULL",
        "user_text = 'sql'",
    ]
)
CHOSEN = "WHERE external_id = %(key)s"
OF_TURN = "(profile_id, memory_id) IN (SELECT profile_id, id FROM pgfuse.memories WHERE external_id = %(key)s)"


class Sessions(RuleBasedStateMachine):
    """Two profiles, two sessions, two spaces (2 is the second); all in a transaction that is rolled back."""

    def __init__(self, conn: psycopg.Connection[Any]) -> None:
        super().__init__()
        self.conn = conn
        self.savepoints = 0

    def teardown(self) -> None:
        self.conn.rollback()

    @rule(
        profile=st.sampled_from("ppq"),
        turns=st.lists(TURN, min_size=1, max_size=5, unique_by=lambda turn: turn["external_id"]),
    )
    def remember(self, profile: str, turns: list[dict[str, Any]]) -> None:
        pgfuse.remember(self.conn, profile, turns, embedder=FakeEmbedder())

    @rule(keys=st.lists(KEYS, max_size=3))
    def forget(self, keys: list[str]) -> None:
        pgfuse.forget(self.conn, "p", external_ids=keys)

    @rule(session=SESSIONS)
    def forget_session(self, session: str | None) -> None:
        pgfuse.forget(self.conn, "p", session_ids=[session] if session else [])

    @rule(turn=TURN)
    def insert(self, turn: dict[str, Any]) -> None:
        self.conn.execute(
            "INSERT INTO pgfuse.memories (profile_id, session_id, position, granularity, user_text, content) "
            "VALUES ('p', %(session_id)s, %(position)s, %(granularity)s, nullif(%(user_text)s, ' '), %(content)s)",
            turn,
        )

    @rule(move=MOVES)
    def move_all(self, move: str) -> None:
        self.conn.execute(f"UPDATE pgfuse.memories SET {move} WHERE position BETWEEN -1000 AND 1000")

    @rule(turn=TURN)
    def move(self, turn: dict[str, Any]) -> None:
        self.conn.execute(
            "UPDATE pgfuse.memories SET session_id = %(session_id)s, position = %(position)s, "
            "granularity = %(granularity)s WHERE external_id = %(external_id)s",
            turn,
        )

    @rule(key=KEYS)
    def delete(self, key: str) -> None:
        self.conn.execute(f"DELETE FROM pgfuse.memories {CHOSEN}", {"key": key})

    @rule(key=KEYS)
    def lose_vectors(self, key: str) -> None:
        self.conn.execute(f"DELETE FROM pgfuse.vectors WHERE {OF_TURN} AND route <> 'vec_next_user'", {"key": key})

    @rule(key=KEYS, text=st.sampled_from("xyz"))
    def change_vectors(self, key: str, text: str) -> None:
        params = {"key": key, "vector": to_text(vector_of(text))}
        self.conn.execute(
            f"UPDATE pgfuse.vectors SET embedding = %(vector)s WHERE {OF_TURN} AND route = 'vec_user'", params
        )

    @rule(key=KEYS, text=st.sampled_from("xyz"))
    def add_to_the_second_space(self, key: str, text: str) -> None:
        self.conn.execute(
            "INSERT INTO pgfuse.vectors (profile_id, memory_id, space_id, route, embedding) "
            "SELECT profile_id, id, 2, 'vec_user', %(vector)s FROM pgfuse.memories "
            "WHERE external_id = %(key)s AND user_text IS NOT NULL ON CONFLICT DO NOTHING",
            {"key": key, "vector": to_text(vector_of(text))},
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
    def links_are_right(self) -> None:
        check_next_user(self.conn)
