-- What each route counts in a linear combination. Adaptive: by its confidence, and vec_full with feedback from a first combination.
CREATE FUNCTION pgfuse.adapt_shares(_profile text, _space int, _embedding vector, _found pgfuse.candidates[], _adaptive boolean, _total float8)
RETURNS pgfuse.candidates[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    found pgfuse.candidates[] := _found;
    shares CONSTANT float8[] := CASE WHEN _adaptive THEN pgfuse.confident_shares(_found) END;
BEGIN
    FOR i IN 1 .. cardinality(found) LOOP
        found[i].share := coalesce(shares[i], found[i].weight / _total);
    END LOOP;
    IF NOT _adaptive OR cardinality(found) < 2 THEN
        RETURN found;
    END IF;
    FOR i IN 1 .. cardinality(found) LOOP
        IF found[i].route = 'vec_full' AND cardinality(found[i].ids) > 1 THEN
            found[i].adjusted_scores := pgfuse.feedback_scores(_profile, _space, _embedding, found, found[i].ids || found[i].also_ids);
        END IF;
    END LOOP;
    RETURN found;
END
$$;
