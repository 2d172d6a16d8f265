-- A query as the lexical route asks it: a tsquery for each language of the profile, every word as term, language and lexeme, and how many
-- memories and words the profile has.
CREATE TYPE pgfuse.lexical_query AS (
    languages regconfig[],
    queries tsquery[],
    terms bigint[],
    term_languages regconfig[],
    lexemes text[],
    docs float8,
    words float8
);
