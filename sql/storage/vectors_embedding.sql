-- Kept in the row where it fits, so that an exact comparison is one read.
ALTER TABLE pgfuse.vectors ALTER COLUMN embedding SET STORAGE MAIN;
