CREATE FUNCTION pgfuse.scope_sql(_scope pgfuse.scope) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    IF _scope IS NULL THEN
        RETURN '';
    END IF;
    RETURN coalesce((SELECT string_agg(' AND ' || f.condition, '') FROM pgfuse.scope_filters(_scope) f), '');
END
$$;
