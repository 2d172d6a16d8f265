CREATE FUNCTION pgfuse.why_not(
    profile_id text, query text, embedding vector, top_k int, options jsonb, memory_id bigint
) RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
SET jit = off
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    everything CONSTANT int := 1000000;
    profile CONSTANT text := why_not.profile_id;
    wanted CONSTANT bigint := why_not.memory_id;
    opts CONSTANT jsonb := coalesce(why_not.options, '{}');
    space pgfuse.spaces;
    settings jsonb;
    scope pgfuse.scope;
    failed text[];
    pool int;
    pooled pgfuse.candidates[];
    placed pgfuse.placed;
    last_hit record;
    routes jsonb;
BEGIN
    SELECT s.* INTO space FROM pgfuse.spaces s WHERE s.active;
    PERFORM pgfuse.check_call(profile, why_not.query, why_not.embedding, why_not.top_k, space, opts);
    settings := pgfuse.call_settings(profile, opts);
    scope := pgfuse.read_scope(opts);
    IF NOT EXISTS (SELECT FROM pgfuse.memories m WHERE m.profile_id = profile AND m.id = wanted) THEN
        RETURN jsonb_build_object('id', wanted, 'found', false, 'verdict', 'The profile has no memory with this id.');
    END IF;
    failed := pgfuse.failed_filters(profile, scope, wanted);
    pool := (pgfuse.pools(settings, why_not.top_k)).per_route;
    SELECT jsonb_object_agg(f.route, jsonb_build_object('rank', p.rank, 'score', f.scores[p.rank], 'weight', f.weight, 'in_pool', p.rank <= pool,
            'status', CASE WHEN p.rank IS NULL THEN 'not found by this route' ELSE 'found' END))
    INTO routes
    FROM unnest(pgfuse.gather(profile, why_not.query, why_not.embedding, space, settings, scope,
        CASE WHEN failed = '{}' THEN pgfuse.scope_sql(scope) ELSE '' END, everything)) f
    CROSS JOIN LATERAL (SELECT array_position(f.ids, wanted) AS rank) p;
    pooled := pgfuse.gather(profile, why_not.query, why_not.embedding, space, settings, scope, pgfuse.scope_sql(scope), pool);
    SELECT c.* INTO placed FROM pgfuse.choose(profile, pooled, settings, coalesce(scope.as_of, now()), everything) c WHERE c.id = wanted;
    SELECT h.id, h.final_score INTO last_hit
    FROM pgfuse.choose(profile, pooled, settings, coalesce(scope.as_of, now()), why_not.top_k) h ORDER BY h.place DESC LIMIT 1;
    RETURN jsonb_build_object(
        'id', wanted, 'found', coalesce(placed.place <= why_not.top_k, false), 'filtered_by', to_jsonb(failed), 'routes', coalesce(routes, '{}'),
        'pool', pool, 'place', placed.place, 'final_score', placed.final_score,
        'last_hit', CASE WHEN last_hit.id IS NOT NULL THEN jsonb_build_object('id', last_hit.id, 'final_score', last_hit.final_score) END,
        'verdict', CASE
            WHEN failed <> '{}' THEN format('It is filtered out by %s.', array_to_string(failed, ', '))
            WHEN placed.place <= why_not.top_k AND (settings ->> 'mmr')::boolean
                THEN format('It is at place %s before MMR, which leaves it out only if it repeats a better one.', placed.place)
            WHEN placed.place <= why_not.top_k THEN format('It is a hit, at place %s.', placed.place)
            WHEN placed.place IS NOT NULL THEN format('It is a candidate, at place %s of the first %s: its final score is below the last hit''s.', placed.place, why_not.top_k)
            WHEN (SELECT bool_or((r.value ->> 'in_pool')::boolean) FROM jsonb_each(routes) r) 
                THEN CASE WHEN settings ->> 'group_by' IS NOT NULL THEN 'It is a candidate, but others of its session are before it (group_by).'
                          ELSE 'It is a candidate, but only sessions are results of this call.' END
            ELSE format('No route has it among its best %s.', pool) END);
END
$$;
