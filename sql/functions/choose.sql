-- Fuses the candidates, groups turns under their sessions, adds recency and stored quality, orders, and cuts.
CREATE FUNCTION pgfuse.choose(_profile text, _found pgfuse.candidates[], _settings jsonb, _now timestamptz, _most int)
RETURNS SETOF pgfuse.placed
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    is_linear CONSTANT boolean := _settings ->> 'fusion' IN ('linear', 'adaptive');
    k CONSTANT float8 := (_settings ->> 'rrf_k')::float8;
    total CONSTANT float8 := (SELECT sum(w.value::float8) FROM jsonb_each_text(_settings -> 'weights') w);
    memory_weight CONSTANT float8 := (_settings ->> 'memory_weight')::float8;
    session_first CONSTANT boolean := (_settings ->> 'session_first')::boolean;
    turn_factor CONSTANT float8 := (_settings ->> 'turn_factor')::float8;
    turn_cap CONSTANT float8 := (_settings ->> 'turn_cap')::float8;
    half_life CONSTANT float8 := (_settings ->> 'recency_half_life_days')::float8;
    grouped CONSTANT boolean := _settings ->> 'group_by' IS NOT NULL;
    per_group CONSTANT int := (_settings ->> 'per_group')::int;
BEGIN
    IF memory_weight = 0 AND NOT session_first AND half_life IS NULL AND NOT grouped THEN
        RETURN QUERY
        SELECT row_number() OVER (), b.memory_id, NULL::bigint, m.granularity, m.session_id, m.position, b.rrf, b.blend,
               CASE WHEN is_linear THEN b.linear END, b.base, 1::float8, 0::float8, 0::bigint, NULL::bigint
        FROM (SELECT f.*, CASE WHEN is_linear THEN f.linear ELSE f.rrf END AS base FROM pgfuse.fused(_found, k, total) f
              ORDER BY round(CASE WHEN is_linear THEN f.linear ELSE f.rrf END * 1e12::float8) DESC, round(f.blend * 1e12::float8) DESC,
                  round(f.vector * 1e9::float8) DESC NULLS LAST, round(f.lexical * 1e9::float8) DESC NULLS LAST, f.memory_id
              LIMIT _most) b
        CROSS JOIN LATERAL (
            SELECT m.granularity, m.session_id, m.position FROM pgfuse.memories m WHERE m.profile_id = _profile AND m.id = b.memory_id OFFSET 0) m;
        RETURN;
    END IF;
    RETURN QUERY
    WITH based AS MATERIALIZED (
        SELECT f.*, CASE WHEN is_linear THEN f.linear ELSE f.rrf END AS base FROM pgfuse.fused(_found, k, total) f
    ), known AS MATERIALIZED (
        SELECT b.*, m.granularity, m.session_id, m.position, m.memory_score,
               CASE WHEN half_life IS NULL THEN 1 WHEN a.half_lives > 1000 THEN 0 ELSE power(0.5::float8, a.half_lives) END AS recency
        FROM based b JOIN pgfuse.memories m ON m.profile_id = _profile AND m.id = b.memory_id
        CROSS JOIN LATERAL (SELECT greatest(0, extract(epoch FROM _now - coalesce(m.occurred_at, m.created_at))::float8 / 86400) / half_life) AS a (half_lives)
    ), turns AS MATERIALIZED (
        SELECT DISTINCT ON (n.session_id) n.session_id, n.base AS best, n.memory_id AS best_turn_id, count(*) OVER (PARTITION BY n.session_id) AS count
        FROM known n WHERE session_first AND n.granularity = 'turn' AND n.session_id IS NOT NULL
        ORDER BY n.session_id, round(n.base * 1e12::float8) DESC, n.memory_id
    ), supported AS MATERIALIZED (
        SELECT n.*, t.best_turn_id, t.count AS turn_count, CASE WHEN t.best IS NULL THEN 0 ELSE least(turn_cap, turn_factor * t.best) END AS support
        FROM known n LEFT JOIN turns t ON n.granularity = 'session' AND t.session_id = n.session_id
        WHERE n.granularity = 'session' OR NOT (session_first AND EXISTS (SELECT FROM known s WHERE s.granularity = 'session'))
    ), scored AS MATERIALIZED (
        SELECT s.*, (s.base + s.support) * s.recency + memory_weight * s.memory_score AS final FROM supported s
    ), ordered AS MATERIALIZED (
        SELECT s.*, row_number() OVER (ORDER BY round(s.final * 1e12::float8) DESC, round(s.blend * 1e12::float8) DESC,
            round(s.vector * 1e9::float8) DESC NULLS LAST, round(s.lexical * 1e9::float8) DESC NULLS LAST, s.memory_id) AS place FROM scored s
    ), limited AS (
        SELECT o.*, CASE WHEN grouped THEN row_number() OVER (PARTITION BY o.session_id, CASE WHEN o.session_id IS NULL THEN o.memory_id END ORDER BY o.place) ELSE 0 END AS in_group
        FROM ordered o
    )
    SELECT row_number() OVER (ORDER BY l.place), l.memory_id, NULL::bigint, l.granularity, l.session_id, l.position,
           CASE WHEN is_linear THEN l.rrf ELSE l.rrf + l.support END, l.blend, CASE WHEN is_linear THEN l.linear END, l.final, l.recency,
           l.support, coalesce(l.turn_count, 0), l.best_turn_id
    FROM limited l WHERE l.in_group <= per_group
    ORDER BY l.place LIMIT _most;
END
$$;
