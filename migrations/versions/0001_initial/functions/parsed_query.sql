-- A query that must match as a whole: its tsquery in each language of the profile, and the words of it that earn score.
CREATE FUNCTION pgfuse.parsed_query(_asked pgfuse.lexical_query, _query text, _match text) RETURNS pgfuse.lexical_query
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    asked pgfuse.lexical_query := _asked;
BEGIN
    WITH asking AS MATERIALIZED (
        SELECT q.* FROM pgfuse.lexical_queries(_asked.languages, _query, _match) q
    ), words AS (
        SELECT q.language, l.lexeme, pgfuse.term(q.language::text, l.lexeme) AS term FROM asking q CROSS JOIN LATERAL unnest(q.lexemes) AS l (lexeme)
    )
    SELECT q.languages, q.queries, w.terms, w.languages, w.lexemes
    INTO asked.languages, asked.queries, asked.terms, asked.term_languages, asked.lexemes
    FROM (SELECT array_agg(a.language) AS languages, array_agg(a.tsq) AS queries FROM asking a) q
    CROSS JOIN (SELECT array_agg(w.term) AS terms, array_agg(w.language) AS languages, array_agg(w.lexeme) AS lexemes FROM words w) w;
    RETURN asked;
END
$$;
