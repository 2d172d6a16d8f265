CREATE FUNCTION pgfuse.check_weights(_weights jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    w record;
BEGIN
    IF jsonb_typeof(_weights) <> 'object' THEN
        RAISE EXCEPTION 'weights: % is not allowed; it must be an object of route and weight, such as {"vec_full": 1, "lexical": 0.5}.',
            left(_weights::text, 200) USING ERRCODE = 'PF002';
    END IF;
    FOR w IN SELECT e.key AS route, e.value FROM jsonb_each(_weights) e LOOP
        IF NOT pgfuse.is_route(w.route) THEN
            RAISE EXCEPTION 'weights: % is not a route.', quote_literal(left(w.route, 100))
                USING ERRCODE = 'PF002',
                      HINT = 'Routes are vec_full, vec_user, vec_asst, vec_next_user, lexical and facet_<name> (small letters, digits and _).';
        END IF;
        IF (CASE WHEN jsonb_typeof(w.value) <> 'number' THEN true
                 WHEN (w.value #>> '{}')::numeric = 0 THEN false
                 ELSE (w.value #>> '{}')::numeric NOT BETWEEN 1e-300 AND 5 END) THEN
            RAISE EXCEPTION 'weights.%: % is not allowed; it must be a number from 0 to 5.', w.route, left(w.value::text, 200)
                USING ERRCODE = 'PF002';
        END IF;
    END LOOP;
END
$$;
