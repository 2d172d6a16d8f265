CREATE FUNCTION pgfuse.option_time(_options jsonb, _key text) RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $$
BEGIN
    IF _options ->> _key IS NULL THEN
        RETURN NULL;
    END IF;
    BEGIN
        RETURN (_options ->> _key)::timestamptz;
    EXCEPTION WHEN data_exception THEN
        RAISE EXCEPTION '%: % is not allowed; it must be a time such as 2026-01-31T12:00:00Z.', _key, left((_options -> _key)::text, 200)
            USING ERRCODE = 'PF001';
    END;
END
$$;
