-- For clients: everything that can fail happens inside, and an error comes back as a row instead of being raised, so that the caller's
-- transaction stays usable in one round trip.
CREATE FUNCTION pgfuse.try_recall(
    profile_id text, query text, embedding real[], top_k int, options text, schema_version int
) RETURNS SETOF pgfuse.hit
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    failed pgfuse.hit;
    message text;
    hint text;
BEGIN
    IF pgfuse.schema_version() <> try_recall.schema_version THEN
        failed.trace := jsonb_build_object('error', jsonb_build_object('sqlstate', 'PF004', 'version', pgfuse.schema_version()));
        RETURN NEXT failed;
        RETURN;
    END IF;
    BEGIN
        RETURN QUERY SELECT * FROM pgfuse.recall_rows(
            try_recall.profile_id, try_recall.query, try_recall.embedding::vector, try_recall.top_k, try_recall.options::jsonb, true);
    EXCEPTION WHEN query_canceled OR OTHERS THEN
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
        failed.trace := jsonb_build_object('error', jsonb_build_object('sqlstate', SQLSTATE, 'message', message, 'hint', hint));
        RETURN NEXT failed;
    END;
END
$$;
