CREATE FUNCTION pgfuse.activate_space(space int) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pgfuse.spaces s WHERE s.space_id = space) THEN
        RAISE EXCEPTION 'There is no space %.', space
            USING ERRCODE = 'PF001', HINT = 'List the spaces with: SELECT * FROM pgfuse.spaces.';
    END IF;
    UPDATE pgfuse.spaces s SET active = false WHERE s.active AND s.space_id <> space;
    UPDATE pgfuse.spaces s SET active = true WHERE s.space_id = space AND NOT s.active;
END
$$;
