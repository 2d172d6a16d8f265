-- The HNSW index serves only a plain ORDER BY with a literal space and route, so the statement is made here; exact similarities and ties
-- come after it. The search is as wide as _breadth times what is asked for, and wider in a larger graph. What is set for the scan is set back.
-- dimension is the local intrinsic dimension of what was found (Levina and Bickel's estimate from the distances): the higher it is, the more
-- a graph misses.
CREATE FUNCTION pgfuse.dense_hnsw(
    _profile text, _scope pgfuse.scope, _filters text, _space pgfuse.spaces, _route text, _indexed float8, _query vector, _most int, _breadth float8,
    OUT ids bigint[], OUT scores float8[], OUT dimension float8)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
SET enable_sort = off
AS $$
DECLARE
    ef CONSTANT text := current_setting('hnsw.ef_search');
    iterative CONSTANT text := current_setting('hnsw.iterative_scan');
    width CONSTANT float8 := _most * _breadth * greatest(1, 1 + 0.4 * ln(_indexed / 100000));
BEGIN
    PERFORM set_config('hnsw.ef_search', least(1000, greatest(width::int, 40))::text, true), set_config('hnsw.iterative_scan', 'relaxed_order', true);
    EXECUTE format(
        'SELECT array_agg(n.memory_id), array_agg(pgfuse.similarity(n.embedding, $3)) FROM (
            SELECT v.memory_id, v.embedding FROM pgfuse.vectors v
            WHERE v.space_id = %1$s AND v.route = %2$L %3$s AND v.profile_id = $1 %4$s
            ORDER BY pgfuse.placed_vector(v.embedding, v.profile_id, v.route)::%5$s <=> $5::%5$s LIMIT $4) n',
        _space.space_id, _route,
        CASE WHEN starts_with(_route, 'facet_') THEN 'AND starts_with(v.route, ''facet_'')' ELSE '' END,
        CASE WHEN _filters <> '' THEN 'AND EXISTS (SELECT FROM pgfuse.memories m WHERE m.profile_id = v.profile_id AND m.id = v.memory_id'
            || _filters || ' OFFSET 0)' ELSE '' END,
        pgfuse.placed_type(_space.dim))
        INTO ids, scores USING _profile, _scope, _query, _most, pgfuse.placed_vector(_query, _profile, _route);
    PERFORM set_config('hnsw.ef_search', ef, true), set_config('hnsw.iterative_scan', iterative, true);
    SELECT array_agg(t.id), array_agg(t.score), -1 / nullif(avg(ln(t.distance / t.farthest)), 0) INTO ids, scores, dimension
    FROM (SELECT u.id, u.score, greatest(1 - u.score, 1e-9::float8) AS distance, max(greatest(1 - u.score, 1e-9::float8)) OVER () AS farthest
          FROM unnest(ids, scores) AS u (id, score) ORDER BY round(u.score * 1e9::float8) DESC, u.id) t;
END
$$;
