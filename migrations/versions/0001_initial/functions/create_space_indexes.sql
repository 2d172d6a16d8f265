CREATE FUNCTION pgfuse.create_space_indexes(space int) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    wanted record;
BEGIN
    FOR wanted IN SELECT i.definition FROM pgfuse.space_indexes(space) i LOOP
        EXECUTE format(wanted.definition, '');
    END LOOP;
END
$$;
