CREATE FUNCTION pgfuse.check_call(_profile text, _query text, _embedding vector, _top_k int, _space pgfuse.spaces, _options jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    IF coalesce(_profile, '') = '' THEN
        RAISE EXCEPTION 'profile_id is empty; it must name the profile to search.' USING ERRCODE = 'PF001';
    END IF;
    IF _top_k IS NULL OR _top_k NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'top_k: % is not allowed; it must be a whole number from 1 to 1000.', coalesce(_top_k::text, 'null') USING ERRCODE = 'PF001';
    END IF;
    IF _query IS NULL AND _embedding IS NULL THEN
        RAISE EXCEPTION 'There is neither a query nor an embedding; give at least one.' USING ERRCODE = 'PF001';
    END IF;
    IF jsonb_typeof(_options) <> 'object' THEN
        RAISE EXCEPTION 'options: % is not allowed; it must be an object.', left(_options::text, 200) USING ERRCODE = 'PF001';
    END IF;
    IF _embedding IS NULL THEN
        RETURN;
    END IF;
    IF vector_dims(_embedding) IS DISTINCT FROM _space.dim THEN
        RAISE EXCEPTION 'The embedding has % dimensions, but the space in use (%) has %.', vector_dims(_embedding), _space.model, _space.dim
            USING ERRCODE = 'PF003', HINT = 'Embed the query with the same model as the stored memories.';
    END IF;
    IF _options ->> 'model' <> _space.model THEN
        RAISE EXCEPTION 'The embedding comes from %, but the space in use is of %.', quote_literal(_options ->> 'model'), quote_literal(_space.model)
            USING ERRCODE = 'PF003', HINT = 'Embed the query with the same model as the stored memories, or build a new space with `pgfuse reembed`.';
    END IF;
    IF vector_norm(_embedding) NOT BETWEEN 1e-15 AND 1e18 THEN
        RAISE EXCEPTION 'The embedding is all zeros or out of scale (its length is %), so its cosine is undefined.', vector_norm(_embedding)
            USING ERRCODE = 'PF001', HINT = 'Leave the embedding out to search by text alone.';
    END IF;
END
$$;
