CREATE INDEX IF NOT EXISTS memories_labels ON pgfuse.memories USING gin (profile_id, metadata jsonb_path_ops, tags);
