-- The chosen memories with their texts and the account of how each came there. Only memories and vectors are looked up one by one.
CREATE FUNCTION pgfuse.hit_rows(_profile text, _chosen pgfuse.placed[], _found pgfuse.candidates[], _settings jsonb, _vector_space int)
RETURNS SETOF pgfuse.hit
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
SET enable_nestloop = off
AS $$
DECLARE
    k CONSTANT float8 := (_settings ->> 'rrf_k')::float8;
    linear CONSTANT boolean := _settings ->> 'fusion' IN ('linear', 'adaptive');
    recent CONSTANT boolean := _settings ->> 'recency_half_life_days' IS NOT NULL;
BEGIN
    RETURN QUERY
    WITH ranked AS MATERIALIZED (
        SELECT r.* FROM pgfuse.ranked(_found) r
        WHERE r.memory_id IN (SELECT c.id FROM unnest(_chosen) c UNION SELECT c.best_turn_id FROM unnest(_chosen) c)
    ), parts AS MATERIALIZED (
        SELECT r.memory_id,
               array_agg(r.route ORDER BY r.route) FILTER (WHERE r.rank IS NOT NULL) AS routes,
               array_remove(ARRAY[CASE WHEN bool_or(r.route <> 'lexical' AND r.rank IS NOT NULL) THEN 'semantic' END,
                                  CASE WHEN bool_or(r.route = 'lexical' AND r.rank IS NOT NULL) THEN 'lexical' END], NULL) AS sources,
               jsonb_object_agg(r.route, jsonb_build_object('rank', r.rank, 'score', r.score, 'weight', r.weight,
                   'contribution', coalesce(r.weight / (k + r.rank), 0))
                   || CASE WHEN linear THEN jsonb_build_object('normalised', r.normalised, 'share', r.share, 'linear', r.share * r.normalised) ELSE '{}' END) AS explain
        FROM ranked r GROUP BY r.memory_id
    )
    SELECT m.id, m.external_id, m.content, m.kind, m.granularity, m.session_id, m.position, m.tags, m.metadata, m.memory_score, m.occurred_at,
           c.rrf_score, c.blend_score, c.final_score,
           CASE WHEN c.neighbor_of IS NULL THEN p.routes ELSE '{}' END, CASE WHEN c.neighbor_of IS NULL THEN p.sources ELSE '{}' END,
           CASE WHEN c.neighbor_of IS NOT NULL THEN jsonb_build_object('routes', '{}'::jsonb)
           ELSE jsonb_build_object('fusion', _settings -> 'fusion', 'routes', p.explain, 'memory_score', m.memory_score,
                    'memory_weight', _settings -> 'memory_weight')
                || CASE WHEN linear THEN jsonb_build_object('linear_score', c.linear_score) ELSE '{}' END
                || CASE WHEN recent THEN jsonb_build_object('recency', c.recency) ELSE '{}' END
                || CASE WHEN m.granularity = 'session' AND (_settings ->> 'session_first')::boolean THEN jsonb_build_object(
                    'session_rrf_score', c.rrf_score - CASE WHEN linear THEN 0 ELSE c.turn_support END, 'turn_support', c.turn_support,
                    'supporting_turn_count', c.supporting_turn_count, 'best_turn_routes', coalesce(to_jsonb(t.routes), '[]')) ELSE '{}' END
           END,
           c.neighbor_of, vector_send(v.embedding), NULL::jsonb
    FROM unnest(_chosen) c
    CROSS JOIN LATERAL (
        SELECT m.id, m.external_id, m.content, m.kind, m.granularity, m.session_id, m.position, m.tags, m.metadata, m.memory_score, m.occurred_at
        FROM pgfuse.memories m WHERE m.profile_id = _profile AND m.id = c.id OFFSET 0) m
    LEFT JOIN parts p ON p.memory_id = c.id
    LEFT JOIN parts t ON t.memory_id = c.best_turn_id
    LEFT JOIN LATERAL (
        SELECT v.embedding FROM pgfuse.vectors v
        WHERE v.profile_id = _profile AND v.memory_id = c.id AND v.space_id = _vector_space AND v.route = 'vec_full' OFFSET 0) v ON true
    ORDER BY c.place, (c.neighbor_of IS NOT NULL), c.position, c.id;
END
$$;
