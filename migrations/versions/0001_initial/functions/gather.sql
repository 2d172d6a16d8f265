-- Runs every route of weight above 0 that the mode allows, each as a CTE. For a linear combination every route scores every
-- candidate.
CREATE FUNCTION pgfuse.gather(
    _profile text, _query text, _embedding vector, _space pgfuse.spaces, _settings jsonb, _scope pgfuse.scope, _filters text, _most int
) RETURNS pgfuse.candidates[]
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    listable CONSTANT int := 10000;
    linear CONSTANT boolean := _settings ->> 'fusion' IN ('linear', 'adaptive');
    total CONSTANT float8 := (SELECT sum(w.value::float8) FROM jsonb_each_text(_settings -> 'weights') w);
    alone CONSTANT boolean := (SELECT count(*) = 1 FROM jsonb_each_text(_settings -> 'weights') w WHERE w.value::float8 > 0 AND (w.key <> 'lexical' OR _query IS NOT NULL));
    allowed bigint[];
    docs bigint;
    found pgfuse.candidates[];
BEGIN
    SELECT coalesce(sum(s.docs), 0) INTO docs FROM pgfuse.lexical_stats s WHERE s.profile_id = _profile;
    IF _filters <> '' THEN
        allowed := pgfuse.allowed_ids(_profile, _scope, _filters, listable);
    END IF;
    WITH wanted AS MATERIALIZED (
        SELECT w.key AS route, w.value::float8 AS weight FROM jsonb_each_text(_settings -> 'weights') w WHERE w.value::float8 > 0 ORDER BY w.key
    ), dense AS MATERIALIZED (
        SELECT pgfuse.dense_candidates(_profile, _scope, _filters, allowed, docs, _space, _embedding, w.route, w.weight, _most, alone) AS c
        FROM wanted w WHERE _embedding IS NOT NULL AND starts_with(w.route, 'vec_')
    ), facet AS MATERIALIZED (
        SELECT pgfuse.dense_candidates(_profile, _scope, _filters, allowed, docs, _space, _embedding, w.route, w.weight, _most, alone) AS c
        FROM wanted w WHERE _embedding IS NOT NULL AND starts_with(w.route, 'facet_')
    ), near AS MATERIALIZED (
        SELECT d.c FROM dense d UNION ALL SELECT f.c FROM facet f
    ), lexical AS MATERIALIZED (
        SELECT pgfuse.lexical_candidates(_profile, _scope, _filters, allowed, _query, _settings, w.weight, _most,
            CASE WHEN linear THEN ARRAY(SELECT DISTINCT i.id FROM near n CROSS JOIN LATERAL unnest((n.c).ids) AS i (id)) END) AS c
        FROM wanted w WHERE _query IS NOT NULL AND w.route = 'lexical'
    )
    SELECT array_agg(a.c ORDER BY (a.c).route) INTO found FROM (SELECT n.c FROM near n UNION ALL SELECT l.c FROM lexical l) a;
    IF linear AND cardinality(found) > 0 THEN
        RETURN pgfuse.adapt_shares(_profile, _space.space_id, _embedding,
            pgfuse.complete_scores(_profile, _space.space_id, _embedding, found), _settings ->> 'fusion' = 'adaptive', total);
    END IF;
    RETURN coalesce(found, '{}');
END
$$;
