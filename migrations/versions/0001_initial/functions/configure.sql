CREATE FUNCTION pgfuse.configure(profile_id text, changes jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    profile CONSTANT text := coalesce(configure.profile_id, '');
    removed text[];
    kept jsonb;
    merged jsonb;
BEGIN
    IF changes IS NULL OR jsonb_typeof(changes) <> 'object' THEN
        RAISE EXCEPTION 'settings: % is not allowed; it must be an object of settings.', coalesce(left(changes::text, 200), 'null')
            USING ERRCODE = 'PF002';
    END IF;
    -- A preset starts afresh. null takes a setting out of this layer again, where null is not itself a value
    SELECT array_agg(r.key) INTO removed FROM pgfuse.setting_rules() r WHERE changes -> r.key = 'null' AND NOT r.nullable;
    kept := changes - coalesce(removed, '{}');
    PERFORM pgfuse.check_setting(e.key, e.value) FROM jsonb_each(kept) e;
    PERFORM pg_advisory_xact_lock(hashtextextended('pgfuse.settings/' || profile, 0));
    merged := CASE WHEN kept ? 'preset' THEN '{}' ELSE coalesce(pgfuse.stored_settings(profile), '{}') - coalesce(removed, '{}') END;
    merged := merged || kept || CASE WHEN kept ? 'weights'
        THEN jsonb_build_object('weights', coalesce(merged -> 'weights', '{}') || (kept -> 'weights')) ELSE '{}' END;
    RETURN pgfuse.store_settings(profile, merged);
END
$$;
