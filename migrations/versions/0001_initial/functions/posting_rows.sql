-- The terms of one memory, each with its count (a lexeme of task_tag counts three times) and the memory's length, packed as
-- dl * 1024 + tf. regconfig is written as text under the caller's search_path: call it only from functions that set theirs.
CREATE FUNCTION pgfuse.posting_rows(_language regconfig, _fts tsvector) RETURNS TABLE (term bigint, packed int)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50
BEGIN ATOMIC
    SELECT pgfuse.term(d.language_name, l.lexeme),
           d.dl * 1024 + least(1023, cardinality(l.positions) + 2 * cardinality(array_positions(l.weights, 'A')))
    FROM (SELECT _language::text AS language_name, pgfuse.word_count(_fts) AS dl) d, unnest(_fts) l;
END;
