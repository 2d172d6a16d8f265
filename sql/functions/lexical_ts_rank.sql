CREATE FUNCTION pgfuse.lexical_ts_rank(
    _profile text, _scope pgfuse.scope, _filters text, _allowed bigint[], _ranking text, _most int, _also bigint[],
    _found pgfuse.candidates, _languages regconfig[], _queries tsquery[]
) RETURNS pgfuse.candidates
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    found pgfuse.candidates := _found;
    scored CONSTANT text := format(
        'SELECT m.id, %s(m.fts, q.tsq)::float8 AS score, m.fts @@ q.tsq AS matches FROM unnest($3, $4) AS q (language, tsq)
         JOIN pgfuse.memories m ON m.language = q.language WHERE m.profile_id = $1',
        CASE _ranking WHEN 'ts_rank_cd' THEN 'ts_rank_cd' ELSE 'ts_rank' END);
BEGIN
    EXECUTE 'SELECT array_agg(b.id), array_agg(b.score) FROM (SELECT s.id, s.score FROM (' || scored || ' AND m.fts @@ q.tsq' || _filters
        || ') s ORDER BY round(s.score * 1e9::float8) DESC, s.id LIMIT $5) b'
        INTO found.ids, found.scores USING _profile, _scope, _languages, _queries, _most;
    EXECUTE 'SELECT array_agg(a.id), array_agg(CASE WHEN s.matches THEN s.score ELSE 0 END)
        FROM unnest($5) AS a (id) LEFT JOIN (' || scored || ' AND m.id = ANY ($5)) s ON s.id = a.id'
        INTO found.also_ids, found.also_scores USING _profile, _scope, _languages, _queries,
            ARRAY(SELECT a.id FROM unnest(_also) AS a (id) EXCEPT SELECT i.id FROM unnest(found.ids) AS i (id));
    RETURN found;
END
$$;
