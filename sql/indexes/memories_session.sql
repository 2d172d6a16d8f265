CREATE INDEX IF NOT EXISTS memories_session ON pgfuse.memories (profile_id, session_id, position);
