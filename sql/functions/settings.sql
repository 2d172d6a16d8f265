CREATE FUNCTION pgfuse.settings(profile_id text) RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    common jsonb;
    own jsonb;
BEGIN
    SELECT (SELECT s.settings FROM pgfuse.settings s WHERE s.profile_id = '' ORDER BY s.version DESC LIMIT 1),
           (SELECT s.settings FROM pgfuse.settings s WHERE s.profile_id = nullif(settings.profile_id, '') ORDER BY s.version DESC LIMIT 1)
    INTO common, own;
    IF common IS NULL AND own IS NULL THEN
        RETURN pgfuse.preset('default');
    END IF;
    RETURN pgfuse.merge_settings(pgfuse.merge_settings(pgfuse.preset('default'), common), own);
END
$$;
