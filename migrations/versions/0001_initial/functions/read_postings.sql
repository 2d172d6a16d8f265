-- The best memories by the postings of some terms, after the filters.
CREATE FUNCTION pgfuse.read_postings(
    _profile text, _scope pgfuse.scope, _filters text, _listed bigint[], _terms bigint[], _idfs float8[], _flat float8, _per_word float8,
    _reach bigint, _most bigint, OUT ids bigint[], OUT scores float8[])
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    IF _listed IS NOT NULL THEN
        SELECT array_agg(b.memory_id), array_agg(b.score) INTO ids, scores
        FROM (SELECT s.memory_id, s.score FROM pgfuse.bm25(_profile, _terms, _idfs, _flat, _per_word, _reach) s
              WHERE s.memory_id IN (SELECT unnest(_listed))
              ORDER BY round(s.score * 1e9::float8) DESC, s.memory_id LIMIT _most) b;
        RETURN;
    END IF;
    SELECT array_agg(b.memory_id), array_agg(b.score) INTO ids, scores
    FROM (SELECT s.memory_id, s.score FROM pgfuse.bm25(_profile, _terms, _idfs, _flat, _per_word, _reach) s
          ORDER BY round(s.score * 1e9::float8) DESC, s.memory_id LIMIT CASE WHEN _filters = '' THEN _most END) b;
    IF _filters <> '' THEN
        EXECUTE 'SELECT array_agg(x.id), array_agg(x.score) FROM (SELECT u.id, u.score FROM unnest($3, $4) AS u (id, score)
            WHERE EXISTS (SELECT FROM pgfuse.memories m WHERE m.profile_id = $1 AND m.id = u.id' || _filters || ' OFFSET 0) LIMIT $5) x'
            INTO ids, scores USING _profile, _scope, ids, scores, _most;
    END IF;
END
$$;
