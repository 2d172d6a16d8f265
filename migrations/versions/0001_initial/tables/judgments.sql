-- Which memories answer a query, and how well: what evaluation and tuning measure against.
CREATE TABLE pgfuse.judgments (
    profile_id text NOT NULL,
    query_id text NOT NULL,
    memory_id bigint NOT NULL,
    query text NOT NULL,
    relevance int NOT NULL DEFAULT 1 CHECK (relevance >= 0),
    PRIMARY KEY (profile_id, query_id, memory_id),
    FOREIGN KEY (profile_id, memory_id) REFERENCES pgfuse.memories (profile_id, id) ON DELETE CASCADE
);
