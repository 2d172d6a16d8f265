CREATE FUNCTION pgfuse.settings(profile_id text) RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    RETURN pgfuse.merge_settings(
        pgfuse.merge_settings(pgfuse.preset('default'), pgfuse.stored_settings('')),
        CASE WHEN settings.profile_id <> '' THEN pgfuse.stored_settings(settings.profile_id) END);
END
$$;
