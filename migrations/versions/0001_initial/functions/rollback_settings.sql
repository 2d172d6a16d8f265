CREATE FUNCTION pgfuse.rollback_settings(profile_id text, to_version int DEFAULT NULL) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    profile CONSTANT text := coalesce(rollback_settings.profile_id, '');
    newest int;
    wanted int;
    old jsonb;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('pgfuse.settings/' || profile, 0));
    SELECT coalesce(max(s.version), 0) INTO newest FROM pgfuse.settings s WHERE s.profile_id = profile;
    wanted := coalesce(to_version, newest - 1);
    IF newest = 0 OR wanted NOT BETWEEN 0 AND newest THEN
        RAISE EXCEPTION 'There is no version % of the settings of profile %; it has versions 0 (no settings of its own) to %.',
            wanted, quote_literal(profile), newest USING ERRCODE = 'PF002';
    END IF;
    SELECT s.settings INTO old FROM pgfuse.settings s WHERE s.profile_id = profile AND s.version = wanted;
    RETURN pgfuse.store_settings(profile, coalesce(old, '{}'));
END
$$;
