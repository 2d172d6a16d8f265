-- Removes the vectors of these memories that no longer belong to their texts, and tells which of the wanted ones are in the space.
CREATE FUNCTION pgfuse.prune_vectors(profile_id text, space int, ids bigint[], wanted_ids bigint[], wanted_routes text[], wanted_sources uuid[])
RETURNS TABLE (id bigint, route text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    profile CONSTANT text := prune_vectors.profile_id;
BEGIN
    -- a switch of spaces locks this table, so none can come between this and the vectors that follow
    LOCK TABLE pgfuse.memories IN ROW EXCLUSIVE MODE;
    IF NOT EXISTS (SELECT FROM pgfuse.spaces s WHERE s.space_id = space AND s.active) THEN
        RAISE EXCEPTION 'The space in use was switched while these memories were being embedded.'
            USING ERRCODE = 'PF003', HINT = 'Nothing was stored: remember them again.';
    END IF;
    DELETE FROM pgfuse.vectors v
    USING (SELECT o.memory_id, o.route, o.source FROM pgfuse.vectors o
           WHERE o.profile_id = profile AND o.memory_id = ANY (prune_vectors.ids) AND o.route <> 'vec_next_user'
           EXCEPT SELECT w.id, w.route, w.source FROM unnest(wanted_ids, wanted_routes, wanted_sources) AS w (id, route, source)) u
    WHERE v.profile_id = profile AND v.memory_id = u.memory_id AND v.route = u.route AND v.source IS NOT DISTINCT FROM u.source;
    RETURN QUERY SELECT v.memory_id, v.route FROM pgfuse.vectors v
    WHERE v.profile_id = profile AND v.memory_id = ANY (prune_vectors.ids) AND (v.space_id = space) IS TRUE;
END
$$;
