CREATE FUNCTION pgfuse.dense_candidates(
    _profile text, _scope pgfuse.scope, _filters text, _allowed bigint[], _docs bigint,
    _space pgfuse.spaces, _query vector, _route text, _weight float8, _most int
) RETURNS pgfuse.candidates
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    found pgfuse.candidates;
    indexed float8;
BEGIN
    found.route := _route;
    found.weight := _weight;
    found.complete := true;
    SELECT m.method, m.indexed INTO found.method, indexed FROM pgfuse.dense_method(_profile, _space, _route, _docs, _filters, _allowed) m;
    IF found.method = 'hnsw' THEN
        SELECT h.ids, h.scores INTO found.ids, found.scores
        FROM pgfuse.dense_hnsw(_profile, _scope, _filters, _space, _route, indexed, _query, _most) h;
        IF cardinality(found.ids) >= _most THEN
            RETURN found;
        END IF;
        found.method := CASE WHEN _filters <> '' THEN 'hnsw, then listed' ELSE 'hnsw, then bits' END;
    END IF;
    IF found.method = 'exact' THEN
        SELECT array_agg(t.memory_id), array_agg(t.score) INTO found.ids, found.scores
        FROM pgfuse.dense_exact(_profile, _space.space_id, _route, _query, _most) t;
    ELSIF found.method LIKE '%bits' THEN
        SELECT b.ids, b.scores INTO found.ids, found.scores FROM pgfuse.dense_bits(_profile, _space.space_id, _route, _query, _most) b;
    ELSE
        SELECT array_agg(t.memory_id), array_agg(t.score) INTO found.ids, found.scores
        FROM pgfuse.dense_listed(_profile, _space.space_id, _route, _query, _most,
            coalesce(_allowed, pgfuse.allowed_ids(_profile, _scope, _filters, 2147483646))) t;
    END IF;
    RETURN found;
END
$$;
