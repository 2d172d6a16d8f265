CREATE FUNCTION pgfuse.option_ids(_options jsonb, _key text) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $$
DECLARE
    given CONSTANT jsonb := _options -> _key;
BEGIN
    IF given IS NULL OR given IN ('null', '[]') THEN
        RETURN NULL;
    END IF;
    BEGIN
        RETURN ARRAY(SELECT e.value::bigint FROM jsonb_array_elements_text(given) e);
    EXCEPTION WHEN data_exception THEN
        RAISE EXCEPTION '%: % is not allowed; it must be a list of memory ids (whole numbers).', _key, left(given::text, 200)
            USING ERRCODE = 'PF001';
    END;
END
$$;
