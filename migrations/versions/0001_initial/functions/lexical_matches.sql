-- The memories that satisfy the tsquery of their language and the filters, at most so many.
CREATE FUNCTION pgfuse.lexical_matches(_profile text, _scope pgfuse.scope, _filters text, _languages regconfig[], _queries tsquery[], _most int)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    found bigint[] := '{}';
    matched bigint[];
BEGIN
    FOR i IN 1 .. cardinality(_languages) LOOP
        EXECUTE 'SELECT array_agg(x.id) FROM (SELECT m.id FROM pgfuse.memories m
            WHERE m.profile_id = $1 AND m.fts @@ $4 AND m.language = $3' || _filters || ' LIMIT $5) x'
            INTO matched USING _profile, _scope, _languages[i], _queries[i], _most;
        found := found || matched;
    END LOOP;
    RETURN found;
END
$$;
