-- One vector per (memory, route, space). The dimension is the space's; an all-zero vector has no cosine and is not stored,
-- nor is one so short or long that the squares that a cosine needs leave the range of a 32-bit float.
-- source is the md5 of what was embedded: it tells whether a vector still belongs to its text.
CREATE TABLE pgfuse.vectors (
    profile_id text NOT NULL,
    memory_id bigint NOT NULL,
    space_id int NOT NULL,
    route text NOT NULL CHECK (route IN ('vec_full', 'vec_user', 'vec_asst', 'vec_next_user') OR route ~ '^facet_[a-z0-9_]{1,50}$'),
    source uuid,
    embedding vector NOT NULL CHECK (vector_norm(embedding) BETWEEN 1e-15 AND 1e18),
    bits bit varying NOT NULL GENERATED ALWAYS AS (binary_quantize(embedding)) STORED,
    PRIMARY KEY (profile_id, memory_id, space_id, route),
    FOREIGN KEY (profile_id, memory_id) REFERENCES pgfuse.memories (profile_id, id) ON DELETE CASCADE
);
