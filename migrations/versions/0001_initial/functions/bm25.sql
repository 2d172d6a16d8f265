-- Lucene's BM25: Σ ln(1 + (N - df + 0.5) / (df + 0.5)) · tf / (tf + k1 · (1 - b + b · dl / avgdl)).
-- The caller folds the constants: _idfs are the logarithms, _flat = k1 · (1 - b) and _per_word = k1 · b / avgdl.
-- unnest stands in the select list, where it gives a row at a time; in FROM it would first write all of them down.
CREATE FUNCTION pgfuse.bm25(_profile text, _terms bigint[], _idfs float8[], _flat float8, _per_word float8, _limit bigint)
RETURNS TABLE (memory_id bigint, score float8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1000
BEGIN ATOMIC
    SELECT h.id, sum(CASE WHEN h.packed > 0 THEN h.idf ELSE -h.idf END * h.tf / (h.tf + _flat + _per_word * h.dl))
    FROM (SELECT e.id, e.idf, e.packed, (abs(e.packed) & 1023)::float8 AS tf, (abs(e.packed) >> 10)::float8 AS dl
          FROM (SELECT t.idf, unnest(p.ids) AS id, unnest(p.packed) AS packed
                FROM unnest(_terms, _idfs) AS t (term, idf)
                CROSS JOIN LATERAL (
                    SELECT p.ids, p.packed FROM pgfuse.postings p WHERE p.profile_id = _profile AND p.term = t.term OFFSET 0) p
                LIMIT _limit) e) h
    GROUP BY h.id HAVING sum(CASE WHEN h.packed > 0 THEN 1 ELSE -1 END) > 0;
END;
