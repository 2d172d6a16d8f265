CREATE TRIGGER vectors_update AFTER UPDATE ON pgfuse.vectors
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pgfuse.on_vectors_write();
