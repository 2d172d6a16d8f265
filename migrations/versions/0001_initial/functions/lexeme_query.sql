CREATE FUNCTION pgfuse.lexeme_query(lexeme text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''';
