-- Touches only what changed: the words of a row, or its place in a session. Set operations, because their plan stays right when
-- one session changes now one row and now a million.
CREATE FUNCTION pgfuse.on_memories_update() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    tidy CONSTANT boolean := random() < 0.04;
BEGIN
    INSERT INTO pgfuse.postings (profile_id, term, docs, ids, packed)
    SELECT c.profile_id, c.term, sum(c.sign), array_agg(c.id ORDER BY c.id, c.sign), array_agg(c.sign * c.packed ORDER BY c.id, c.sign)
    FROM (SELECT n.profile_id, r.term, n.id, r.packed, 1 AS sign
          FROM (SELECT a.profile_id, a.id, a.language, a.fts FROM added a EXCEPT SELECT o.profile_id, o.id, o.language, o.fts FROM removed o) n
          CROSS JOIN LATERAL pgfuse.posting_rows(n.language, n.fts) r
          UNION ALL
          SELECT o.profile_id, r.term, o.id, r.packed, -1
          FROM (SELECT d.profile_id, d.id, d.language, d.fts FROM removed d EXCEPT SELECT n.profile_id, n.id, n.language, n.fts FROM added n) o
          CROSS JOIN LATERAL pgfuse.posting_rows(o.language, o.fts) r) c
    GROUP BY c.profile_id, c.term;
    INSERT INTO pgfuse.lexical_stats (profile_id, language, docs, words)
    SELECT c.profile_id, c.language, sum(c.docs), sum(c.words)
    FROM (SELECT n.profile_id, n.language, 1 AS docs, pgfuse.word_count(n.fts) AS words FROM added n
          UNION ALL SELECT o.profile_id, o.language, -1, -pgfuse.word_count(o.fts) FROM removed o) c
    GROUP BY c.profile_id, c.language HAVING sum(c.docs) <> 0 OR sum(c.words) <> 0;
    IF tidy THEN
        PERFORM pgfuse.tidy_lexical(n.profile_id, array_agg(DISTINCT r.term))
        FROM added n CROSS JOIN LATERAL pgfuse.posting_rows(n.language, n.fts) r GROUP BY n.profile_id;
    END IF;
    DELETE FROM pgfuse.vectors v USING added n
    WHERE v.profile_id = n.profile_id AND v.memory_id = n.id AND v.route = 'vec_next_user'
        AND (n.session_id IS NULL OR n.position IS NULL OR n.granularity = 'session');
    PERFORM pgfuse.link_next_user(array_agg(ROW(t.profile_id, t.session_id, t.granularity, t.position, t.is_user)::pgfuse.turn))
    FROM ((SELECT n.profile_id, n.session_id, n.granularity, n.position, n.user_text IS NOT NULL AS is_user, n.id FROM added n
           EXCEPT SELECT o.profile_id, o.session_id, o.granularity, o.position, o.user_text IS NOT NULL, o.id FROM removed o)
          UNION
          (SELECT o.profile_id, o.session_id, o.granularity, o.position, o.user_text IS NOT NULL, o.id FROM removed o
           EXCEPT SELECT n.profile_id, n.session_id, n.granularity, n.position, n.user_text IS NOT NULL, n.id FROM added n)) t
    WHERE t.session_id IS NOT NULL AND t.position IS NOT NULL
    HAVING count(*) > 0;
    RETURN NULL;
END
$$;
