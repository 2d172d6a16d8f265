-- Kept in the row: scoring the words of a candidate reads it, and the content then moves out first.
ALTER TABLE pgfuse.memories ALTER COLUMN fts SET STORAGE MAIN;
