CREATE FUNCTION pgfuse.dense_candidates(
    _profile text, _scope pgfuse.scope, _filters text, _allowed bigint[], _docs bigint,
    _space pgfuse.spaces, _query vector, _route text, _weight float8, _most int
) RETURNS pgfuse.candidates
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    found pgfuse.candidates;
    listed bigint[] := _allowed;
    bits CONSTANT bit varying := binary_quantize(_query);
BEGIN
    found.route := _route;
    found.weight := _weight;
    found.method := pgfuse.dense_method(_profile, _space, _route, _docs, _filters, _allowed);
    found.complete := true;
    IF found.method = 'hnsw' THEN
        SELECT array_agg(t.memory_id), array_agg(t.score) INTO found.ids, found.scores
        FROM (SELECT h.memory_id, h.score FROM pgfuse.dense_hnsw(_profile, _scope, _filters, _space, _route, _query, _most) h
              ORDER BY round(h.score * 1e9::float8) DESC, h.memory_id) t;
        IF cardinality(found.ids) >= _most THEN
            RETURN found;
        END IF;
        found.method := 'hnsw, then exact';
    END IF;
    IF found.method = 'exact' THEN
        SELECT array_agg(t.memory_id), array_agg(t.score) INTO found.ids, found.scores
        FROM pgfuse.dense_exact(_profile, _space.space_id, _route, _query, _most) t;
        RETURN found;
    END IF;
    IF listed IS NULL AND _filters <> '' THEN
        listed := pgfuse.allowed_ids(_profile, _scope, _filters, 2147483646);
    ELSIF listed IS NULL THEN
        listed := pgfuse.dense_bits(_profile, _space.space_id, _route, bits, greatest(8 * _most, 800));
    END IF;
    SELECT array_agg(t.memory_id), array_agg(t.score) INTO found.ids, found.scores
    FROM pgfuse.dense_listed(_profile, _space.space_id, _route, _query, _most, listed) t;
    RETURN found;
END
$$;
