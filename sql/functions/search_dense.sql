CREATE FUNCTION pgfuse.search_dense(
    profile_id text, embedding vector, route text DEFAULT 'vec_full', max_rows int DEFAULT 10, options jsonb DEFAULT '{}'
) RETURNS TABLE (id bigint, score float8, rank bigint)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    found pgfuse.candidates;
BEGIN
    found := pgfuse.search_route(search_dense.profile_id, NULL, search_dense.embedding, search_dense.route, search_dense.max_rows, search_dense.options);
    RETURN QUERY SELECT r.id, r.score, r.rank FROM unnest(found.ids, found.scores) WITH ORDINALITY AS r (id, score, rank);
END
$$;
