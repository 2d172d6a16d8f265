"""Which index each route uses at every size of a profile, and that weight 0 runs nothing: auto_explain shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.rows import scalar_row

import pgfuse
from pgfuse import migrate

pytestmark = pytest.mark.slow
Connection = psycopg.Connection[Any]
SIZES = {"ten": 10, "hundred": 100, "small": 1000, "middling": 10000, "large": 100000}
OTHER_ROUTES = ("vec_user", "vec_asst", "vec_next_user", "facet_personal_info", "facet_preferences", "facet_events")
OTHERS = 16000  # vectors of each other route in the largest profile
RARE = 300  # vectors of a route that few memories have
QUERY = "common w5 v77"
VECTOR = [0.3, -0.2, 0.5]
FILL = """
INSERT INTO pgfuse.memories (profile_id, content, session_id, position, kind, tags, metadata, project_id, occurred_at)
SELECT %(profile)s, format('common w%%s v%%s u%%s', i %% 97, i %% 5003, i), 's' || i / 20, i %% 20,
    CASE WHEN i %% 50 = 0 THEN 'semantic' ELSE 'episodic' END, ARRAY['t' || i %% 500], jsonb_build_object('m',
    i %% 500),
    CASE WHEN i %% 500 = 0 THEN 'j' END, timestamptz '2024-01-01Z' + i * interval '1 minute'
FROM generate_series(1, %(rows)s) AS i
"""
VECTORS = """
INSERT INTO pgfuse.vectors (profile_id, memory_id, space_id, route, embedding)
SELECT m.profile_id, m.id, s.space_id, 'vec_full', ARRAY[sin(m.id), cos(m.id * 7), sin(m.id * 13)]::real[]::vector
FROM pgfuse.memories m, pgfuse.spaces s WHERE s.active
"""
VECTORS_OF_OTHERS = """
INSERT INTO pgfuse.vectors (profile_id, memory_id, space_id, route, embedding)
SELECT v.profile_id, v.memory_id, v.space_id, r.route, v.embedding
FROM (SELECT v.*, row_number() OVER (PARTITION BY v.profile_id ORDER BY v.memory_id) AS place
      FROM pgfuse.vectors v WHERE v.route = 'vec_full') v
CROSS JOIN unnest(%s::text[]) AS r (route) WHERE v.place <= %s
"""
INDEXES = "SELECT indexrelid::regclass::text FROM pg_index WHERE indexrelid::regclass::text LIKE 'pgfuse.vectors_hnsw%'"
EXPLAINED = {
    "log_min_duration": "0", "log_nested_statements": "on", "log_analyze": "on", "log_timing": "off",
    "log_level": "notice"
}  # fmt: skip


@pytest.fixture(scope="module")
def large_url(databases: Callable[[str | None], str]) -> str:
    """Five profiles of 10 to 100,000 memories; the HNSW indexes are built after the rows, which is faster."""
    url = databases(None)
    migrate.upgrade(url, dim=3, model="the-callers-own")
    with psycopg.connect(url, autocommit=True, row_factory=scalar_row) as conn:
        conn.execute("SET maintenance_work_mem = '256MB'")
        conn.execute("SET max_parallel_maintenance_workers = 0")  # a container has little shared memory
        for name in conn.execute(INDEXES).fetchall():
            conn.execute(f"DROP INDEX {name}")
        for profile, rows in SIZES.items():
            conn.execute(FILL, {"profile": profile, "rows": rows})
        conn.execute(VECTORS)
        conn.execute("ALTER TABLE pgfuse.vectors DISABLE TRIGGER USER")  # no links between turns are wanted here
        conn.execute(VECTORS_OF_OTHERS, [list(OTHER_ROUTES), OTHERS])
        conn.execute(VECTORS_OF_OTHERS, [["facet_rare"], RARE])
        conn.execute("ALTER TABLE pgfuse.vectors ENABLE TRIGGER USER")
        conn.execute("SELECT pgfuse.create_space_indexes(1)")
        conn.execute("VACUUM ANALYZE pgfuse.memories, pgfuse.vectors, pgfuse.postings, pgfuse.lexical_stats")
    return url


class Explained:
    """A connection whose calls leave the scans of all statements that they ran."""

    def __init__(self, conn: Connection) -> None:
        self.conn = conn
        self.notices: list[str] = []
        conn.add_notice_handler(lambda message: self.notices.append(message.message_primary or ""))
        conn.execute("LOAD 'auto_explain'")
        for name, value in EXPLAINED.items():
            conn.execute("SELECT set_config('auto_explain.' || %s, %s, false)", [name, value])

    def recall(self, profile: str, **options: Any) -> tuple[pgfuse.Recall, list[str]]:
        self.notices.clear()
        hits = pgfuse.recall(self.conn, QUERY, profile, **{"embedding": VECTOR} | options)
        lines = [line.strip().removeprefix("->  ") for notice in self.notices for line in notice.splitlines()]
        wasted = [int(line.rpartition(" ")[2]) for line in lines if line.startswith("Rows Removed by Join Filter")]
        assert sum(wasted) < 200_000, "every row was compared with every other"
        return hits, [line.split("  (")[0] for line in lines if " on " in line and "never executed" not in line]


@pytest.fixture
def explained(large_url: str) -> Iterator[Explained]:
    with psycopg.connect(large_url) as conn:
        yield Explained(conn)
        conn.rollback()


EXACT = ("exact", {"Bitmap Index Scan on vectors_route", "Index Scan using vectors_route on vectors v"})
DENSE = {
    "ten": EXACT,
    "hundred": EXACT,
    "small": EXACT,
    "middling": ("bits", {"Index Only Scan using vectors_route on vectors v"}),
    "large": ("hnsw", {"Index Scan using vectors_hnsw_1_{index} on vectors v"}),
}


@pytest.mark.parametrize("route", ["vec_full", *OTHER_ROUTES])
@pytest.mark.parametrize("profile", SIZES)
def test_a_dense_route(profile: str, route: str, explained: Explained) -> None:
    hits, scans = explained.recall(profile, settings={"weights": {"vec_full": 0, "lexical": 0, route: 1}})
    method, intended = DENSE[profile]
    assert hits.trace["routes"][route]["method"] == method
    assert hits.trace["routes"][route]["complete"] is True
    assert hits.trace["routes"][route]["candidates"] == min(64, SIZES[profile])
    index = "facets" if route.startswith("facet_") else route
    assert {scan.format(index=index) for scan in intended} & set(scans)
    assert not any(scan.startswith("Seq Scan") for scan in scans)


@pytest.mark.parametrize("profile", SIZES)
def test_the_lexical_route(profile: str, explained: Explained) -> None:
    hits, scans = explained.recall(profile, settings={"weights": {"vec_full": 0}})
    assert hits.trace["routes"]["lexical"]["candidates"] == min(64, SIZES[profile])
    assert "Index Only Scan using postings_pkey on postings p" in scans
    assert "Index Scan using postings_pkey on postings p" in scans
    assert not any(scan.startswith("Seq Scan") for scan in scans)


@pytest.mark.parametrize("ranking", ["ts_rank", "ts_rank_cd"])
@pytest.mark.parametrize("profile", ["small", "middling", "large"])
def test_the_ranking_of_postgres(ranking: str, profile: str, explained: Explained) -> None:
    _, scans = explained.recall(
        profile, settings={"lexical_rank": ranking, "lexical_match": "all", "weights": {"vec_full": 0}}
    )
    assert "Bitmap Index Scan on memories_fts" in scans


FILTERS: dict[str, tuple[dict[str, Any], str]] = {
    "session_ids": ({"session_ids": ["s3"]}, "memories_session"),
    "tags": ({"tags": ["t7"]}, "memories_labels"),
    "metadata": ({"metadata": {"m": 7}}, "memories_labels"),
    "kinds": ({"kinds": "semantic"}, "memories_kind"),
    "since and until": ({"since": "2024-01-01T00:00Z", "until": "2024-01-01T01:00Z"}, "memories_time"),
    "project_id": ({"project_id": "j"}, "memories_project"),
    "exclude_ids": ({"exclude_ids": [1, 2, 3]}, "memories_pkey"),
}


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("profile", SIZES)
def test_filters(profile: str, name: str, explained: Explained) -> None:
    options, index = FILTERS[name]
    hits, scans = explained.recall(profile, **options)
    # ten or a hundred rows are as well found by any index of the profile, as the sample of statistics has it
    assert any(index in scan for scan in scans) or SIZES[profile] < 1000
    assert not any(scan.startswith("Seq Scan") for scan in scans)
    assert hits or SIZES[profile] < 1000


def test_neighbors(explained: Explained) -> None:
    for profile in ("small", "middling", "large"):
        _, scans = explained.recall(profile, settings={"neighbors": 2})
        assert "Index Scan using memories_session on memories m" in scans


def test_weight_0_is_never_executed(explained: Explained) -> None:
    tables = {"vec_full": "vectors", "lexical": "postings"}
    for profile in SIZES:
        for route, table in tables.items():
            hits, scans = explained.recall(profile, settings={"weights": {route: 0}, "fusion": "rrf"})
            assert hits.trace["routes"][route]["status"] == "skipped"
            read = [scan for scan in scans if f" on {table} " in scan or f" on {table}_" in scan]
            # the one read of vectors that is left is the join that sends them for MMR, which is off
            assert [scan for scan in read if scan != "Index Scan using vectors_pkey on vectors v"] == []


@pytest.mark.parametrize("number", range(9))
def test_only_routes_of_weight_above_0_are_called(number: int, explained: Explained) -> None:
    routes = (
        "vec_full",
        "vec_user",
        "vec_asst",
        "vec_next_user",
        "facet_personal_info",
        "facet_preferences",
        "facet_events",
        "facet_own",
    )
    weights = {route: 1 if place < number else 0 for place, route in enumerate(routes)} | {"lexical": 0}
    explained.conn.execute("SET LOCAL track_functions = 'all'")
    explained.recall("small", settings={"weights": weights})
    counted = "SELECT funcname, calls FROM pg_stat_xact_user_functions WHERE schemaname = 'pgfuse'"
    calls = dict(explained.conn.execute(counted).fetchall())
    assert calls.get("dense_candidates", 0) == number
    assert calls.get("lexical_candidates", 0) == 0


def test_a_route_without_vectors_costs_next_to_nothing(explained: Explained) -> None:
    hits, scans = explained.recall(
        "large", settings={"weights": {"vec_full": 0, "lexical": 0, "facet_mood": 1, "facet_none": 1}}
    )
    assert {hits.trace["routes"][name]["status"] for name in ("facet_mood", "facet_none")} == {"empty"}
    assert not any("hnsw" in scan or scan.startswith("Seq Scan") for scan in scans)


@pytest.mark.parametrize(
    "options",
    [{"exclude_ids": [1]}, {"kinds": "episodic"}, {"kinds": "semantic"}, {"tags": ["t7"]}, {"session_ids": ["s3"]}],
)
def test_however_selective_the_filter_a_route_fills_its_pool(options: dict[str, Any], explained: Explained) -> None:
    matching = {"tags": SIZES["large"] // 500, "session_ids": 20}.get(next(iter(options)), 1000)
    hits, _ = explained.recall("large", **options)
    for route in ("vec_full", "lexical"):
        assert hits.trace["routes"][route]["candidates"] == min(64, matching)
        assert hits.trace["routes"][route]["complete"] is True


def test_a_filter_that_leaves_most_acts_in_a_route_that_few_memories_have(explained: Explained) -> None:
    weights = {"vec_full": 0, "lexical": 0, "facet_rare": 1}
    hits, _ = explained.recall("large", kinds="episodic", top_k=1000, settings={"weights": weights})
    assert len(hits) == RARE - RARE // 50
    assert {hit.kind for hit in hits} == {"episodic"}


def test_a_common_word_fills_the_pool_behind_a_rare_one(explained: Explained) -> None:
    hits = pgfuse.recall(
        explained.conn, "u17 common", "large", settings={"weights": {"vec_full": 0}, "lexical_match": "any"}
    )
    assert hits.trace["routes"]["lexical"]["candidates"] == 64
    assert hits[0].content.endswith(" u17")


def test_bits_and_hnsw_find_what_an_exact_search_finds(explained: Explained) -> None:
    exact = "SELECT memory_id FROM pgfuse.vectors WHERE profile_id = %s AND route = 'vec_full' ORDER BY (embedding <=> %s::vector) + 0 LIMIT 10"
    for profile in ("middling", "large"):
        wanted = {key for (key,) in explained.conn.execute(exact, [profile, str(VECTOR)]).fetchall()}
        hits, _ = explained.recall(profile, top_k=10, preset="semantic")
        assert len(wanted & {hit.id for hit in hits}) >= 9


TRUE_SCORES = """
WITH asked AS (SELECT pgfuse.term('english', w) AS term FROM unnest(%(words)s::text[]) w),
     stats AS (SELECT sum(docs)::float8 AS docs, sum(words)::float8 / sum(docs) AS average FROM pgfuse.lexical_stats WHERE profile_id = 'large'),
     held AS MATERIALIZED (SELECT n.* FROM pgfuse.net_postings('large') n JOIN asked USING (term)),
     idfs AS (SELECT term, ln(1 + (s.docs - count(*) + 0.5) / (count(*) + 0.5)) AS idf FROM held, stats s GROUP BY term, s.docs)
SELECT memory_id, sum(idf * tf / (tf + 0.9 * (0.6 + 0.4 * dl / average)))::float8 AS score FROM held JOIN idfs USING (term), stats GROUP BY 1
"""


def test_a_score_counts_the_terms_whose_postings_were_not_read(explained: Explained) -> None:
    words = ["common", "w5", "v77", "u17"]
    true = dict(explained.conn.execute(TRUE_SCORES, {"words": words}).fetchall())
    hits = pgfuse.recall(explained.conn, " ".join(words), "large", settings={"weights": {"vec_full": 0}})
    assert hits.trace["routes"]["lexical"]["terms_left_out"] == 1
    found = {hit.id: hit.explain["routes"]["lexical"]["score"] for hit in hits}
    assert found == pytest.approx({key: true[key] for key in found}, abs=1e-6)
    assert sorted(found.values()) == pytest.approx(sorted(true.values())[-len(found) :], abs=1e-6)


def test_a_long_query_and_a_word_of_every_row_stay_bounded(explained: Explained) -> None:
    query = " ".join(f"u{n}" for n in range(0, 41000, 10)) + " common"
    hits = pgfuse.recall(explained.conn, query, "large", settings={"weights": {"vec_full": 0}})
    assert hits.trace["routes"]["lexical"]["candidates"] == 64
    assert hits.trace["routes"]["lexical"]["terms_left_out"] == 1
    alone = pgfuse.recall(explained.conn, "common", "large", settings={"weights": {"vec_full": 0}})
    assert alone.trace["routes"]["lexical"]["candidates"] == 64


SHOWN = "SELECT name, setting FROM pg_settings WHERE name ~ '^(hnsw.|enable_|jit$|search_path$|plan_)' ORDER BY name"


@pytest.mark.parametrize("autocommit", [True, False])
def test_what_the_index_scan_sets_is_set_back(autocommit: bool, large_url: str) -> None:
    with psycopg.connect(large_url, autocommit=autocommit) as conn:
        pgfuse.recall(conn, QUERY, "large", embedding=VECTOR)
        conn.execute(
            "SELECT set_config('hnsw.ef_search', '33', false), set_config('hnsw.iterative_scan', 'strict_order', false)"
        )
        before = conn.execute(SHOWN).fetchall()
        assert pgfuse.recall(conn, QUERY, "large", embedding=VECTOR).trace["routes"]["vec_full"]["method"] == "hnsw"
        assert conn.execute(SHOWN).fetchall() == before
        conn.execute("SELECT count(*) FROM pgfuse.recall('large', 'common', %s)", [str(VECTOR)])
        assert conn.execute(SHOWN).fetchall() == before
        conn.execute("SET statement_timeout = '2ms'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            pgfuse.recall(
                conn, QUERY * 2000, "large", embedding=VECTOR, top_k=1000, settings={"weights": {"vec_full": 1}}
            )
        conn.execute("SET statement_timeout = 0")
        assert conn.execute(SHOWN).fetchall() == before


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"settings": {"fusion": "rrf", "neighbors": 2}},
        {"preset": "memory"},
        {"kinds": "episodic"},
        {"exclude_ids": list(range(1, 20_000))},
        {"group_by": "session", "per_group": 3},
        {"settings": {"lexical_match": "websearch"}},
        {"settings": {"lexical_rank": "ts_rank"}},
    ],
)
def test_a_thousand_hits_take_no_quadratic_plan(options: dict[str, Any], explained: Explained) -> None:
    hits, scans = explained.recall("large", top_k=1000, **options)
    assert len(hits) >= 900 or "preset" in options  # MMR leaves out what repeats itself
    assert not any(scan.startswith("Seq Scan") for scan in scans)
