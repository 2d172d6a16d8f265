-- The routes' candidates as rows. rank is NULL where a route scored a memory without returning it.
CREATE FUNCTION pgfuse.ranked(_found pgfuse.candidates[])
RETURNS TABLE (route text, weight float8, share float8, memory_id bigint, rank bigint, score float8, best float8, normalised float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 200
BEGIN ATOMIC
    SELECT f.route, f.weight, f.share, c.id, CASE WHEN c.place <= f.returned THEN c.place END, c.score, f.best,
           CASE WHEN e.high > e.low THEN (coalesce(c.adjusted, c.score) - e.low) / (e.high - e.low) ELSE 1 END
    FROM (SELECT f.route, f.weight, f.share, f.scores[1] AS best, cardinality(f.ids) AS returned, f.adjusted_scores AS adjusted,
                 f.ids || f.also_ids AS ids, f.scores || f.also_scores AS scores FROM unnest(_found) f WHERE cardinality(f.ids) > 0 OFFSET 0) f
    CROSS JOIN LATERAL (SELECT min(x.s) AS low, max(x.s) AS high FROM unnest(coalesce(f.adjusted, f.scores)) AS x (s)) e
    CROSS JOIN LATERAL unnest(f.ids, f.scores, f.adjusted) WITH ORDINALITY AS c (id, score, adjusted, place);
END;
