-- A schema of this name that somebody else made is left alone.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = 'pgfuse'::regnamespace AND c.relname NOT LIKE 'alembic_version%')
        OR EXISTS (SELECT FROM pg_proc p WHERE p.pronamespace = 'pgfuse'::regnamespace) THEN
        RAISE EXCEPTION 'The schema pgfuse already holds objects that are not from this migration.'
            USING ERRCODE = 'PF004',
                  HINT = 'Rename or drop that schema, or use another database; pgfuse needs the schema name for itself.';
    END IF;
END
$$;
