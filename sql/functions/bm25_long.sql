-- The same as bm25_documents by unnesting the tsvectors: slower for a few terms, but it takes no longer for thousands.
CREATE FUNCTION pgfuse.bm25_long(
    _profile text, _found bigint[], _others bigint[], _terms bigint[], _idfs float8[], _read int, _flat float8, _per_word float8
) RETURNS TABLE (memory_id bigint, is_found boolean, score float8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 200
BEGIN ATOMIC
    SELECT d.id, d.is_found, coalesce(sum(t.idf * p.tf / (p.tf + _flat + _per_word * p.dl)) FILTER (WHERE t.place > _read OR NOT d.is_found), 0)
    FROM (SELECT m.id, m.language, m.fts, m.id IN (SELECT unnest(_found)) AS is_found
          FROM pgfuse.memories m WHERE m.profile_id = _profile AND m.id = ANY (_found || _others) OFFSET 0) d
    LEFT JOIN LATERAL (
        SELECT r.term, (r.packed & 1023)::float8 AS tf, (r.packed >> 10)::float8 AS dl FROM pgfuse.posting_rows(d.language, d.fts) r OFFSET 0) p ON true
    LEFT JOIN unnest(_terms, _idfs) WITH ORDINALITY AS t (term, idf, place) ON t.term = p.term
    GROUP BY d.id, d.is_found;
END;
