CREATE FUNCTION pgfuse.check_setting(_key text, _value jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    rule record;
    allowed text;
    bad boolean;
BEGIN
    SELECT * INTO rule FROM pgfuse.setting_rules() r WHERE r.key = _key;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'Unknown setting %.', quote_literal(_key)
            USING ERRCODE = 'PF002',
                  HINT = 'Known are: ' || (SELECT string_agg(r.key, ', ' ORDER BY r.key) FROM pgfuse.setting_rules() r) || '.';
    END IF;
    IF _value = 'null' AND rule.nullable THEN
        RETURN;
    END IF;
    CASE rule.type
        WHEN 'choice' THEN
            allowed := 'one of ' || array_to_string(rule.choices, ', ');
            bad := jsonb_typeof(_value) <> 'string' OR NOT (_value #>> '{}') = ANY (rule.choices);
        WHEN 'boolean' THEN
            allowed := 'true or false';
            bad := jsonb_typeof(_value) <> 'boolean';
        WHEN 'weights' THEN
            PERFORM pgfuse.check_weights(_value);
            bad := false;
        ELSE
            allowed := format('%s from %s to %s', CASE rule.type WHEN 'integer' THEN 'a whole number' ELSE 'a number' END, rule.low, rule.high);
            bad := CASE WHEN jsonb_typeof(_value) <> 'number' THEN true
                        WHEN rule.type = 'integer' AND (_value #>> '{}') !~ '^-?[0-9]+$' THEN true
                        WHEN abs((_value #>> '{}')::numeric) BETWEEN 0 AND 1e-300 AND (_value #>> '{}')::numeric <> 0 THEN true
                        ELSE (_value #>> '{}')::numeric NOT BETWEEN rule.low AND rule.high END;
    END CASE;
    IF bad THEN
        RAISE EXCEPTION '%: % is not allowed; it must be %.', _key, left(_value::text, 200), allowed || CASE WHEN rule.nullable THEN ', or null' ELSE '' END
            USING ERRCODE = 'PF002';
    END IF;
END
$$;
