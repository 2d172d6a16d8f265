CREATE FUNCTION pgfuse.rebuild_lexical(profile_id text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    profile CONSTANT text := rebuild_lexical.profile_id;
    written bigint;
BEGIN
    LOCK TABLE pgfuse.memories IN SHARE MODE;
    DELETE FROM pgfuse.postings p WHERE profile IS NULL OR p.profile_id = profile;
    DELETE FROM pgfuse.lexical_stats s WHERE profile IS NULL OR s.profile_id = profile;
    INSERT INTO pgfuse.postings (profile_id, term, docs, ids, packed)
    SELECT e.profile_id, e.term, count(*), array_agg(e.id ORDER BY e.id), array_agg(e.packed ORDER BY e.id)
    FROM (SELECT m.profile_id, r.term, m.id, r.packed,
                 (row_number() OVER (PARTITION BY m.profile_id, r.term ORDER BY m.id) - 1) / 1024 AS part
          FROM pgfuse.memories m CROSS JOIN LATERAL pgfuse.posting_rows(m.language, m.fts) r
          WHERE profile IS NULL OR m.profile_id = profile) e
    GROUP BY e.profile_id, e.term, e.part;
    GET DIAGNOSTICS written = ROW_COUNT;
    INSERT INTO pgfuse.lexical_stats (profile_id, language, docs, words)
    SELECT m.profile_id, m.language, count(*), sum(pgfuse.word_count(m.fts)) FROM pgfuse.memories m
    WHERE profile IS NULL OR m.profile_id = profile GROUP BY m.profile_id, m.language;
    RETURN written;
END
$$;
