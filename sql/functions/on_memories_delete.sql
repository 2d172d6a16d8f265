CREATE FUNCTION pgfuse.on_memories_delete() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    tidy CONSTANT boolean := random() < 0.04;
BEGIN
    INSERT INTO pgfuse.postings (profile_id, term, docs, ids, packed)
    SELECT o.profile_id, r.term, -count(*), array_agg(o.id ORDER BY o.id), array_agg(-r.packed ORDER BY o.id)
    FROM removed o CROSS JOIN LATERAL pgfuse.posting_rows(o.language, o.fts) r GROUP BY o.profile_id, r.term;
    INSERT INTO pgfuse.lexical_stats (profile_id, language, docs, words)
    SELECT o.profile_id, o.language, -count(*), -sum(pgfuse.word_count(o.fts)) FROM removed o GROUP BY o.profile_id, o.language;
    IF tidy THEN
        PERFORM pgfuse.tidy_lexical(o.profile_id, array_agg(DISTINCT r.term))
        FROM removed o CROSS JOIN LATERAL pgfuse.posting_rows(o.language, o.fts) r GROUP BY o.profile_id;
    END IF;
    PERFORM pgfuse.link_next_user(array_agg(ROW(o.profile_id, o.session_id, o.granularity, o.position, true)::pgfuse.turn))
    FROM removed o WHERE o.session_id IS NOT NULL AND o.position IS NOT NULL AND o.user_text IS NOT NULL
    HAVING count(*) > 0;
    RETURN NULL;
END
$$;
