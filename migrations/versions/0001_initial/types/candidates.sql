-- What one route found: ids and scores, best first. also_* are scores of other routes' candidates, which this route did not return.
-- share is what the route counts in a linear combination; adjusted_scores replace the scores there, those of ids first, then of also_ids.
CREATE TYPE pgfuse.candidates AS (
    route text,
    weight float8,
    ids bigint[],
    scores float8[],
    also_ids bigint[],
    also_scores float8[],
    share float8,
    adjusted_scores float8[],
    method text,
    complete boolean,
    detail jsonb
);
