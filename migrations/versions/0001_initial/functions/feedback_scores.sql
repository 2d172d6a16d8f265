-- Similarity to the query and to the three best candidates (counting 1, 1/2, 1/3), after what all candidates have in common is
-- taken away from every vector: in the neighbourhood of a query it is the differences that tell.
CREATE FUNCTION pgfuse.feedback_scores(
    _profile text, _space int, _embedding vector, _ids bigint[], _firsts float8[], OUT ids bigint[], OUT scores float8[])
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    WITH known AS MATERIALIZED (
        SELECT f.id, f.first, l2_normalize(v.embedding) AS e
        FROM unnest(_ids, _firsts) AS f (id, first)
        JOIN pgfuse.vectors v ON v.profile_id = _profile AND v.memory_id = f.id AND v.space_id = _space AND v.route = 'vec_full'
    ), middle AS MATERIALIZED (
        SELECT avg(k.e) AS e FROM known k HAVING count(*) > 1
    ), centred AS MATERIALIZED (
        SELECT k.id, k.e - m.e AS e, l2_normalize(_embedding) - m.e AS query,
               row_number() OVER (ORDER BY round(k.first * 1e12::float8) DESC, k.id) AS place
        FROM known k CROSS JOIN middle m
    ), best AS MATERIALIZED (
        SELECT c.e, c.place::float8 AS place FROM centred c WHERE c.place <= 3
    ), scored AS (
        SELECT c.id, pgfuse.centred_similarity(c.e, c.query)
            + (SELECT sum(pgfuse.centred_similarity(c.e, b.e) / b.place) / sum(1::float8 / b.place) FROM best b) AS score
        FROM centred c
    )
    SELECT array_agg(s.id), array_agg(round(s.score * 1e6::float8) / 1e6::float8) FROM scored s;
END;
