-- The ids inside a scope, or NULL when there are more than _most.
CREATE FUNCTION pgfuse.allowed_ids(_profile text, _scope pgfuse.scope, _filters text, _most int) RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    found bigint[];
BEGIN
    EXECUTE 'SELECT array_agg(x.id) FROM (SELECT m.id FROM pgfuse.memories m WHERE m.profile_id = $1' || _filters || ' LIMIT $3) x'
        INTO found USING _profile, _scope, _most + 1;
    RETURN CASE WHEN coalesce(cardinality(found), 0) <= _most THEN coalesce(found, '{}') END;
END
$$;
