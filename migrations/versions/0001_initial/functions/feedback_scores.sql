-- Similarity to the query and to the three best candidates (counting 1, 1/2, 1/3, that is 6, 3 and 2 of 11), after what all candidates have
-- in common is taken away from every vector: in the neighbourhood of a query it is the differences that tell. A mean of similarities to
-- directions is the similarity to their mean, so one product a candidate is enough.
CREATE FUNCTION pgfuse.feedback_scores(_profile text, _space int, _embedding vector, _ids bigint[], _firsts float8[]) RETURNS float8[]
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    WITH known AS MATERIALIZED (
        SELECT f.place, f.id, f.first, l2_normalize(v.embedding) AS e
        FROM unnest(_ids, _firsts) WITH ORDINALITY AS f (id, first, place)
        JOIN pgfuse.vectors v ON v.profile_id = _profile AND v.memory_id = f.id AND v.space_id = _space AND v.route = 'vec_full'
    ), middle AS MATERIALIZED (
        SELECT avg(k.e) AS e FROM known k
    ), centred AS MATERIALIZED (
        SELECT k.place, k.id, k.first, pgfuse.direction(k.e - m.e) AS e FROM known k CROSS JOIN middle m
    ), best AS MATERIALIZED (
        SELECT c.e, row_number() OVER (ORDER BY round(c.first * 1e12::float8) DESC, c.id)::int AS place
        FROM centred c ORDER BY round(c.first * 1e12::float8) DESC, c.id LIMIT 3
    ), wanted AS MATERIALIZED (
        SELECT pgfuse.direction(l2_normalize(_embedding) - m.e)
            + (SELECT avg(b.e) FROM best b CROSS JOIN LATERAL generate_series(1, 6 / b.place)) AS e
        FROM middle m
    )
    SELECT array_agg(round(-(c.e <#> w.e) * 1e6::float8) / 1e6::float8 ORDER BY c.place) FROM centred c CROSS JOIN wanted w;
END;
