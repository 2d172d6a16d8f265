CREATE FUNCTION pgfuse.setting_rules() RETURNS TABLE (key text, type text, low numeric, high numeric, choices text[], nullable boolean)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 30
BEGIN ATOMIC
    VALUES
        ('preset', 'choice', NULL::numeric, NULL::numeric, ARRAY['default', 'balanced', 'semantic', 'blend', 'memory'], false),
        ('fusion', 'choice', NULL, NULL, ARRAY['rrf', 'linear', 'adaptive'], false),
        ('rrf_k', 'integer', 1, 1000, NULL, false),
        ('weights', 'weights', 0, 5, NULL, false),
        ('pool_multiplier', 'integer', 1, 50, NULL, true),
        ('memory_weight', 'number', 0, 5, NULL, false),
        ('lexical_match', 'choice', NULL, NULL, ARRAY['any', 'all', 'websearch'], false),
        ('lexical_rank', 'choice', NULL, NULL, ARRAY['bm25', 'ts_rank', 'ts_rank_cd'], false),
        ('bm25_k1', 'number', 0, 3, NULL, false),
        ('bm25_b', 'number', 0, 1, NULL, false),
        ('session_first', 'boolean', NULL, NULL, NULL, false),
        ('turn_factor', 'number', 0, 5, NULL, false),
        ('turn_cap', 'number', 0, 5, NULL, false),
        ('mmr', 'boolean', NULL, NULL, NULL, false),
        ('mmr_normalize', 'boolean', NULL, NULL, NULL, false),
        ('mmr_lambda', 'number', 0, 1, NULL, false),
        ('duplicate_threshold', 'number', 0, 1, NULL, false),
        ('mmr_tag_weight', 'number', 0, 1, NULL, false),
        ('neighbors', 'integer', 0, 10, NULL, false),
        ('recency_half_life_days', 'number', 0.001, 100000, NULL, true),
        ('group_by', 'choice', NULL, NULL, ARRAY['session'], true),
        ('per_group', 'integer', 1, 1000, NULL, false),
        ('max_tokens', 'integer', 1, 100000000, NULL, true);
END;
