CREATE FUNCTION pgfuse.drop_space(space int) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    unwanted text[];
    name text;
    removed bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM pgfuse.spaces s WHERE s.space_id = space AND NOT s.active) THEN
        RAISE EXCEPTION 'Space % does not exist or is the one in use, which cannot be dropped.', space
            USING ERRCODE = 'PF001', HINT = 'List the spaces with: SELECT * FROM pgfuse.spaces.';
    END IF;
    -- the names of the indexes are read while the space is known; dropping them locks out readers, so it comes last
    unwanted := ARRAY(SELECT i.name FROM pgfuse.space_indexes(space) i);
    DELETE FROM pgfuse.spaces s WHERE s.space_id = space;
    DELETE FROM pgfuse.vectors v WHERE v.space_id = space;
    GET DIAGNOSTICS removed = ROW_COUNT;
    FOREACH name IN ARRAY unwanted LOOP
        EXECUTE format('DROP INDEX IF EXISTS pgfuse.%I', name);
    END LOOP;
    RETURN removed;
END
$$;
