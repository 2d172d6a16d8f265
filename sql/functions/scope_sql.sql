CREATE FUNCTION pgfuse.scope_sql(_scope pgfuse.scope) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT string_agg(' AND ' || f.condition, '') FROM pgfuse.scope_filters(_scope) f;
END;
