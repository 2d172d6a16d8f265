-- A vector that is nearly nothing after centring has no direction: what is left of it is rounding.
CREATE FUNCTION pgfuse.centred_similarity(_a vector, _b vector) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN vector_norm(_a) < 1e-5 OR vector_norm(_b) < 1e-5 THEN 0 ELSE pgfuse.similarity(_a, _b) END;
