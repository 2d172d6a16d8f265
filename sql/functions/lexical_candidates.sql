CREATE FUNCTION pgfuse.lexical_candidates(
    _profile text, _scope pgfuse.scope, _filters text, _allowed bigint[], _query text, _settings jsonb, _weight float8, _most int, _also bigint[]
) RETURNS pgfuse.candidates
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    found pgfuse.candidates;
    ranking CONSTANT text := _settings ->> 'lexical_rank';
    matching CONSTANT text := _settings ->> 'lexical_match';
    asked pgfuse.lexical_query;
BEGIN
    found.route := 'lexical';
    found.weight := _weight;
    found.method := ranking || ', ' || matching;
    found.complete := true;
    SELECT array_agg(s.language), sum(s.docs), sum(s.words) INTO asked.languages, asked.docs, asked.words
    FROM (SELECT s.language, sum(s.docs) AS docs, sum(s.words) AS words FROM pgfuse.lexical_stats s
          WHERE s.profile_id = _profile GROUP BY s.language HAVING sum(s.docs) > 0 ORDER BY s.language) s;
    IF asked.languages IS NULL THEN
        found.detail := jsonb_build_object('reason', 'the profile has no memories');
        RETURN found;
    END IF;
    IF ranking = 'bm25' AND matching = 'any' THEN
        SELECT array_agg(pgfuse.term(l.language::text, w.lexeme)), array_agg(l.language), array_agg(w.lexeme)
        INTO asked.terms, asked.term_languages, asked.lexemes
        FROM unnest(asked.languages) AS l (language) CROSS JOIN LATERAL unnest(to_tsvector(l.language, left(_query, 100000))) w;
    ELSE
        asked := pgfuse.parsed_query(asked, _query, matching);
    END IF;
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
