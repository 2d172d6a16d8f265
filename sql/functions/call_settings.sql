CREATE FUNCTION pgfuse.call_settings(_profile text, _options jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    own jsonb := coalesce(nullif(_options -> 'settings', 'null'), '{}');
BEGIN
    IF jsonb_typeof(own) <> 'object' THEN
        RAISE EXCEPTION 'settings: % is not allowed; it must be an object of settings.', left(own::text, 200) USING ERRCODE = 'PF002';
    END IF;
    IF coalesce(_options -> 'preset', 'null') <> 'null' THEN
        own := jsonb_build_object('preset', _options -> 'preset') || own;
    END IF;
    IF own = '{}' THEN
        RETURN pgfuse.settings(_profile);
    END IF;
    PERFORM pgfuse.check_setting(e.key, e.value) FROM jsonb_each(own) e;
    RETURN pgfuse.merge_settings(pgfuse.settings(_profile), own);
END
$$;
