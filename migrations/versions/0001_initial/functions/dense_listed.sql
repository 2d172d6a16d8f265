-- Exact similarities of the given memories only, through the primary key.
CREATE FUNCTION pgfuse.dense_listed(_profile text, _space int, _route text, _query vector, _most int, _ids bigint[])
RETURNS TABLE (memory_id bigint, score float8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 64
BEGIN ATOMIC
    SELECT s.memory_id, s.score
    FROM (SELECT v.memory_id, pgfuse.similarity(v.embedding, _query) AS score
          FROM pgfuse.vectors v
          WHERE v.profile_id = _profile AND v.memory_id = ANY (_ids) AND v.space_id = _space AND v.route = _route
          OFFSET 0) s
    ORDER BY round(s.score * 1e9::float8) DESC, s.memory_id
    LIMIT _most;
END;
