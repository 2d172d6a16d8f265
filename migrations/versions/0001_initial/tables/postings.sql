-- The inverted index behind BM25, as segments: a writer only appends one row per term it wrote, so writers never wait for each other,
-- and small segments are merged in passing. term is a 64-bit hash of (language, lexeme).
-- An entry is the id of a memory with, packed into an int, its length and how often the term stands in it; below 0 the entry takes
-- an earlier one back. docs is the number of memories that the segment adds to the term's (or takes from it), entries what it costs to read.
CREATE TABLE pgfuse.postings (
    profile_id text NOT NULL,
    term bigint NOT NULL,
    segment bigint GENERATED ALWAYS AS IDENTITY,
    docs int NOT NULL,
    ids bigint[] NOT NULL,
    packed int[] NOT NULL,
    entries int NOT NULL GENERATED ALWAYS AS (cardinality(ids)) STORED,
    PRIMARY KEY (profile_id, term, segment) INCLUDE (docs, entries)
);
