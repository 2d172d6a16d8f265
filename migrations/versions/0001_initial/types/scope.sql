-- Which memories of a profile a search may see.
CREATE TYPE pgfuse.scope AS (
    session_ids text[],
    project_id text,
    exclude_ids bigint[],
    kinds text[],
    granularity text[],
    tags text[],
    metadata jsonb,
    since timestamptz,
    until timestamptz,
    as_of timestamptz
);
