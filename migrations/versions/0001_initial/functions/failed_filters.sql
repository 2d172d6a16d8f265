CREATE FUNCTION pgfuse.failed_filters(_profile text, _scope pgfuse.scope, _memory bigint) RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    failed text[] := '{}';
    filter record;
    passes boolean;
BEGIN
    FOR filter IN SELECT f.name, f.condition FROM pgfuse.scope_filters(_scope) f LOOP
        EXECUTE 'SELECT ' || filter.condition || ' FROM pgfuse.memories m WHERE m.profile_id = $1 AND m.id = $3'
            INTO passes USING _profile, _scope, _memory;
        IF passes IS NOT TRUE THEN
            failed := failed || filter.name;
        END IF;
    END LOOP;
    RETURN failed;
END
$$;
