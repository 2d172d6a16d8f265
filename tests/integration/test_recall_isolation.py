"""Two profiles with identical texts, vectors and sessions never see each other's rows, through any parameter."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pgfuse
from tests.oracle.corpus import Doc, insert
from tests.oracle.presets import ROUTES
from tests.oracle.strategies import THOROUGH, examples

pytest_plugins = ("tests.sql.fixtures",)
Connection = psycopg.Connection[Any]
NAMES = (
    "p",
    "q",
    "p'",
    "P",
    "p ",
    "p%",
    "_",
    "p\\",
    "p\n",
    "%",
    "*",
    "p; DROP TABLE pgfuse.memories",
    "' OR '1'='1",
    "p?",
    "\uff50",
    "π",
)
EVERY_ROUTE = {"weights": dict.fromkeys((*ROUTES, "facet_x"), 1.0), "neighbors": 3}


def twins() -> list[Doc]:
    """The same five memories in every profile; the ids say whose they are: profile number times 100."""
    routes = (*(route for route in ROUTES if route not in ("lexical", "vec_next_user")), "facet_x")
    vectors = {route: [1, 0, 0] for route in routes}
    return [
        Doc(id=100 * number + n, profile_id=name, content="apple pie", session_id="s", project_id="j", position=n,
        user_text="apple",
            granularity=granularity, tags=("t",), metadata={"a": 1}, vectors=vectors)
        for number, name in enumerate(NAMES, 1)
        for n, granularity in enumerate(("chunk", "chunk", "turn", "turn", "session"))
    ]  # fmt: skip


def own_ids(profile: str) -> set[int]:
    return {100 * (NAMES.index(profile) + 1) + n for n in range(5)}


@pytest.fixture
def filled(small: Connection) -> Connection:
    insert(small, twins())
    return small


PARAMETERS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "sessions": {"session_ids": ["s"]},
    "project": {"project_id": "j"},
    "excluded": {"exclude_ids": [100, 101]},
    "excluded of another": {"exclude_ids": [200, 300]},
    "kinds": {"kinds": ["episodic"]},
    "granularity": {"granularity": ["chunk", "turn"]},
    "tags": {"tags": ["t"]},
    "metadata": {"metadata": {"a": 1}},
    "since": {"since": "2000-01-01"},
    "until": {"until": "2100-01-01"},
    "as_of": {"as_of": "2100-01-01"},
    "rrf": {"settings": EVERY_ROUTE | {"fusion": "rrf"}},
    "linear": {"settings": EVERY_ROUTE | {"fusion": "linear"}},
    "mmr": {"settings": EVERY_ROUTE | {"mmr": True, "duplicate_threshold": 1, "mmr_lambda": 1}},
    "memory": {"preset": "memory"},
    "sessions first": {"settings": EVERY_ROUTE | {"session_first": True}},
    "all": {"settings": EVERY_ROUTE | {"lexical_match": "all"}},
    "websearch": {"settings": EVERY_ROUTE | {"lexical_match": "websearch"}},
    "ts_rank": {"settings": EVERY_ROUTE | {"lexical_rank": "ts_rank"}},
    "ts_rank_cd": {"settings": EVERY_ROUTE | {"lexical_rank": "ts_rank_cd", "fusion": "linear"}},
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_no_parameter_leads_into_another_profile(name: str, filled: Connection) -> None:
    for profile in NAMES:
        hits = pgfuse.recall(filled, "apple", profile, top_k=1000, embedding=[1, 0, 0], **PARAMETERS[name])
        assert hits, profile
        assert {hit.id for hit in hits} <= own_ids(profile)
        assert {hit.neighbor_of for hit in hits} - {None} <= own_ids(profile)


def test_a_profile_that_does_not_exist_is_empty(filled: Connection) -> None:
    for profile in ("x", "%%", "pp", "p%' --", "p\t", "p" * 500):
        assert len(pgfuse.recall(filled, "apple", profile, embedding=[1, 0, 0])) == 0


@pytest.mark.parametrize("profile", ["", "\0", "p\0", "\ud800", "p\udfff", None, 5, b"p", ["p"]])
def test_a_profile_that_cannot_be_is_refused(profile: Any, filled: Connection) -> None:
    with pytest.raises(pgfuse.InvalidInput, match="profile_id"):
        pgfuse.recall(filled, "apple", profile, embedding=[1, 0, 0])
    assert filled.execute("SELECT 1").fetchone() == (1,)


def test_why_not_knows_nothing_of_another_profiles_memory(filled: Connection) -> None:
    foreign = pgfuse.why_not(filled, "apple", "p", 200, embedding=[1, 0, 0])
    absent = pgfuse.why_not(filled, "apple", "p", 999999, embedding=[1, 0, 0])
    assert foreign | {"id": None} == absent | {"id": None}


def test_the_routes_alone_stay_inside(filled: Connection) -> None:
    for profile in NAMES:
        dense = filled.execute(
            "SELECT id FROM pgfuse.search_dense(%s, '[1,0,0]', 'vec_full', 1000)", [profile]
        ).fetchall()
        lexical = filled.execute("SELECT id FROM pgfuse.search_lexical(%s, 'apple', 1000)", [profile]).fetchall()
        assert {key for (key,) in dense} == {key for (key,) in lexical} == own_ids(profile)


def test_another_profiles_texts_do_not_change_the_scores(small: Connection) -> None:
    insert(small, [Doc(id=1, content="apple pie"), Doc(id=2, content="pear")])
    before = small.execute("SELECT * FROM pgfuse.search_lexical('p', 'apple')").fetchall()
    insert(small, [Doc(id=n, content="apple apple pear", profile_id="q") for n in range(10, 40)])
    assert small.execute("SELECT * FROM pgfuse.search_lexical('p', 'apple')").fetchall() == before


def test_another_profiles_settings_do_not_act(filled: Connection) -> None:
    pgfuse.set_settings(filled, "q", neighbors=3, weights={"lexical": 0}, max_tokens=1)
    trace = pgfuse.recall(filled, "apple", "p", embedding=[1, 0, 0]).trace
    assert (trace["settings"]["neighbors"], trace["settings"]["max_tokens"]) == (0, None)


hostile = st.sampled_from(
    ("'", '"', "%", "\\", "$1", "($2)", "{", "}", "q", "p", ")", "--", " OR TRUE", "\n", "☃", "s", "t")
)
texts = st.lists(hostile, min_size=1, max_size=4).map("".join) | st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), max_size=8
)


@examples(150)
@given(
    options=st.fixed_dictionaries(
        {},
        optional={
            "session_ids": st.lists(texts, max_size=3),
            "project_id": texts,
            "kinds": texts,
            "tags": st.lists(texts, max_size=3),
            "metadata": st.dictionaries(texts, texts | st.integers() | st.none(), max_size=2),
            "exclude_ids": st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5),
        },
    ),
    query=texts,
)
def test_hostile_filters_find_nothing_foreign(options: dict[str, Any], query: str, small: Connection) -> None:
    if small.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
        insert(small, twins())
    hits = pgfuse.recall(small, query, "p", top_k=50, embedding=[1, 0, 0], settings=EVERY_ROUTE, **options)
    assert {hit.id for hit in hits} <= own_ids("p")


fuzzed = st.one_of(
    st.text(max_size=40),
    st.text(st.characters(codec=None, categories=("Cs", "Cc", "Cf", "Co", "Cn", "Zs", "Po", "Sm")), max_size=20),
    st.lists(st.sampled_from(("apple", "&", "|", "!", "<->", ":*", ":A", "(", ")", "'", "''", '"', "\\", "-", "or",
    "and", " ", "\0", "\ud800", "%s", "%(a)s", "{}", "$1")),
             max_size=12).map(" ".join),
    st.lists(st.sampled_from(("apple", "&", "|", "!", "<->", ":*", "(", ")", "'", '"', "\\", "-", "\0")),
    max_size=12).map("".join),
)  # fmt: skip
MATCHES = ("any", "all", "websearch")
RANKINGS = ("bm25", "ts_rank", "ts_rank_cd")


@examples(2000 if not THOROUGH else 400)
@given(
    query=fuzzed,
    match=st.sampled_from(MATCHES),
    ranking=st.sampled_from(RANKINGS),
    fusion=st.sampled_from(("rrf", "linear")),
)
def test_no_query_text_is_an_error_or_leads_astray(
    query: str, match: str, ranking: str, fusion: str, small: Connection
) -> None:
    if small.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
        insert(small, twins()[:10])
        insert(
            small,
            [
                Doc(id=9000 + n, content=content)
                for n, content in enumerate(("it's 'quoted' & \\ back", "a|b <-> c:*", "x"))
            ],
        )
    settings = {"lexical_match": match, "lexical_rank": ranking, "fusion": fusion}
    hits = pgfuse.recall(small, query, "p", embedding=[1, 0, 0], settings=settings)
    assert {hit.id for hit in hits} <= own_ids("p") | {9000, 9001, 9002}
    assert small.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS


def test_sql_in_the_options_is_only_a_value(filled: Connection) -> None:
    options = json.dumps({"tags": ["t') OR (m.profile_id = 'q"], "session_ids": ["s' OR TRUE --"]})
    assert filled.execute(
        "SELECT count(*) FROM pgfuse.recall('p', 'apple', '[1,0,0]', 10, %s)", [options]
    ).fetchone() == (0,)
