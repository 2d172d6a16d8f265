CREATE FUNCTION pgfuse.drop_space(space int) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    unwanted record;
    removed bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM pgfuse.spaces s WHERE s.space_id = space AND NOT s.active) THEN
        RAISE EXCEPTION 'Space % does not exist or is the one in use, which cannot be dropped.', space
            USING ERRCODE = 'PF001', HINT = 'List the spaces with: SELECT * FROM pgfuse.spaces.';
    END IF;
    FOR unwanted IN SELECT i.name FROM pgfuse.space_indexes(space) i LOOP
        EXECUTE format('DROP INDEX IF EXISTS pgfuse.%I', unwanted.name);
    END LOOP;
    DELETE FROM pgfuse.vectors v WHERE v.space_id = space;
    GET DIAGNOSTICS removed = ROW_COUNT;
    DELETE FROM pgfuse.spaces s WHERE s.space_id = space;
    RETURN removed;
END
$$;
