-- For each memory that is already stored under its external_id: is it the same, and what were its vectors made from?
CREATE FUNCTION pgfuse.compare_memories(profile_id text, space int, memories jsonb)
RETURNS TABLE (ordinal int, id bigint, same boolean, sources jsonb, stored jsonb)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
SET jit = off
AS $$
BEGIN
    RETURN QUERY
    SELECT i.ordinal, m.id,
           (m.kind, m.granularity, m.session_id, m.project_id, m.position, m.content, m.user_text, m.assistant_text, m.task_tag, m.tags,
            m.language, m.memory_score, m.metadata, m.occurred_at, m.created_at, pgfuse.stored_facets(m.profile_id, m.id))
           IS NOT DISTINCT FROM
           (i.kind, i.granularity, i.session_id, i.project_id, i.position, i.content, i.user_text, i.assistant_text, i.task_tag, i.tags,
            i.language, i.memory_score, i.metadata, i.occurred_at, coalesce(i.created_at, m.created_at), i.facets),
           (SELECT coalesce(jsonb_object_agg(v.route, v.source), '{}') FROM pgfuse.vectors v
            WHERE v.profile_id = m.profile_id AND v.memory_id = m.id AND (v.space_id = compare_memories.space) IS TRUE AND v.route <> 'vec_next_user'),
           jsonb_build_object('content', m.content, 'user_text', m.user_text, 'assistant_text', m.assistant_text, 'metadata', m.metadata,
               'facets', pgfuse.stored_facets(m.profile_id, m.id))
    FROM jsonb_populate_recordset(NULL::pgfuse.memory_input, compare_memories.memories) i
    CROSS JOIN LATERAL (SELECT o.* FROM pgfuse.memories o
                        WHERE o.profile_id = compare_memories.profile_id AND o.external_id = i.external_id LIMIT 1) m;
END
$$;
