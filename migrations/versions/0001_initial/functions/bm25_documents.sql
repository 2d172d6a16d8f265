-- BM25 of given memories, read from their tsvectors: what terms after the first _read add for the memories in _found, whose postings of the
-- first were read, and what all terms give for _others; 0 where a memory holds none of the words. A lexeme's count is told from its ts_rank (pgfuse.rank_steps), the length of the text from what ts_rank divides by in its
-- normalisation 2: both take a microsecond, where unnesting the tsvector takes a hundred.
CREATE FUNCTION pgfuse.bm25_documents(
    _profile text, _found bigint[], _others bigint[], _asked pgfuse.lexical_query, _terms bigint[], _idfs float8[], _read int, _flat float8, _per_word float8
) RETURNS TABLE (memory_id bigint, is_found boolean, score float8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 200
BEGIN ATOMIC
    WITH words AS MATERIALIZED (
        SELECT a.language, pgfuse.lexeme_query(a.lexeme)::tsquery AS lexeme, t.idf, t.place
        FROM unnest(_terms, _idfs) WITH ORDINALITY AS t (term, idf, place)
        JOIN unnest(_asked.terms, _asked.term_languages, _asked.lexemes) AS a (term, language, lexeme) ON a.term = t.term
    )
    SELECT d.id, d.is_found, coalesce(sum(h.idf * h.tf / (h.tf + _flat + _per_word * h.dl)), 0)
    FROM (SELECT m.id, m.language, m.id IN (SELECT unnest(_found)) AS is_found, m.task_tag IS NOT NULL AS tagged, ts_delete(m.fts, '') AS fts -- as it is, but detoasted once
          FROM pgfuse.memories m WHERE m.profile_id = _profile AND m.id = ANY (_found || _others) OFFSET 0) d
    LEFT JOIN LATERAL (
        SELECT r.idf, round(r.rank / ts_rank('{1, 1, 1, 1}', d.fts, r.lexeme, 2)) AS dl,
               width_bucket(r.rank, pgfuse.rank_steps())::float8
                   + CASE WHEN d.tagged THEN 2 * width_bucket(ts_rank('{0, 0, 0, 1}', d.fts, r.lexeme)::float8, pgfuse.rank_steps()) ELSE 0 END AS tf
        FROM (SELECT w.lexeme, w.idf, ts_rank('{1, 1, 1, 1}', d.fts, w.lexeme)::float8 AS rank
              FROM words w WHERE w.language = d.language AND (w.place > _read OR NOT d.is_found) OFFSET 0) r
        WHERE r.rank > 0.1) h ON true
    GROUP BY d.id, d.is_found;
END;
