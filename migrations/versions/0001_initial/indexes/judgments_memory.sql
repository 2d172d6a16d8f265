CREATE INDEX IF NOT EXISTS judgments_memory ON pgfuse.judgments (profile_id, memory_id);
