-- Linear fusion compares true scores, so every route scores every candidate of the union. A memory without a vector of a route has
-- no score there; the lexical route has scored all when it ran.
CREATE FUNCTION pgfuse.complete_scores(_profile text, _space int, _embedding vector, _found pgfuse.candidates[]) RETURNS pgfuse.candidates[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    everything CONSTANT bigint[] := ARRAY(SELECT DISTINCT i.id FROM unnest(_found) f CROSS JOIN LATERAL unnest(f.ids) AS i (id));
    found pgfuse.candidates[] := '{}';
    route pgfuse.candidates;
BEGIN
    FOREACH route IN ARRAY _found LOOP
        IF route.route <> 'lexical' AND cardinality(route.ids) > 0 THEN
            SELECT array_agg(t.memory_id), array_agg(t.score) INTO route.also_ids, route.also_scores
            FROM pgfuse.dense_listed(_profile, _space, route.route, _embedding, NULL,
                ARRAY(SELECT e.id FROM unnest(everything) AS e (id) EXCEPT SELECT i.id FROM unnest(route.ids) AS i (id))) t;
        END IF;
        found := found || route;
    END LOOP;
    RETURN found;
END
$$;
