-- The routes' candidates as rows. rank is NULL where a route scored a memory without returning it.
CREATE FUNCTION pgfuse.ranked(_found pgfuse.candidates[])
RETURNS TABLE (route text, weight float8, share float8, memory_id bigint, rank bigint, score float8, best float8, normalised float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 200
BEGIN ATOMIC
    SELECT f.route, f.weight, f.share, c.id, c.rank, c.score, f.scores[1],
           CASE WHEN e.high > e.low THEN (coalesce(a.score, c.score) - e.low) / (e.high - e.low) ELSE 1 END
    FROM unnest(_found) f
    CROSS JOIN LATERAL (SELECT min(x.s) AS low, max(x.s) AS high FROM unnest(coalesce(f.adjusted_scores, f.scores || f.also_scores)) AS x (s)) e
    CROSS JOIN LATERAL (
        SELECT r.id, r.rank, r.score FROM unnest(f.ids, f.scores) WITH ORDINALITY AS r (id, score, rank)
        UNION ALL
        SELECT o.id, NULL, o.score FROM unnest(f.also_ids, f.also_scores) AS o (id, score)
    ) c
    LEFT JOIN LATERAL unnest(f.adjusted_ids, f.adjusted_scores) AS a (id, score) ON a.id = c.id
    WHERE cardinality(f.ids) > 0;
END;
