-- Writers of one session take turns until their transactions end, always in the same order. Sessions share 65,536 locks a profile.
CREATE FUNCTION pgfuse.lock_sessions(_profile text, _sessions text[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO pgfuse.session_locks AS l (profile_id, bucket)
    SELECT _profile, b.bucket FROM (SELECT DISTINCT hashtext(s.id) & 65535 AS bucket FROM unnest(_sessions) AS s (id)) b
    -- a lock that this transaction holds already is not taken again
    WHERE NOT EXISTS (SELECT FROM pgfuse.session_locks o
                      WHERE o.profile_id = _profile AND o.bucket = b.bucket AND o.xmin = pg_current_xact_id()::xid)
    ORDER BY b.bucket
    ON CONFLICT (profile_id, bucket) DO UPDATE SET writes = l.writes + 1;
END
$$;
