-- Half precision finds the same neighbours in half the space, but for vectors so short that it blurs them; what it finds is compared exactly.
CREATE FUNCTION pgfuse.placed_type(dim int) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN format('%s(%s)', CASE WHEN dim < 64 THEN 'vector' ELSE 'halfvec' END, least(dim, 3984) + 16);
