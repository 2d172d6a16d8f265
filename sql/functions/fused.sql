-- Every candidate with its fused scores.
CREATE FUNCTION pgfuse.fused(_found pgfuse.candidates[], _k float8, _total float8)
RETURNS TABLE (memory_id bigint, rrf float8, blend float8, linear float8, vector float8, lexical float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 200
BEGIN ATOMIC
    SELECT r.memory_id, coalesce(sum(r.weight / (_k + r.rank)), 0),
           coalesce(sum(r.weight / _total * r.score / r.best) FILTER (WHERE r.rank IS NOT NULL AND r.best > 0), 0),
           sum(r.share * r.normalised),
           max(r.score) FILTER (WHERE r.rank IS NOT NULL AND r.route <> 'lexical'),
           max(r.score) FILTER (WHERE r.rank IS NOT NULL AND r.route = 'lexical')
    FROM pgfuse.ranked(_found) r GROUP BY r.memory_id;
END;
