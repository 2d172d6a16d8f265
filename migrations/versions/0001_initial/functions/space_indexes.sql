CREATE FUNCTION pgfuse.space_indexes(space int) RETURNS TABLE (name text, definition text)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT i.name, format(
        'CREATE INDEX %%s IF NOT EXISTS %I ON pgfuse.vectors USING hnsw ((pgfuse.placed_vector(embedding, profile_id, route)::%s) %s_cosine_ops) '
            || 'WITH (ef_construction = 100) WHERE space_id = %s AND %s',
        i.name, pgfuse.placed_type(s.dim), split_part(pgfuse.placed_type(s.dim), '(', 1), s.space_id, i.predicate)
    FROM pgfuse.spaces s
    CROSS JOIN LATERAL (
        SELECT format('vectors_hnsw_%s_%s', s.space_id, r.route) AS name, format('route = %L', r.route) AS predicate
        FROM unnest(ARRAY['vec_full', 'vec_user', 'vec_asst', 'vec_next_user']) AS r (route)
        UNION ALL
        SELECT format('vectors_hnsw_%s_facets', s.space_id), 'starts_with(route, ''facet_'')'
    ) i
    WHERE s.space_id = space_indexes.space;
END;
