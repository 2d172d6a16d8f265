-- pgvector's HNSW takes at most 2,000 dimensions as vector and 4,000 as halfvec.
CREATE FUNCTION pgfuse.placed_type(dim int) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN format('%s(%s)', CASE WHEN dim <= 1984 THEN 'vector' ELSE 'halfvec' END, least(dim, 3984) + 16);
