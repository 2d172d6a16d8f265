-- The texts behind the facet_<name> routes, kept so that a memory can be exported and embedded again.
CREATE TABLE pgfuse.facets (
    profile_id text NOT NULL,
    memory_id bigint NOT NULL,
    name text NOT NULL CHECK (name ~ '^[a-z0-9_]{1,50}$'),
    text text NOT NULL CHECK (text <> ''),
    PRIMARY KEY (profile_id, memory_id, name),
    FOREIGN KEY (profile_id, memory_id) REFERENCES pgfuse.memories (profile_id, id) ON DELETE CASCADE
);
