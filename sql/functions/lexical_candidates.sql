CREATE FUNCTION pgfuse.lexical_candidates(
    _profile text, _scope pgfuse.scope, _filters text, _allowed bigint[], _query text, _settings jsonb, _weight float8, _most int, _also bigint[]
) RETURNS pgfuse.candidates
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    found pgfuse.candidates;
    ranking CONSTANT text := _settings ->> 'lexical_rank';
    languages regconfig[];
    queries tsquery[];
    terms bigint[];
    docs float8;
    words float8;
BEGIN
    found.route := 'lexical';
    found.weight := _weight;
    found.method := ranking || ', ' || (_settings ->> 'lexical_match');
    found.complete := true;
    SELECT array_agg(s.language), sum(s.docs), sum(s.words) INTO languages, docs, words
    FROM (SELECT s.language, sum(s.docs) AS docs, sum(s.words) AS words FROM pgfuse.lexical_stats s
          WHERE s.profile_id = _profile GROUP BY s.language HAVING sum(s.docs) > 0 ORDER BY s.language) s;
    IF languages IS NULL THEN
        found.detail := jsonb_build_object('reason', 'the profile has no memories');
        RETURN found;
    END IF;
    WITH asked AS MATERIALIZED (SELECT * FROM pgfuse.lexical_queries(languages, _query, _settings ->> 'lexical_match'))
    SELECT array_agg(a.language), array_agg(a.tsq),
           (SELECT array_agg(DISTINCT pgfuse.term(q.language::text, l.lexeme)) FROM asked q CROSS JOIN LATERAL unnest(q.lexemes) AS l (lexeme))
    INTO languages, queries, terms FROM asked a;
    IF terms IS NULL THEN
        found.detail := jsonb_build_object('reason', 'the query has no searchable words');
        RETURN found;
    END IF;
    IF ranking = 'bm25' THEN
        RETURN pgfuse.lexical_bm25(_profile, _scope, _filters, _allowed, _settings, _most, _also, found, languages, queries, terms, docs, words);
    END IF;
    RETURN pgfuse.lexical_ts_rank(_profile, _scope, _filters, _allowed, ranking, _most, _also, found, languages, queries);
END
$$;
