CREATE TRIGGER vectors_insert AFTER INSERT ON pgfuse.vectors
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pgfuse.on_vectors_write();
