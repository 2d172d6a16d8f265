-- One layer of settings over another: a preset starts afresh, weights are merged route by route.
CREATE FUNCTION pgfuse.merge_settings(_under jsonb, _over jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    IF _over IS NULL OR _over = '{}' THEN
        RETURN _under;
    END IF;
    IF _over ? 'preset' THEN
        _under := _under || pgfuse.preset(_over ->> 'preset');
    END IF;
    RETURN _under || _over
        || CASE WHEN _over ? 'weights' THEN jsonb_build_object('weights', coalesce(_under -> 'weights', '{}') || (_over -> 'weights'))
                ELSE '{}' END;
END
$$;
