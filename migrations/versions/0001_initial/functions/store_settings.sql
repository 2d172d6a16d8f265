CREATE FUNCTION pgfuse.store_settings(_profile text, _settings jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO pgfuse.settings (profile_id, version, settings)
    SELECT _profile, coalesce(max(s.version), 0) + 1, _settings FROM pgfuse.settings s WHERE s.profile_id = _profile;
    RETURN pgfuse.settings(_profile);
END
$$;
