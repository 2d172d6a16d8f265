CREATE FUNCTION pgfuse.on_memories_insert() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO pgfuse.postings (profile_id, term, memory_id, tf, dl)
    SELECT n.profile_id, r.term, n.id, r.tf, r.dl FROM added n CROSS JOIN LATERAL pgfuse.posting_rows(n.language, n.fts) r;
    PERFORM pgfuse.add_stats(n.profile_id, n.language, count(*), sum(pgfuse.word_count(n.fts)))
    FROM added n GROUP BY n.profile_id, n.language;
    RETURN NULL;
END
$$;
