-- Lucene's BM25: Σ ln(1 + (N - df + 0.5) / (df + 0.5)) · tf / (tf + k1 · (1 - b + b · dl / avgdl)).
-- The caller folds the constants: _flat = k1 · (1 - b) and _per_word = k1 · b / avgdl.
CREATE FUNCTION pgfuse.bm25(_profile text, _terms bigint[], _docs float8, _flat float8, _per_word float8, _limit int)
RETURNS TABLE (memory_id bigint, score float8, terms bigint)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1000
BEGIN ATOMIC
    WITH hits AS MATERIALIZED (
        SELECT p.term, p.memory_id, p.tf::float8 AS tf, p.dl::float8 AS dl
        FROM pgfuse.postings p WHERE p.profile_id = _profile AND p.term = ANY (_terms) LIMIT _limit
    ), rarity AS MATERIALIZED (
        SELECT h.term, ln(1::float8 + (_docs - count(*)::float8 + 0.5::float8) / (count(*)::float8 + 0.5::float8)) AS idf FROM hits h GROUP BY h.term
    )
    SELECT h.memory_id, sum(r.idf * h.tf / (h.tf + _flat + _per_word * h.dl)), count(*)
    FROM hits h JOIN rarity r ON r.term = h.term GROUP BY h.memory_id;
END;
