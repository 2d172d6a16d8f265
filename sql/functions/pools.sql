-- How many candidates each route gives, and how many fused ones are kept.
CREATE FUNCTION pgfuse.pools(_settings jsonb, _top_k int, OUT per_route int, OUT final_pool int)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    per_route := (_settings ->> 'pool_multiplier')::int * _top_k;
    final_pool := coalesce(per_route, greatest(4 * _top_k, 32));
    per_route := coalesce(per_route, greatest(2 * final_pool, 40));
END
$$;
