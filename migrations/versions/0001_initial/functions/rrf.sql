CREATE FUNCTION pgfuse.rrf(ids anyarray, ranks int[], weights float8[] DEFAULT NULL, k float8 DEFAULT 60, max_rows int DEFAULT NULL)
RETURNS TABLE (id anyelement, rrf_score float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 100
AS $$
    SELECT l.id, sum(coalesce(l.weight, 1) / (k + l.rank)) AS rrf_score
    FROM unnest(ids, ranks, weights) AS l (id, rank, weight)
    WHERE coalesce(l.weight, 1) > 0
    GROUP BY l.id
    ORDER BY round(sum(coalesce(l.weight, 1) / (k + l.rank)) * 1e12::float8) DESC, l.id
    LIMIT max_rows
$$;
