CREATE FUNCTION pgfuse.search_route(_profile text, _query text, _embedding vector, _route text, _most int, _options jsonb)
RETURNS pgfuse.candidates[]
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
SET jit = off
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    options CONSTANT jsonb := coalesce(_options, '{}');
    scope pgfuse.scope;
    space pgfuse.spaces;
    settings jsonb;
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
    settings := pgfuse.call_settings(_profile, options)
        || jsonb_build_object('fusion', 'rrf', 'weights', jsonb_build_object(_route, 1));
    scope := pgfuse.read_scope(options);
    RETURN pgfuse.gather(_profile, _query, _embedding, space, settings, scope, pgfuse.scope_sql(scope), _most);
END
$$;
