CREATE INDEX IF NOT EXISTS memories_fts ON pgfuse.memories USING gin (profile_id, fts);
