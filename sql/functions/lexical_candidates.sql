CREATE FUNCTION pgfuse.lexical_candidates(
    _profile text, _scope pgfuse.scope, _filters text, _allowed bigint[], _query text, _settings jsonb, _weight float8, _most int, _also bigint[]
) RETURNS pgfuse.candidates
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    found pgfuse.candidates;
    ranking CONSTANT text := _settings ->> 'lexical_rank';
    asked pgfuse.lexical_query;
BEGIN
    found.route := 'lexical';
    found.weight := _weight;
    found.method := ranking || ', ' || (_settings ->> 'lexical_match');
    found.complete := true;
    SELECT array_agg(s.language), sum(s.docs), sum(s.words) INTO asked.languages, asked.docs, asked.words
    FROM (SELECT s.language, sum(s.docs) AS docs, sum(s.words) AS words FROM pgfuse.lexical_stats s
          WHERE s.profile_id = _profile GROUP BY s.language HAVING sum(s.docs) > 0 ORDER BY s.language) s;
    IF asked.languages IS NULL THEN
        found.detail := jsonb_build_object('reason', 'the profile has no memories');
        RETURN found;
    END IF;
    WITH asking AS MATERIALIZED (
        SELECT q.* FROM pgfuse.lexical_queries(asked.languages, _query, _settings ->> 'lexical_match') q
    ), words AS (
        SELECT q.language, l.lexeme, pgfuse.term(q.language::text, l.lexeme) AS term FROM asking q CROSS JOIN LATERAL unnest(q.lexemes) AS l (lexeme)
    )
    SELECT q.languages, q.queries, w.terms, w.languages, w.lexemes
    INTO asked.languages, asked.queries, asked.terms, asked.term_languages, asked.lexemes
    FROM (SELECT array_agg(a.language) AS languages, array_agg(a.tsq) AS queries FROM asking a) q
    CROSS JOIN (SELECT array_agg(w.term) AS terms, array_agg(w.language) AS languages, array_agg(w.lexeme) AS lexemes FROM words w) w;
    IF asked.terms IS NULL THEN
        found.detail := jsonb_build_object('reason', 'the query has no searchable words');
        RETURN found;
    END IF;
    IF ranking = 'bm25' THEN
        RETURN pgfuse.lexical_bm25(_profile, _scope, _filters, _allowed, _settings, _most, _also, found, asked);
    END IF;
    RETURN pgfuse.lexical_ts_rank(_profile, _scope, _filters, _allowed, ranking, _most, _also, found, asked.languages, asked.queries);
END
$$;
