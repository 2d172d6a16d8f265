CREATE FUNCTION pgfuse.on_memories_insert() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    tidy CONSTANT boolean := random() < 0.04;
BEGIN
    INSERT INTO pgfuse.postings (profile_id, term, docs, ids, packed)
    SELECT n.profile_id, r.term, count(*), array_agg(n.id ORDER BY n.id), array_agg(r.packed ORDER BY n.id)
    FROM added n CROSS JOIN LATERAL pgfuse.posting_rows(n.language, n.fts) r GROUP BY n.profile_id, r.term;
    INSERT INTO pgfuse.lexical_stats (profile_id, language, docs, words)
    SELECT n.profile_id, n.language, count(*), sum(pgfuse.word_count(n.fts)) FROM added n GROUP BY n.profile_id, n.language;
    IF tidy THEN
        PERFORM pgfuse.tidy_lexical(n.profile_id, array_agg(DISTINCT r.term))
        FROM added n CROSS JOIN LATERAL pgfuse.posting_rows(n.language, n.fts) r GROUP BY n.profile_id;
    END IF;
    PERFORM pgfuse.link_next_user(array_agg(ROW(n.profile_id, n.session_id, n.granularity, n.position, n.user_text IS NOT NULL)::pgfuse.turn))
    FROM added n WHERE n.session_id IS NOT NULL AND n.position IS NOT NULL
    HAVING count(*) > 0;
    RETURN NULL;
END
$$;
