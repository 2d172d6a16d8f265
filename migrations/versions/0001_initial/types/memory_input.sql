-- A memory as a client sends it; ordinal is its place in the call.
CREATE TYPE pgfuse.memory_input AS (
    ordinal int,
    id bigint,
    external_id text,
    kind text,
    granularity text,
    session_id text,
    project_id text,
    "position" int,
    content text,
    user_text text,
    assistant_text text,
    task_tag text,
    tags text[],
    language regconfig,
    memory_score real,
    metadata jsonb,
    occurred_at timestamptz,
    created_at timestamptz,
    facets jsonb
);
