-- How many candidates each route gives, and how many fused ones are kept.
CREATE FUNCTION pgfuse.pools(_settings jsonb, _top_k int, OUT per_route int, OUT final_pool int)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE WHEN p.given IS NULL THEN greatest(2 * greatest(4 * _top_k, 32), 40) ELSE p.given END,
           coalesce(p.given, greatest(4 * _top_k, 32))
    FROM (SELECT (_settings ->> 'pool_multiplier')::int * _top_k AS given) p;
END;
