CREATE FUNCTION pgfuse.create_space(model text, dim int, indexed boolean DEFAULT true) RETURNS int
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    made int;
BEGIN
    IF dim IS NULL OR dim NOT BETWEEN 1 AND 4000 THEN
        RAISE EXCEPTION 'A space of % dimensions cannot be indexed: pgvector''s HNSW takes 1 to 2000 as vector and 2001 to 4000 as halfvec.', dim
            USING ERRCODE = 'PF001', HINT = 'Choose a model, or a shortened output of the model, of 1 to 4000 dimensions.';
    END IF;
    INSERT INTO pgfuse.spaces AS s (model, dim, active)
    VALUES (create_space.model, create_space.dim, NOT EXISTS (SELECT FROM pgfuse.spaces))
    ON CONFLICT ON CONSTRAINT spaces_model_dim_key DO UPDATE SET model = excluded.model
    RETURNING s.space_id INTO made;
    IF indexed THEN
        PERFORM pgfuse.create_space_indexes(made);
    END IF;
    RETURN made;
END
$$;
