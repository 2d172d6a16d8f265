CREATE FUNCTION pgfuse.read_scope(_options jsonb) RETURNS pgfuse.scope
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    known CONSTANT text[] := ARRAY['session_ids', 'project_id', 'exclude_ids', 'kinds', 'granularity', 'tags', 'metadata', 'since',
        'until', 'as_of', 'preset', 'settings', 'model'];
    unknown text;
    scope pgfuse.scope;
BEGIN
    IF _options - ARRAY['preset', 'settings', 'model'] = '{}' THEN
        RETURN scope;
    END IF;
    SELECT k.key INTO unknown FROM jsonb_object_keys(_options) AS k (key) WHERE NOT k.key = ANY (known) LIMIT 1;
    IF unknown IS NOT NULL THEN
        RAISE EXCEPTION 'Unknown option %.', quote_literal(unknown)
            USING ERRCODE = 'PF001', HINT = 'Known are: ' || array_to_string(known, ', ') || '. Settings go under "settings".';
    END IF;
    IF coalesce(jsonb_typeof(_options -> 'metadata'), 'null') NOT IN ('object', 'null') THEN
        RAISE EXCEPTION 'metadata: % is not allowed; it must be an object.', left(_options ->> 'metadata', 200) USING ERRCODE = 'PF001';
    END IF;
    IF coalesce(jsonb_typeof(_options -> 'project_id'), 'null') NOT IN ('string', 'null') THEN
        RAISE EXCEPTION 'project_id: % is not allowed; it must be a text.', left(_options ->> 'project_id', 200) USING ERRCODE = 'PF001';
    END IF;
    scope.session_ids := pgfuse.option_texts(_options, 'session_ids');
    scope.project_id := _options ->> 'project_id';
    scope.exclude_ids := pgfuse.option_ids(_options, 'exclude_ids');
    scope.kinds := pgfuse.option_texts(_options, 'kinds');
    scope.granularity := pgfuse.option_texts(_options, 'granularity');
    scope.tags := pgfuse.option_texts(_options, 'tags');
    scope.metadata := nullif(_options -> 'metadata', 'null');
    scope.since := pgfuse.option_time(_options, 'since');
    scope.until := pgfuse.option_time(_options, 'until');
    scope.as_of := pgfuse.option_time(_options, 'as_of');
    IF NOT scope.granularity <@ ARRAY['chunk', 'turn', 'session'] THEN
        RAISE EXCEPTION 'granularity: % is not allowed; it must be chunk, turn or session.', array_to_string(scope.granularity, ', ')
            USING ERRCODE = 'PF001';
    END IF;
    RETURN scope;
END
$$;
