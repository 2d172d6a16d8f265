-- The memories up to _reach positions around the chosen ones in their sessions, each once, with the first chosen one it belongs to.
CREATE FUNCTION pgfuse.neighbors(_profile text, _scope pgfuse.scope, _filters text, _chosen pgfuse.placed[], _reach int)
RETURNS SETOF pgfuse.placed
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    RETURN QUERY EXECUTE 'SELECT DISTINCT ON (m.id) c.place, m.id, c.id, m.granularity, m.session_id, m.position,
            0::float8, 0::float8, NULL::float8, 0::float8, NULL::float8, NULL::float8, NULL::bigint, NULL::bigint
        FROM unnest($3) c
        JOIN pgfuse.memories m ON m.profile_id = $1 AND m.session_id = c.session_id AND m.position BETWEEN c.position::bigint - $4 AND c.position::bigint + $4
        WHERE NOT EXISTS (SELECT FROM unnest($3) AS o WHERE o.id = m.id)' || _filters || ' ORDER BY m.id, c.place'
        USING _profile, _scope, _chosen, _reach;
END
$$;
