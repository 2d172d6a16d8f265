-- Sums up old changes. Rows that another transaction is summing up are skipped, so nobody waits.
CREATE FUNCTION pgfuse.compact_stats(_profile text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    -- under a stricter isolation level a row that somebody else summed up would be a serialization failure
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN;
    END IF;
    WITH old AS MATERIALIZED (
        SELECT s.id FROM pgfuse.lexical_stats s WHERE s.profile_id = _profile FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM pgfuse.lexical_stats s USING old WHERE s.profile_id = _profile AND s.id = old.id
        RETURNING s.language, s.docs, s.words
    )
    INSERT INTO pgfuse.lexical_stats (profile_id, language, docs, words)
    SELECT _profile, g.language, sum(g.docs), sum(g.words) FROM gone g GROUP BY g.language
    HAVING sum(g.docs) <> 0 OR sum(g.words) <> 0;
END
$$;
