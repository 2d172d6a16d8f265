CREATE INDEX IF NOT EXISTS memories_time ON pgfuse.memories (profile_id, (coalesce(occurred_at, created_at)));
