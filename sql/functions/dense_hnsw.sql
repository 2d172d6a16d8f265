-- The HNSW index serves only a plain ORDER BY with a literal space and route, so the statement is made here; ties and exact
-- similarities come after it. What it sets for the scan is set back.
CREATE FUNCTION pgfuse.dense_hnsw(_profile text, _scope pgfuse.scope, _filters text, _space pgfuse.spaces, _route text, _query vector, _most int)
RETURNS TABLE (memory_id bigint, score float8)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
SET enable_sort = off
AS $$
DECLARE
    ef CONSTANT text := current_setting('hnsw.ef_search');
    iterative CONSTANT text := current_setting('hnsw.iterative_scan');
BEGIN
    PERFORM set_config('hnsw.ef_search', least(1000, greatest(2 * _most, 200))::text, true),
            set_config('hnsw.iterative_scan', 'relaxed_order', true);
    RETURN QUERY EXECUTE format(
        'SELECT n.memory_id, pgfuse.similarity(n.embedding, $3) FROM (
            SELECT v.memory_id, v.embedding FROM pgfuse.vectors v
            WHERE v.space_id = %1$s AND v.route = %2$L %3$s AND v.profile_id = $1 %4$s
            ORDER BY v.embedding::%5$s(%6$s) <=> $3::%5$s(%6$s) LIMIT $4) n',
        _space.space_id, _route,
        CASE WHEN starts_with(_route, 'facet_') THEN 'AND starts_with(v.route, ''facet_'')' ELSE '' END,
        CASE WHEN _filters <> '' THEN 'AND EXISTS (SELECT FROM pgfuse.memories m WHERE m.profile_id = v.profile_id AND m.id = v.memory_id'
            || _filters || ' OFFSET 0)' ELSE '' END,
        _space.storage, _space.dim)
        USING _profile, _scope, _query, _most;
    PERFORM set_config('hnsw.ef_search', ef, true), set_config('hnsw.iterative_scan', iterative, true);
END
$$;
