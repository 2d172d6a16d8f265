-- The candidates of the lexical route with what their texts add to the postings read, best first; and the scores of other routes' candidates,
-- which is 0 for those that do not match (are not in _matching, where that is given).
CREATE FUNCTION pgfuse.bm25_completed(
    _profile text, _matching bigint[], _most int, _also bigint[], _found pgfuse.candidates, _asked pgfuse.lexical_query,
    _terms bigint[], _idfs float8[], _read int, _flat float8, _per_word float8
) RETURNS pgfuse.candidates
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
SET enable_nestloop = off
AS $$
DECLARE
    found pgfuse.candidates := _found;
    texts_ids bigint[];
    texts_found boolean[];
    texts_scores float8[];
BEGIN
    IF cardinality(_terms) > 64 THEN
        SELECT array_agg(d.memory_id), array_agg(d.is_found), array_agg(d.score) INTO texts_ids, texts_found, texts_scores
        FROM pgfuse.bm25_long(_profile, _found.ids, _also, _terms, _idfs, _read, _flat, _per_word) d;
    ELSE
        SELECT array_agg(d.memory_id), array_agg(d.is_found), array_agg(d.score) INTO texts_ids, texts_found, texts_scores
        FROM pgfuse.bm25_documents(_profile, _found.ids, _also, _asked, _terms, _idfs, _read, _flat, _per_word) d;
    END IF;
    WITH read AS MATERIALIZED (
        SELECT f.id, max(coalesce(f.score, 0)) AS score FROM unnest(_found.ids, _found.scores) AS f (id, score) GROUP BY f.id
    ), scored AS MATERIALIZED (
        SELECT t.id, t.is_found, t.score + coalesce(r.score, 0) AS score
        FROM unnest(texts_ids, texts_found, texts_scores) AS t (id, is_found, score) LEFT JOIN read r ON r.id = t.id
    ), best AS MATERIALIZED (
        SELECT s.id, s.score FROM scored s WHERE s.is_found AND s.score > 0 ORDER BY round(s.score * 1e9::float8) DESC, s.id LIMIT _most
    ), others AS (
        SELECT a.id, CASE WHEN _matching IS NULL OR a.id IN (SELECT unnest(_matching)) THEN coalesce(s.score, 0) ELSE 0 END AS score
        FROM unnest(_also) AS a (id) LEFT JOIN scored s ON s.id = a.id WHERE NOT EXISTS (SELECT FROM best b WHERE b.id = a.id)
    )
    SELECT b.ids, b.scores, o.ids, o.scores INTO found.ids, found.scores, found.also_ids, found.also_scores
    FROM (SELECT array_agg(b.id) AS ids, array_agg(b.score) AS scores FROM best b) b
    CROSS JOIN (SELECT array_agg(o.id) AS ids, array_agg(o.score) AS scores FROM others o) o;
    RETURN found;
END
$$;
