-- The best memories by the postings of some terms, after the filters; and the scores of those in _also that are not among them.
-- The planner expects few rows here: it is kept from sorting to group by, and from comparing every row with every one listed.
-- A filter that IS TRUE has no index: memories are looked up by their id, whatever the statistics say of the filter.
CREATE FUNCTION pgfuse.read_postings(
    _profile text, _scope pgfuse.scope, _filters text, _listed bigint[], _terms bigint[], _idfs float8[], _flat float8, _per_word float8,
    _reach bigint, _most bigint, _also bigint[] DEFAULT NULL,
    OUT ids bigint[], OUT scores float8[], OUT also_ids bigint[], OUT also_scores float8[])
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
SET enable_sort = off
SET enable_nestloop = off
AS $$
BEGIN
    IF _listed IS NOT NULL THEN
        SELECT array_agg(b.memory_id), array_agg(b.score) INTO ids, scores
        FROM (SELECT s.memory_id, s.score FROM pgfuse.bm25(_profile, _terms, _idfs, _flat, _per_word, _reach) s
              WHERE s.memory_id IN (SELECT unnest(_listed))
              ORDER BY round(s.score * 1e9::float8) DESC, s.memory_id LIMIT _most) b;
    ELSIF _filters <> '' THEN
        SELECT array_agg(b.memory_id), array_agg(b.score) INTO ids, scores
        FROM (SELECT s.memory_id, s.score FROM pgfuse.bm25(_profile, _terms, _idfs, _flat, _per_word, _reach) s
              ORDER BY round(s.score * 1e9::float8) DESC, s.memory_id) b;
        EXECUTE 'SELECT array_agg(x.id), array_agg(x.score) FROM (SELECT u.id, u.score FROM unnest($3, $4) AS u (id, score)
            WHERE EXISTS (SELECT FROM pgfuse.memories m WHERE m.profile_id = $1 AND m.id = u.id AND (true' || _filters || ') IS TRUE OFFSET 0) LIMIT $5) x'
            INTO ids, scores USING _profile, _scope, ids, scores, _most;
    ELSIF _also IS NULL THEN
        SELECT array_agg(b.memory_id), array_agg(b.score) INTO ids, scores
        FROM (SELECT s.memory_id, s.score FROM pgfuse.bm25(_profile, _terms, _idfs, _flat, _per_word, _reach) s
              ORDER BY round(s.score * 1e9::float8) DESC, s.memory_id LIMIT _most) b;
    ELSE
        WITH scored AS MATERIALIZED (
            SELECT s.memory_id, s.score FROM pgfuse.bm25(_profile, _terms, _idfs, _flat, _per_word, _reach) s
        ), best AS MATERIALIZED (
            SELECT s.memory_id, s.score FROM scored s ORDER BY round(s.score * 1e9::float8) DESC, s.memory_id LIMIT _most
        ), others AS (
            SELECT a.id, coalesce(s.score, 0) AS score FROM unnest(_also) AS a (id) LEFT JOIN scored s ON s.memory_id = a.id
            WHERE NOT EXISTS (SELECT FROM best b WHERE b.memory_id = a.id)
        )
        SELECT b.ids, b.scores, o.ids, o.scores INTO ids, scores, also_ids, also_scores
        FROM (SELECT array_agg(b.memory_id) AS ids, array_agg(b.score) AS scores FROM best b) b
        CROSS JOIN (SELECT array_agg(o.id) AS ids, array_agg(o.score) AS scores FROM others o) o;
    END IF;
END
$$;
