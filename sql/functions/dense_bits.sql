-- The memories nearest by the sign bits of their vectors, read from the index alone, are compared exactly, twice as many each time until
-- the last half brings next to nothing: how many that takes depends on the model.
CREATE FUNCTION pgfuse.dense_bits(_profile text, _space int, _route text, _query vector, _most int, OUT ids bigint[], OUT scores float8[])
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    near CONSTANT bigint[] := ARRAY(
        SELECT v.memory_id FROM pgfuse.vectors v
        WHERE v.profile_id COLLATE "C" = _profile AND v.space_id = _space AND v.route = _route
        ORDER BY v.bits <~> binary_quantize(_query), v.memory_id
        LIMIT greatest(64 * _most, 8192));
    compared int := 0;
    step int := greatest(8 * _most, 512);
    fresh int;
BEGIN
    LOOP
        SELECT array_agg(t.id), array_agg(t.score), count(*) FILTER (WHERE t.is_new) INTO ids, scores, fresh
        FROM (SELECT b.id, b.score, b.is_new
              FROM (SELECT u.id, u.score, false AS is_new FROM unnest(ids, scores) AS u (id, score)
                    UNION ALL
                    SELECT d.memory_id, d.score, true
                    FROM pgfuse.dense_listed(_profile, _space, _route, _query, _most, near[compared + 1:compared + step]) d) b
              ORDER BY round(b.score * 1e9::float8) DESC, b.id LIMIT _most) t;
        compared := compared + step;
        EXIT WHEN fresh <= _most / 50 OR compared >= cardinality(near);
        step := compared;
    END LOOP;
END
$$;
