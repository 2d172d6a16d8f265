-- One row of a result. The client's rows end with one that has no id and carries the trace.
CREATE TYPE pgfuse.hit AS (
    id bigint,
    external_id text,
    content text,
    kind text,
    granularity text,
    session_id text,
    "position" int,
    tags text[],
    metadata jsonb,
    memory_score real,
    occurred_at timestamptz,
    rrf_score float8,
    blend_score float8,
    final_score float8,
    routes text[],
    sources text[],
    explain jsonb,
    neighbor_of bigint,
    embedding bytea,
    trace jsonb
);
