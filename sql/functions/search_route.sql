-- One route by itself: what it found, or NULL where it has nothing to search with.
CREATE FUNCTION pgfuse.search_route(_profile text, _query text, _embedding vector, _route text, _most int, _options jsonb) RETURNS pgfuse.candidates
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
SET jit = off
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    listable CONSTANT int := 10000;
    options CONSTANT jsonb := coalesce(_options, '{}');
    scope pgfuse.scope;
    space pgfuse.spaces;
    settings jsonb;
    filters text;
    allowed bigint[];
    docs bigint;
BEGIN
    SELECT s.* INTO space FROM pgfuse.spaces s WHERE s.active;
    PERFORM pgfuse.check_call(_profile, _query, _embedding, 1, space, options);
    IF pgfuse.is_route(_route) IS NOT TRUE THEN
        RAISE EXCEPTION 'route: % is not a route.', coalesce(quote_literal(left(_route, 100)), 'null')
            USING ERRCODE = 'PF001', HINT = 'Routes are vec_full, vec_user, vec_asst, vec_next_user, lexical and facet_<name>.';
    END IF;
    IF _most IS NULL OR _most NOT BETWEEN 1 AND 100000 THEN
        RAISE EXCEPTION 'max_rows: % is not allowed; it must be a whole number from 1 to 100000.', coalesce(_most::text, 'null') USING ERRCODE = 'PF001';
    END IF;
    IF _route = 'lexical' OR options ?| ARRAY['settings', 'preset'] THEN
        settings := pgfuse.call_settings(_profile, options);
    END IF;
    scope := pgfuse.read_scope(options);
    filters := pgfuse.scope_sql(scope);
    IF filters <> '' THEN
        allowed := pgfuse.allowed_ids(_profile, scope, filters, listable);
    END IF;
    IF _route = 'lexical' THEN
        RETURN CASE WHEN _query IS NOT NULL THEN pgfuse.lexical_candidates(_profile, scope, filters, allowed, _query, settings, 1, _most, NULL) END;
    END IF;
    SELECT coalesce(sum(s.docs), 0) INTO docs FROM pgfuse.lexical_stats s WHERE s.profile_id = _profile;
    RETURN CASE WHEN _embedding IS NOT NULL THEN pgfuse.dense_candidates(_profile, scope, filters, allowed, docs, space, _embedding, _route, 1, _most, true) END;
END
$$;
