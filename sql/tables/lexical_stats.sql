-- How many memories and words a profile has, as a sum of changes: writers only append, so none waits for another.
CREATE TABLE pgfuse.lexical_stats (
    profile_id text NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    language regconfig NOT NULL,
    docs bigint NOT NULL,
    words bigint NOT NULL,
    PRIMARY KEY (profile_id, id) INCLUDE (language, docs, words)
);
