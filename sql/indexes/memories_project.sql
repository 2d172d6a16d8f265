CREATE INDEX IF NOT EXISTS memories_project ON pgfuse.memories (profile_id, project_id) WHERE project_id IS NOT NULL;
