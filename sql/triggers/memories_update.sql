CREATE TRIGGER memories_update AFTER UPDATE ON pgfuse.memories
REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION pgfuse.on_memories_update();
