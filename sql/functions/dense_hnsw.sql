-- The HNSW index serves only a plain ORDER BY with a literal space and route, so the statement is made here; exact similarities and ties
-- come after it. The index gives one batch after the other, each of `width` rows that are about the nearest not yet given. Where this route
-- decides alone it is read until as many rows in a row as a batch has bring nothing better, so that easy data take two batches and hard data
-- as many as they need, up to _cap rows (settled is false where these were not enough); beside other routes one batch will do, unless the local dimension (by how much the distance grows
-- from the middle of what was found to its end) is so high that a graph may well be blind. What is set for the scan is set back.
CREATE FUNCTION pgfuse.dense_hnsw(
    _profile text, _scope pgfuse.scope, _filters text, _space pgfuse.spaces, _route text, _query vector, _most int, _alone boolean, _cap bigint,
    OUT ids bigint[], OUT scores float8[], OUT settled boolean)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
SET enable_sort = off
AS $$
DECLARE
    ef CONSTANT text := current_setting('hnsw.ef_search');
    iterative CONSTANT text := current_setting('hnsw.iterative_scan');
    width CONSTANT int := least(1000, CASE WHEN _alone THEN greatest(1.5 * _most, 100) ELSE greatest(1.25 * _most, 40) END);
    high_dimension CONSTANT float8 := 35;
    near record;
    quiet int := 0;
    worst float8;
BEGIN
    PERFORM set_config('hnsw.ef_search', width::text, true), set_config('hnsw.iterative_scan', 'relaxed_order', true);
    settled := false;
    FOR near IN EXECUTE format(
        'SELECT v.memory_id AS id, pgfuse.similarity(v.embedding, $3) AS score FROM pgfuse.vectors v
            WHERE v.space_id = %1$s AND v.route = %2$L %3$s AND v.profile_id = $1 %4$s
            ORDER BY pgfuse.placed_vector(v.embedding, v.profile_id, v.route)::%5$s <=> $4::%5$s',
        _space.space_id, _route,
        CASE WHEN starts_with(_route, 'facet_') THEN 'AND starts_with(v.route, ''facet_'')' ELSE '' END,
        CASE WHEN _filters <> '' THEN 'AND EXISTS (SELECT FROM pgfuse.memories m WHERE m.profile_id = v.profile_id AND m.id = v.memory_id AND (true'
            || _filters || ') IS TRUE OFFSET 0)' ELSE '' END,
        pgfuse.placed_type(_space.dim))
        USING _profile, _scope, _query, pgfuse.placed_vector(_query, _profile, _route)
    LOOP
        ids := ids || near.id;
        scores := scores || near.score;
        quiet := quiet + 1;
        IF cardinality(ids) = _most OR near.score > worst THEN
            SELECT min(t.score) INTO worst FROM (SELECT u.score FROM unnest(scores) AS u (score) ORDER BY u.score DESC LIMIT _most) t;
            quiet := 0;
        END IF;
        settled := cardinality(ids) >= _most AND quiet >= width OR cardinality(ids) = _most AND NOT _alone
            AND ln(greatest(1 - worst, 1e-9::float8) / greatest(1 - scores[_most / 2 + 1], 1e-9::float8)) * high_dimension > ln(2::float8);
        EXIT WHEN settled OR cardinality(ids) >= _cap;
    END LOOP;
    PERFORM set_config('hnsw.ef_search', ef, true), set_config('hnsw.iterative_scan', iterative, true);
    SELECT array_agg(t.id), array_agg(t.score) INTO ids, scores
    FROM (SELECT u.id, u.score FROM unnest(ids, scores) AS u (id, score) ORDER BY round(u.score * 1e9::float8) DESC, u.id LIMIT _most) t;
END
$$;
