-- The memories nearest by the sign bits of their vectors, read from the index alone.
CREATE FUNCTION pgfuse.dense_bits(_profile text, _space int, _route text, _bits bit varying, _most int) RETURNS bigint[]
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT ARRAY(
        SELECT v.memory_id FROM pgfuse.vectors v
        WHERE v.profile_id = _profile AND v.space_id = _space AND v.route = _route
        ORDER BY v.bits <~> _bits
        LIMIT _most);
END;
