-- A vector that is nearly nothing has no direction: what is left of it is rounding.
CREATE FUNCTION pgfuse.direction(_a vector) RETURNS vector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN vector_norm(_a) < 1e-5 THEN _a - _a ELSE l2_normalize(_a) END;
