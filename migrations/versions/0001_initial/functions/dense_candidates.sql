CREATE FUNCTION pgfuse.dense_candidates(
    _profile text, _scope pgfuse.scope, _filters text, _allowed bigint[], _docs bigint,
    _space pgfuse.spaces, _query vector, _route text, _weight float8, _most int, _alone boolean
) RETURNS pgfuse.candidates
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    cap CONSTANT bigint := greatest(_docs / 50, 4 * _most); -- a row from the index costs what 50 comparisons do
    found pgfuse.candidates;
    nearest record;
BEGIN
    found.route := _route;
    found.weight := _weight;
    found.complete := true;
    found.method := pgfuse.dense_method(_profile, _space, _route, _docs, _filters, _allowed, _most);
    IF found.method = 'hnsw' THEN
        nearest := pgfuse.dense_hnsw(_profile, _scope, _filters, _space, _route, _query, _most, _alone, cap);
        IF nearest.settled THEN
            found.ids := nearest.ids;
            found.scores := nearest.scores;
            RETURN found;
        END IF;
        found.method := 'hnsw, then ' || CASE WHEN _filters <> '' THEN 'listed' WHEN cardinality(nearest.ids) < _most THEN 'bits' ELSE 'exact' END;
    END IF;
    IF found.method LIKE '%exact' THEN
        SELECT array_agg(t.memory_id), array_agg(t.score) INTO found.ids, found.scores
        FROM pgfuse.dense_exact(_profile, _space.space_id, _route, _query, _most) t;
    ELSIF found.method LIKE '%bits' THEN
        nearest := pgfuse.dense_bits(_profile, _space.space_id, _route, _query, _most);
        found.ids := nearest.ids;
        found.scores := nearest.scores;
    ELSE
        SELECT array_agg(t.memory_id), array_agg(t.score) INTO found.ids, found.scores
        FROM pgfuse.dense_listed(_profile, _space.space_id, _route, _query, _most,
            coalesce(_allowed, pgfuse.allowed_ids(_profile, _scope, _filters, 2147483646))) t;
    END IF;
    RETURN found;
END
$$;
