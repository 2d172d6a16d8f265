-- exact for a small route or where much of it is wanted, the listed ids under a selective filter, bits up to a middling size, HNSW beyond.
CREATE FUNCTION pgfuse.dense_method(
    _profile text, _space pgfuse.spaces, _route text, _docs bigint, _filters text, _allowed bigint[], _most int
) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    small CONSTANT bigint := greatest(5000, 50::bigint * _most);
    middling CONSTANT int := 15000;
BEGIN
    IF _allowed IS NOT NULL THEN
        RETURN 'listed';
    END IF;
    -- every memory has vec_full; of another route there may be few
    IF _docs <= small OR _route <> 'vec_full' AND (SELECT count(*) FROM (
            SELECT FROM pgfuse.vectors v
            WHERE v.profile_id COLLATE "C" = _profile AND v.space_id = _space.space_id AND v.route = _route LIMIT small + 1) x) <= small THEN
        RETURN CASE WHEN _filters <> '' THEN 'listed' ELSE 'exact' END;
    END IF;
    IF _docs > middling AND EXISTS (
            SELECT FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
            WHERE i.indisvalid AND c.relnamespace = 'pgfuse'::regnamespace
                AND c.relname = format('vectors_hnsw_%s_%s', _space.space_id, CASE WHEN starts_with(_route, 'facet_') THEN 'facets' ELSE _route END)) THEN
        RETURN 'hnsw';
    END IF;
    RETURN CASE WHEN _filters <> '' THEN 'listed' ELSE 'bits' END;
END
$$;
