-- Similarity to the query and to the three best candidates of a first combination (counting 1, 1/2, 1/3, that is 6, 3 and 2 of 11), after
-- what all candidates have in common is taken away from every vector: in the neighbourhood of a query it is the differences that tell. A mean
-- of similarities to directions is the similarity to their mean, so one product a candidate is enough.
CREATE FUNCTION pgfuse.feedback_scores(_profile text, _space int, _embedding vector, _found pgfuse.candidates[], _ids bigint[]) RETURNS float8[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    best CONSTANT bigint[] := ARRAY(
        SELECT r.memory_id FROM pgfuse.ranked(_found) r GROUP BY r.memory_id
        HAVING bool_or(r.route = 'vec_full') ORDER BY round(sum(r.share * r.normalised) * 1e12::float8) DESC, r.memory_id LIMIT 3);
BEGIN
    RETURN (WITH known AS MATERIALIZED (
        SELECT v.memory_id AS id, l2_normalize(v.embedding) AS e
        FROM pgfuse.vectors v WHERE v.profile_id = _profile AND v.memory_id = ANY (_ids) AND v.space_id = _space AND v.route = 'vec_full'
    ), middle AS MATERIALIZED (
        SELECT sum(k.e) * array_fill((1::float8 / count(*))::real, ARRAY[vector_dims(_embedding)])::vector AS e FROM known k
    ), wanted AS MATERIALIZED (
        SELECT pgfuse.direction(l2_normalize(_embedding) - m.e) + (
            SELECT avg(pgfuse.direction(k.e - m.e)) FROM known k CROSS JOIN LATERAL generate_series(1, 6 / array_position(best, k.id))
            WHERE k.id = ANY (best)) AS e, m.e AS middle
        FROM middle m
    ), scored AS MATERIALIZED (
        SELECT d.id, CASE WHEN d.length < 1e-5 THEN 0 ELSE round(d.product / d.length * 1e6::float8) / 1e6::float8 END AS score
        FROM (SELECT c.id, -(c.e <#> c.wanted) AS product, vector_norm(c.e) AS length
              FROM (SELECT k.id, k.e - w.middle AS e, w.e AS wanted FROM known k CROSS JOIN wanted w OFFSET 0) c OFFSET 0) d
    )
    SELECT array_agg(s.score ORDER BY i.place) FROM unnest(_ids) WITH ORDINALITY AS i (id, place) JOIN scored s ON s.id = i.id);
END
$$;
