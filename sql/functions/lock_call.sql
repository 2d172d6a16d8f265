-- Takes every lock that remembering these memories needs besides their rows: first the table, then the sessions they are in or come from.
CREATE FUNCTION pgfuse.lock_call(profile_id text, session_ids text[], external_ids text[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    LOCK TABLE pgfuse.memories IN ROW EXCLUSIVE MODE;
    PERFORM pgfuse.lock_sessions(lock_call.profile_id, lock_call.session_ids || ARRAY(
        SELECT m.session_id FROM pgfuse.memories m
        WHERE m.profile_id = lock_call.profile_id AND m.external_id = ANY (lock_call.external_ids) AND m.session_id IS NOT NULL));
END
$$;
