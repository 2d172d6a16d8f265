CREATE FUNCTION pgfuse.stored_settings(_profile text) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT s.settings FROM pgfuse.settings s WHERE s.profile_id = _profile ORDER BY s.version DESC LIMIT 1;
END;
