-- A search of the index is five times as wide as the pool where it decides alone, and somewhat wider than the pool where other routes have a
-- say. Where neighbours are hard to tell apart (a high local dimension) it is made wider, and where a graph is blind everything is compared.
CREATE FUNCTION pgfuse.dense_candidates(
    _profile text, _scope pgfuse.scope, _filters text, _allowed bigint[], _docs bigint,
    _space pgfuse.spaces, _query vector, _route text, _weight float8, _most int, _alone boolean
) RETURNS pgfuse.candidates
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    hard CONSTANT float8 := 15;
    blind CONSTANT float8 := 30;
    found pgfuse.candidates;
    chosen record;
    nearest record;
BEGIN
    found.route := _route;
    found.weight := _weight;
    found.complete := true;
    chosen := pgfuse.dense_method(_profile, _space, _route, _docs, _filters, _allowed);
    found.method := chosen.method;
    IF found.method = 'hnsw' THEN
        nearest := pgfuse.dense_hnsw(_profile, _scope, _filters, _space, _route, chosen.indexed, _query, _most, CASE WHEN _alone THEN 5 ELSE 1.25 END);
        IF _alone AND nearest.dimension > hard AND nearest.dimension <= blind THEN
            nearest := pgfuse.dense_hnsw(_profile, _scope, _filters, _space, _route, chosen.indexed, _query, _most, 12);
        END IF;
        IF cardinality(nearest.ids) >= _most AND coalesce(nearest.dimension, 0) <= blind THEN
            found.ids := nearest.ids;
            found.scores := nearest.scores;
            RETURN found;
        END IF;
        found.method := 'hnsw, then ' || CASE WHEN _filters <> '' THEN 'listed' WHEN nearest.dimension > blind THEN 'exact' ELSE 'bits' END;
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
