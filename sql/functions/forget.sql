CREATE FUNCTION pgfuse.forget(profile_id text, ids bigint[] DEFAULT NULL, external_ids text[] DEFAULT NULL, session_ids text[] DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
SET jit = off
AS $$
DECLARE
    doomed bigint[];
    removed bigint;
BEGIN
    IF forget.ids IS NULL AND forget.external_ids IS NULL AND forget.session_ids IS NULL THEN
        RAISE EXCEPTION 'Nothing says what to forget; give ids, external_ids or session_ids.' USING ERRCODE = 'PF001';
    END IF;
    -- in the order of lock_call: the table, the sessions, the rows
    LOCK TABLE pgfuse.memories IN ROW EXCLUSIVE MODE;
    doomed := ARRAY(
        SELECT m.id FROM pgfuse.memories m WHERE m.profile_id = forget.profile_id AND m.id = ANY (forget.ids)
        UNION SELECT m.id FROM pgfuse.memories m WHERE m.profile_id = forget.profile_id AND m.external_id = ANY (forget.external_ids)
        UNION SELECT m.id FROM pgfuse.memories m WHERE m.profile_id = forget.profile_id AND m.session_id = ANY (forget.session_ids));
    PERFORM pgfuse.lock_sessions(forget.profile_id, ARRAY(
        SELECT DISTINCT m.session_id FROM pgfuse.memories m
        WHERE m.profile_id = forget.profile_id AND m.id = ANY (doomed) AND m.session_id IS NOT NULL));
    PERFORM FROM pgfuse.memories m WHERE m.profile_id = forget.profile_id AND m.id = ANY (doomed) ORDER BY m.external_id COLLATE "C", m.id FOR UPDATE;
    DELETE FROM pgfuse.memories m WHERE m.profile_id = forget.profile_id AND m.id = ANY (doomed);
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END
$$;
