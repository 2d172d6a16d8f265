CREATE FUNCTION pgfuse.on_memories_truncate() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    TRUNCATE pgfuse.postings, pgfuse.lexical_stats;
    RETURN NULL;
END
$$;
