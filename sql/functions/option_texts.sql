CREATE FUNCTION pgfuse.option_texts(_options jsonb, _key text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    given CONSTANT jsonb := _options -> _key;
BEGIN
    IF given IS NULL OR given = 'null' THEN
        RETURN NULL;
    END IF;
    IF jsonb_typeof(given) = 'string' THEN
        RETURN ARRAY[given #>> '{}'];
    END IF;
    IF jsonb_typeof(given) <> 'array' OR jsonb_path_exists(given, '$[*] ? (@.type() != "string")') THEN
        RAISE EXCEPTION '%: % is not allowed; it must be a text or a list of texts.', _key, left(given::text, 200) USING ERRCODE = 'PF001';
    END IF;
    RETURN ARRAY(SELECT e.value FROM jsonb_array_elements_text(given) e);
END
$$;
