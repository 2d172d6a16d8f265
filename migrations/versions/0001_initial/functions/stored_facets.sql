CREATE FUNCTION pgfuse.stored_facets(_profile text, _memory bigint) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(jsonb_object_agg(f.name, f.text), '{}') FROM pgfuse.facets f WHERE f.profile_id = _profile AND f.memory_id = _memory;
END;
