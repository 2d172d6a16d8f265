CREATE INDEX IF NOT EXISTS memories_kind ON pgfuse.memories (profile_id, kind, granularity);
