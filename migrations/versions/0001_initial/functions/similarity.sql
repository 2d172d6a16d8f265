CREATE FUNCTION pgfuse.similarity(_a vector, _b vector) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 1 - (_a <=> _b);
