-- A memory with its place in the result and what led there.
CREATE TYPE pgfuse.placed AS (
    place bigint,
    id bigint,
    neighbor_of bigint,
    granularity text,
    session_id text,
    "position" int,
    rrf_score float8,
    blend_score float8,
    linear_score float8,
    final_score float8,
    recency float8,
    turn_support float8,
    supporting_turn_count bigint,
    best_turn_id bigint
);
