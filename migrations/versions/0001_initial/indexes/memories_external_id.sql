CREATE UNIQUE INDEX IF NOT EXISTS memories_external_id ON pgfuse.memories (profile_id, external_id);
