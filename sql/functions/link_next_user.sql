-- vec_next_user of a memory is the vec_user of the next user turn in its session. Called with the turns that came, went or
-- changed; recomputes them and the memories between each and the user turn before it. IS TRUE keeps the planner off the index by
-- kind, which it takes for selective while there are no statistics.
CREATE FUNCTION pgfuse.link_next_user(_turns pgfuse.turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM pgfuse.lock_sessions(t.profile_id, array_agg(t.session_id)) FROM unnest(_turns) t GROUP BY t.profile_id ORDER BY t.profile_id;
    WITH reached AS MATERIALIZED (
        SELECT DISTINCT m.profile_id, m.id
        FROM (SELECT DISTINCT u.* FROM unnest(_turns) u) t
        CROSS JOIN LATERAL (
            SELECT CASE WHEN t.is_user THEN coalesce((
                SELECT max(p.position) FROM pgfuse.memories p
                WHERE p.profile_id = t.profile_id AND p.session_id = t.session_id AND (p.granularity = t.granularity) IS TRUE
                    AND p.position < t.position AND p.user_text IS NOT NULL), -2147483648) ELSE t.position END AS first
        ) f
        JOIN pgfuse.memories m ON m.profile_id = t.profile_id AND m.session_id = t.session_id AND (m.granularity = t.granularity) IS TRUE
            AND m.position BETWEEN f.first AND t.position
        WHERE t.granularity <> 'session'
    ), affected AS MATERIALIZED (
        SELECT m.profile_id, m.id, m.session_id, m.granularity, m.position
        FROM reached r JOIN pgfuse.memories m ON m.profile_id = r.profile_id AND m.id = r.id
        ORDER BY m.profile_id, m.id FOR KEY SHARE OF m
    ), wanted AS MATERIALIZED (
        SELECT a.profile_id, a.id, v.space_id, v.source, v.embedding
        FROM affected a
        CROSS JOIN LATERAL (
            SELECT n.id FROM pgfuse.memories n
            WHERE n.profile_id = a.profile_id AND n.session_id = a.session_id AND (n.granularity = a.granularity) IS TRUE
                AND n.position > a.position AND n.user_text IS NOT NULL
            ORDER BY n.position, n.id LIMIT 1
        ) n
        JOIN pgfuse.vectors v ON v.profile_id = a.profile_id AND v.memory_id = n.id AND v.route = 'vec_user'
    ), gone AS (
        DELETE FROM pgfuse.vectors v
        USING (SELECT o.profile_id, o.memory_id, o.space_id
               FROM affected a JOIN pgfuse.vectors o ON o.profile_id = a.profile_id AND o.memory_id = a.id AND o.route = 'vec_next_user'
               EXCEPT SELECT w.profile_id, w.id, w.space_id FROM wanted w) u
        WHERE v.profile_id = u.profile_id AND v.memory_id = u.memory_id AND v.space_id = u.space_id AND v.route = 'vec_next_user'
    )
    INSERT INTO pgfuse.vectors AS v (profile_id, memory_id, space_id, route, source, embedding)
    SELECT w.profile_id, w.id, w.space_id, 'vec_next_user', w.source, w.embedding FROM wanted w
    ORDER BY w.profile_id, w.id, w.space_id
    ON CONFLICT (profile_id, memory_id, space_id, route)
        DO UPDATE SET source = excluded.source, embedding = excluded.embedding WHERE v.embedding <> excluded.embedding;
END
$$;
