-- Writes rows and facets; a memory with a known external_id is replaced. Rows are taken in one order, so writers cannot deadlock.
CREATE FUNCTION pgfuse.store_memories(profile_id text, memories jsonb) RETURNS TABLE (ordinal int, id bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    profile CONSTANT text := store_memories.profile_id;
    given pgfuse.memory_input[];
    ids bigint[];
BEGIN
    given := ARRAY(SELECT i FROM jsonb_populate_recordset(NULL::pgfuse.memory_input, (
        SELECT jsonb_agg(e || jsonb_build_object('id', nextval('pgfuse.memories_id_seq'))) FROM jsonb_array_elements(store_memories.memories) e)) i);
    INSERT INTO pgfuse.memories AS m (profile_id, id, external_id, kind, granularity, session_id, project_id, position, content, user_text,
        assistant_text, task_tag, tags, language, memory_score, metadata, occurred_at, created_at)
    SELECT profile, g.id, g.external_id, g.kind, g.granularity, g.session_id, g.project_id, g.position, g.content, g.user_text,
        g.assistant_text, g.task_tag, g.tags, g.language, g.memory_score, g.metadata, g.occurred_at,
        coalesce(g.created_at, old.created_at, now())
    FROM unnest(given) g
    LEFT JOIN LATERAL (SELECT o.created_at FROM pgfuse.memories o WHERE o.profile_id = profile AND o.external_id = g.external_id LIMIT 1) old ON true
    ORDER BY g.external_id COLLATE "C", g.ordinal
    ON CONFLICT (profile_id, external_id) DO UPDATE SET
        kind = excluded.kind, granularity = excluded.granularity, session_id = excluded.session_id, project_id = excluded.project_id,
        position = excluded.position, content = excluded.content, user_text = excluded.user_text, assistant_text = excluded.assistant_text,
        task_tag = excluded.task_tag, tags = excluded.tags, language = excluded.language, memory_score = excluded.memory_score,
        metadata = excluded.metadata, occurred_at = excluded.occurred_at, created_at = excluded.created_at;
    ids := ARRAY(
        SELECT coalesce((SELECT m.id FROM pgfuse.memories m WHERE m.profile_id = profile AND m.external_id = g.external_id), g.id)
        FROM unnest(given) WITH ORDINALITY g ORDER BY g.ordinality);
    DELETE FROM pgfuse.facets f WHERE f.profile_id = profile AND f.memory_id = ANY (ids);
    INSERT INTO pgfuse.facets (profile_id, memory_id, name, text)
    SELECT profile, i.id, e.key, e.value
    FROM unnest(ids, ARRAY(SELECT g.facets FROM unnest(given) g)) AS i (id, facets) CROSS JOIN LATERAL jsonb_each_text(i.facets) e;
    RETURN QUERY SELECT i.ordinal, i.id FROM unnest(ARRAY(SELECT g.ordinal FROM unnest(given) g), ids) AS i (ordinal, id);
END
$$;
