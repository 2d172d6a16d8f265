CREATE FUNCTION pgfuse.search_lexical(profile_id text, query text, max_rows int DEFAULT 10, options jsonb DEFAULT '{}')
RETURNS TABLE (id bigint, score float8, rank bigint)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    found pgfuse.candidates;
BEGIN
    found := pgfuse.search_route(search_lexical.profile_id, search_lexical.query, NULL, 'lexical', search_lexical.max_rows, search_lexical.options);
    RETURN QUERY SELECT r.id, r.score, r.rank FROM unnest(found.ids, found.scores) WITH ORDINALITY AS r (id, score, rank);
END
$$;
