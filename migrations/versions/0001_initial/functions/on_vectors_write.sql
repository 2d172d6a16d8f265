CREATE FUNCTION pgfuse.on_vectors_write() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM pgfuse.link_next_user(array_agg(ROW(m.profile_id, m.session_id, m.granularity, m.position, true)::pgfuse.turn))
    FROM (SELECT DISTINCT c.profile_id, c.memory_id FROM changed c JOIN pgfuse.spaces s USING (space_id) WHERE c.route = 'vec_user') c
    JOIN pgfuse.memories m ON m.profile_id = c.profile_id AND m.id = c.memory_id
    WHERE m.session_id IS NOT NULL AND m.position IS NOT NULL
    HAVING count(*) > 0;
    RETURN NULL;
END
$$;
