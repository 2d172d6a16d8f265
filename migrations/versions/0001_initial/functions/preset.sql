CREATE FUNCTION pgfuse.preset(name text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    none CONSTANT jsonb := '{"vec_full": 0, "vec_user": 0, "vec_asst": 0, "vec_next_user": 0, "lexical": 0,
        "facet_personal_info": 0, "facet_preferences": 0, "facet_events": 0}';
    plain CONSTANT jsonb := '{"fusion": "rrf", "rrf_k": 60, "pool_multiplier": null, "memory_weight": 0,
        "session_first": false, "turn_factor": 0.6, "turn_cap": 0.12,
        "mmr": false, "mmr_lambda": 0.78, "duplicate_threshold": 0.94, "mmr_tag_weight": 0.35, "mmr_normalize": false,
        "neighbors": 0, "recency_half_life_days": null, "group_by": null, "per_group": 1, "max_tokens": null}';
    own jsonb;
    weights jsonb;
BEGIN
    CASE name
        WHEN 'default' THEN
            weights := '{"vec_full": 1.5, "lexical": 1}';
            own := '{"fusion": "adaptive", "lexical_match": "any", "lexical_rank": "bm25", "bm25_k1": 0.9, "bm25_b": 0.4}';
        WHEN 'balanced' THEN
            weights := '{"vec_full": 1, "lexical": 1}';
            own := '{"pool_multiplier": 3}';
        WHEN 'semantic' THEN
            weights := '{"vec_full": 1}';
            own := '{"pool_multiplier": 2}';
        WHEN 'blend' THEN
            weights := '{"vec_full": 0.75, "lexical": 0.25}';
            own := '{}';
        WHEN 'memory' THEN
            weights := '{"vec_full": 1, "vec_user": 1, "vec_asst": 1, "vec_next_user": 1, "lexical": 1,
                "facet_personal_info": 1, "facet_preferences": 1, "facet_events": 1}';
            own := '{"rrf_k": 15, "memory_weight": 0.1, "session_first": true, "mmr": true, "neighbors": 1}';
        ELSE
            RAISE EXCEPTION 'preset: % is not known; allowed are default, balanced, semantic, blend and memory.', coalesce(quote_literal(name), 'null')
                USING ERRCODE = 'PF002';
    END CASE;
    RETURN plain || own || jsonb_build_object('preset', name, 'weights', none || weights);
END
$$;
