-- The query in each language of a profile: as a tsquery and as the terms that earn score. Made from lexemes, never from words.
CREATE FUNCTION pgfuse.lexical_queries(_languages regconfig[], _query text, _match text)
RETURNS TABLE (language regconfig, tsq tsquery, lexemes text[])
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 1
SET search_path FROM CURRENT
AS $$
DECLARE
    asked CONSTANT text := left(_query, 100000);
BEGIN
    IF _match = 'websearch' THEN
        RETURN QUERY SELECT l.language, w.tsq, ARRAY(
            SELECT DISTINCT replace(replace(x[1], '''''', ''''), '\\', '\')
            FROM regexp_matches(
                -- querytree leaves out what is negated, but gives up on "a or -b"
                CASE WHEN querytree(w.tsq) = 'T' THEN regexp_replace(w.tsq::text, '!''(?:[^'']|'''')+''', '', 'g') ELSE querytree(w.tsq) END,
                '''((?:[^'']|'''')+)''', 'g') x)
        FROM unnest(_languages) AS l (language) CROSS JOIN LATERAL (SELECT websearch_to_tsquery(l.language, asked)) AS w (tsq)
        WHERE numnode(w.tsq) > 0;
        RETURN;
    END IF;
    RETURN QUERY SELECT l.language, string_agg(pgfuse.lexeme_query(w.lexeme), CASE _match WHEN 'all' THEN ' & ' ELSE ' | ' END)::tsquery,
        array_agg(w.lexeme)
    FROM unnest(_languages) AS l (language) CROSS JOIN LATERAL unnest(to_tsvector(l.language, asked)) w
    GROUP BY l.language;
END
$$;
