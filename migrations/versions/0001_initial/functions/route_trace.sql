-- What every known route did: executed, empty, skipped (weight 0) or unavailable (nothing to search it with).
CREATE FUNCTION pgfuse.route_trace(_found pgfuse.candidates[], _weights jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT jsonb_object_agg(w.key, jsonb_build_object(
            'status', CASE WHEN w.value::float8 = 0 THEN 'skipped' WHEN f.route IS NULL THEN 'unavailable'
                           WHEN cardinality(f.ids) > 0 THEN 'executed' ELSE 'empty' END,
            'method', f.method, 'candidates', coalesce(cardinality(f.ids), 0), 'complete', f.complete, 'top_score', f.scores[1])
        || CASE WHEN f.share IS NOT NULL THEN jsonb_build_object('share', f.share) ELSE '{}' END || coalesce(f.detail, '{}'))
    FROM jsonb_each_text(_weights) w LEFT JOIN unnest(_found) f ON f.route = w.key;
END;
