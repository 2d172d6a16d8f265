-- Writers of one session take turns, always in the same order; writers of other sessions are not held up.
CREATE FUNCTION pgfuse.lock_sessions(_profile text, _sessions text[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(k.key)
    FROM (SELECT DISTINCT hashtextextended(_profile || '/' || s.id, 7) AS key FROM unnest(_sessions) AS s (id) ORDER BY key) k;
END
$$;
