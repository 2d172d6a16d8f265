-- Between which values ts_rank of one lexeme lies, by how often it stands in the text: it is Σ 1 / i² over its places, divided by π² / 6.
CREATE FUNCTION pgfuse.rank_steps() RETURNS float8[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT array_agg((s.total - 0.5::float8 / s.n ^ 2) / 1.64493406685::float8 ORDER BY s.n)
    FROM (SELECT n::float8 AS n, sum(1 / n::float8 ^ 2) OVER (ORDER BY n) AS total FROM generate_series(1, 256) AS n) s;
END;
