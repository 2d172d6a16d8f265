CREATE FUNCTION pgfuse.word_count(fts tsvector) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(sum(cardinality(l.positions)), 0)::int FROM unnest(fts) l;
END;
