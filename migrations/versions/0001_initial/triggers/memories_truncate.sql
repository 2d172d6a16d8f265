CREATE TRIGGER memories_truncate AFTER TRUNCATE ON pgfuse.memories
FOR EACH STATEMENT EXECUTE FUNCTION pgfuse.on_memories_truncate();
