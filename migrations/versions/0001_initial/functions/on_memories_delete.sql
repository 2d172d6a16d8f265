CREATE FUNCTION pgfuse.on_memories_delete() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    DELETE FROM pgfuse.postings p
    USING removed o CROSS JOIN LATERAL pgfuse.posting_rows(o.language, o.fts) r
    WHERE p.profile_id = o.profile_id AND p.term = r.term AND p.memory_id = o.id;
    PERFORM pgfuse.add_stats(o.profile_id, o.language, -count(*), -sum(pgfuse.word_count(o.fts)))
    FROM removed o GROUP BY o.profile_id, o.language;
    PERFORM pgfuse.link_next_user(array_agg(ROW(o.profile_id, o.session_id, o.granularity, o.position, true)::pgfuse.turn))
    FROM removed o WHERE o.session_id IS NOT NULL AND o.position IS NOT NULL AND o.user_text IS NOT NULL
    HAVING count(*) > 0;
    RETURN NULL;
END
$$;
