-- The terms of one memory, each with its count (a lexeme of task_tag counts three times) and the memory's length, packed as
-- dl * 1024 + tf. regconfig is written as text under the caller's search_path: call it only from functions that set theirs.
CREATE FUNCTION pgfuse.posting_rows(_language regconfig, _fts tsvector) RETURNS TABLE (term bigint, packed int)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50
BEGIN ATOMIC
    SELECT pgfuse.term(l.language_name, l.lexeme), (l.dl * 1024 + least(1023, l.tf))::int
    FROM (SELECT u.lexeme, _language::text AS language_name, sum(cardinality(u.positions)) OVER () AS dl,
                 cardinality(u.positions) + 2 * cardinality(array_positions(u.weights, 'A')) AS tf
          FROM unnest(_fts) u) l;
END;
