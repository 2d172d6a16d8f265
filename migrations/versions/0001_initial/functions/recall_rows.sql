-- The whole of a recall but MMR. The client gets the pool with its vectors when MMR is on, and one last row with the trace.
CREATE FUNCTION pgfuse.recall_rows(_profile text, _query text, _embedding vector, _top_k int, _options jsonb, _client boolean)
RETURNS SETOF pgfuse.hit
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
SET jit = off
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    options CONSTANT jsonb := coalesce(_options, '{}');
    started CONSTANT timestamptz := clock_timestamp();
    gathered timestamptz;
    space pgfuse.spaces;
    settings jsonb;
    scope pgfuse.scope;
    filters text;
    pools record;
    mmr boolean;
    found pgfuse.candidates[];
    chosen pgfuse.placed[];
    fusion_ms float8;
    trace pgfuse.hit;
BEGIN
    SELECT s.* INTO space FROM pgfuse.spaces s WHERE s.active;
    PERFORM pgfuse.check_call(_profile, _query, _embedding, _top_k, space, options);
    settings := pgfuse.call_settings(_profile, options);
    scope := pgfuse.read_scope(options);
    filters := pgfuse.scope_sql(scope);
    pools := pgfuse.pools(settings, _top_k);
    mmr := _client AND (settings ->> 'mmr')::boolean;
    found := pgfuse.gather(_profile, _query, _embedding, space, settings, scope, filters, pools.per_route);
    gathered := clock_timestamp();
    chosen := ARRAY(SELECT c FROM pgfuse.choose(_profile, found, settings, coalesce(scope.as_of, now()), CASE WHEN mmr THEN pools.final_pool ELSE _top_k END) c);
    fusion_ms := extract(epoch FROM clock_timestamp() - gathered) * 1000;
    IF (settings ->> 'neighbors')::int > 0 AND NOT ((settings ->> 'session_first')::boolean AND coalesce(chosen[1].granularity = 'session', false)) THEN
        chosen := chosen || ARRAY(SELECT n FROM pgfuse.neighbors(_profile, scope, filters, chosen, (settings ->> 'neighbors')::int) n);
    END IF;
    RETURN QUERY SELECT h.* FROM pgfuse.hit_rows(_profile, chosen, found, settings, CASE WHEN mmr THEN space.space_id END) h;
    IF _client THEN
        trace.trace := jsonb_build_object(
            'mode', CASE WHEN _query IS NULL THEN 'vector_only' WHEN _embedding IS NULL THEN 'text_only' ELSE 'hybrid' END,
            'settings', settings, 'space', jsonb_build_object('model', space.model, 'dim', space.dim),
            'routes', pgfuse.route_trace(found, settings -> 'weights'),
            'fusion', CASE WHEN cardinality(found) > 1 THEN settings -> 'fusion' ELSE '"skipped"' END,
            'fused', (SELECT count(DISTINCT i.id) FROM unnest(found) f CROSS JOIN LATERAL unnest(f.ids) AS i (id)),
            'fusion_latency_ms', fusion_ms,
            'database_latency_ms', extract(epoch FROM clock_timestamp() - started) * 1000);
        RETURN NEXT trace;
    END IF;
END
$$;
