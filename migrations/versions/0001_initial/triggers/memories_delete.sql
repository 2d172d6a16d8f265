CREATE TRIGGER memories_delete AFTER DELETE ON pgfuse.memories
REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION pgfuse.on_memories_delete();
