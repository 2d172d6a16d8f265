-- exact for a small route, the listed ids under a selective filter, bits up to a middling size or share of the table, HNSW beyond.
CREATE FUNCTION pgfuse.dense_method(_profile text, _space pgfuse.spaces, _route text, _docs bigint, _filters text, _allowed bigint[]) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    small CONSTANT int := 2000;
    middling CONSTANT int := 40000;
    share CONSTANT float8 := 0.05;
    indexed float8;
BEGIN
    IF _allowed IS NOT NULL THEN
        RETURN 'listed';
    END IF;
    IF _docs <= small OR (SELECT count(*) FROM (
            SELECT FROM pgfuse.vectors v
            WHERE v.profile_id = _profile AND v.space_id = _space.space_id AND v.route = _route LIMIT small + 1) x) <= small THEN
        RETURN 'exact';
    END IF;
    SELECT c.reltuples INTO indexed
    FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
    WHERE i.indisvalid AND c.relnamespace = 'pgfuse'::regnamespace
        AND c.relname = format('vectors_hnsw_%s_%s', _space.space_id, CASE WHEN starts_with(_route, 'facet_') THEN 'facets' ELSE _route END);
    RETURN CASE WHEN indexed IS NOT NULL AND _docs > middling AND _docs >= share * indexed THEN 'hnsw'
                WHEN _filters <> '' THEN 'listed'
                ELSE 'bits' END;
END
$$;
