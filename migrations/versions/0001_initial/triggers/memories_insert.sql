CREATE TRIGGER memories_insert AFTER INSERT ON pgfuse.memories
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION pgfuse.on_memories_insert();
