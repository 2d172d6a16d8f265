-- Linear fusion compares true scores, so every route scores every candidate of the union. A memory without a vector of a route has
-- no score there; the lexical route has scored all when it ran.
CREATE FUNCTION pgfuse.complete_scores(_profile text, _space int, _embedding vector, _found pgfuse.candidates[]) RETURNS pgfuse.candidates[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    found pgfuse.candidates[] := _found;
    everything CONSTANT bigint[] := ARRAY(SELECT DISTINCT i.id FROM unnest(_found) f CROSS JOIN LATERAL unnest(f.ids) AS i (id));
    more record;
BEGIN
    FOR more IN
        SELECT f.place, array_agg(v.memory_id) AS ids, array_agg(v.score) AS scores
        FROM (SELECT f.ordinality AS place, f.route, ARRAY(SELECT e.id FROM unnest(everything) AS e (id) EXCEPT SELECT i.id FROM unnest(f.ids) AS i (id)) AS ids
              FROM unnest(_found) WITH ORDINALITY f WHERE f.route <> 'lexical' AND cardinality(f.ids) > 0 OFFSET 0) f
        CROSS JOIN LATERAL (
            SELECT v.memory_id, pgfuse.similarity(v.embedding, _embedding) AS score FROM pgfuse.vectors v
            WHERE v.profile_id = _profile AND v.memory_id = ANY (f.ids) AND v.space_id = _space AND v.route = f.route OFFSET 0) v
        GROUP BY f.place
    LOOP
        found[more.place].also_ids := more.ids;
        found[more.place].also_scores := more.scores;
    END LOOP;
    RETURN found;
END
$$;
