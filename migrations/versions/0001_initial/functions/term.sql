CREATE FUNCTION pgfuse.term(language_name text, lexeme text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN hashtextextended(lexeme, hashtext(language_name));
