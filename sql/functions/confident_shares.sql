-- A route counts by its weight times how far its best score stands out: (max - mean) / standard deviation over all candidates.
-- One whose scores are all alike has found nothing of worth, and has no say.
CREATE FUNCTION pgfuse.confident_shares(_found pgfuse.candidates[]) RETURNS float8[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    RETURN (
        SELECT array_agg(CASE WHEN s.total > 0 THEN s.power / s.total ELSE s.weight / s.weights END ORDER BY s.place)
        FROM (SELECT c.place, c.weight, c.power, sum(c.power) OVER () AS total, sum(c.weight) OVER () AS weights
              FROM (SELECT f.ordinality AS place, f.weight,
                           CASE WHEN cardinality(f.ids) > 0 AND z.spread > 1e-6::float8 THEN f.weight * (z.best - z.mean) / z.spread ELSE 0 END AS power
                    FROM unnest(_found) WITH ORDINALITY f
                    CROSS JOIN LATERAL (SELECT max(x.s) AS best, avg(x.s) AS mean, stddev_pop(x.s) AS spread
                                        FROM unnest(f.scores || f.also_scores) AS x (s)) z) c) s);
END
$$;
