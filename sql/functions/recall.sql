CREATE FUNCTION pgfuse.recall(
    profile_id text, query text, embedding vector DEFAULT NULL, top_k int DEFAULT 8, options jsonb DEFAULT '{}'
) RETURNS TABLE (
    id bigint, external_id text, content text, kind text, granularity text, session_id text, "position" int, tags text[], metadata jsonb,
    memory_score real, occurred_at timestamptz, rrf_score float8, blend_score float8, final_score float8, routes text[], sources text[],
    explain jsonb, neighbor_of bigint
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    RETURN QUERY SELECT h.id, h.external_id, h.content, h.kind, h.granularity, h.session_id, h.position, h.tags, h.metadata, h.memory_score,
        h.occurred_at, h.rrf_score, h.blend_score, h.final_score, h.routes, h.sources, h.explain, h.neighbor_of
    FROM pgfuse.recall_rows(recall.profile_id, recall.query, recall.embedding, recall.top_k, recall.options, false) h;
END
$$;
