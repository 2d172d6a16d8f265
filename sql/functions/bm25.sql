-- Lucene's BM25: Σ ln(1 + (N - df + 0.5) / (df + 0.5)) · tf / (tf + k1 · (1 - b + b · dl / avgdl)).
-- The caller folds the constants: _idfs are the logarithms, _flat = k1 · (1 - b) and _per_word = k1 · b / avgdl.
CREATE FUNCTION pgfuse.bm25(_profile text, _terms bigint[], _idfs float8[], _flat float8, _per_word float8, _limit int)
RETURNS TABLE (memory_id bigint, score float8, entries bigint)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1000
BEGIN ATOMIC
    SELECT h.id, sum(CASE WHEN h.packed > 0
                     THEN h.idf * (h.packed % 1024) / ((h.packed % 1024) + _flat + _per_word * (h.packed / 1024))
                     ELSE h.idf * (h.packed % 1024) / ((-h.packed % 1024) + _flat + _per_word * (-h.packed / 1024)) END), count(*)
    FROM (SELECT e.id, e.packed, t.idf
          FROM unnest(_terms, _idfs) AS t (term, idf)
          CROSS JOIN LATERAL (
              SELECT p.ids, p.packed FROM pgfuse.postings p WHERE p.profile_id = _profile AND p.term = t.term OFFSET 0) p
          CROSS JOIN LATERAL unnest(p.ids, p.packed) AS e (id, packed)
          LIMIT _limit) h
    GROUP BY h.id HAVING sum(CASE WHEN h.packed > 0 THEN 1 ELSE -1 END) > 0;
END;
