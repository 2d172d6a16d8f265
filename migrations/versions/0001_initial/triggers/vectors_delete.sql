CREATE TRIGGER vectors_delete AFTER DELETE ON pgfuse.vectors
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pgfuse.on_vectors_write();
