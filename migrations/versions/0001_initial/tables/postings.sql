-- The inverted index behind BM25: how often a term stands in a memory, and how long that memory is.
-- term is a 64-bit hash of (language, lexeme); tf counts a lexeme of task_tag three times; dl is the number of words.
CREATE TABLE pgfuse.postings (
    term bigint NOT NULL,
    memory_id bigint NOT NULL,
    dl int NOT NULL,
    tf smallint NOT NULL,
    profile_id text NOT NULL,
    PRIMARY KEY (profile_id, term, memory_id) INCLUDE (tf, dl)
);
