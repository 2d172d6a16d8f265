-- Merges the small segments of the terms that have many, and all segments of those where most entries take each other back.
-- Rows that another transaction is merging are skipped, so nobody waits.
CREATE FUNCTION pgfuse.compact_postings(_profile text, _terms bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    small CONSTANT int := 512;
    crowded CONSTANT bigint[] := ARRAY(
        SELECT p.term FROM pgfuse.postings p WHERE p.profile_id = _profile AND p.term = ANY (_terms) AND p.entries < small
        GROUP BY p.term HAVING count(*) > 12);
    wasteful CONSTANT bigint[] := ARRAY(
        SELECT p.term FROM pgfuse.postings p WHERE p.profile_id = _profile AND p.term = ANY (_terms)
        GROUP BY p.term HAVING sum(p.entries) > 2 * sum(p.docs) + 1024);
BEGIN
    -- under a stricter isolation level a row that somebody else merged would be a serialization failure
    IF crowded || wasteful = '{}' OR current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN;
    END IF;
    WITH old AS MATERIALIZED (
        SELECT p.term, p.segment, p.ids, p.packed FROM pgfuse.postings p
        WHERE p.profile_id = _profile AND p.term = ANY (crowded || wasteful)
            AND (p.entries < small OR p.term = ANY (wasteful)) FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM pgfuse.postings p USING old WHERE p.profile_id = _profile AND p.term = old.term AND p.segment = old.segment
    ), net AS (
        SELECT o.term, e.id, abs(e.packed) AS packed, sum(sign(e.packed))::int AS sign
        FROM old o CROSS JOIN LATERAL unnest(o.ids, o.packed) AS e (id, packed)
        GROUP BY o.term, e.id, abs(e.packed) HAVING sum(sign(e.packed)) <> 0
    ), placed AS (
        -- more than one is left where what takes the entry back is in a segment that is not merged here
        SELECT n.term, n.id, n.packed, sign(n.sign)::int AS sign, (row_number() OVER (PARTITION BY n.term ORDER BY n.id) - 1) / 1024 AS part
        FROM net n CROSS JOIN LATERAL generate_series(1, abs(n.sign))
    )
    INSERT INTO pgfuse.postings (profile_id, term, docs, ids, packed)
    SELECT _profile, p.term, sum(p.sign), array_agg(p.id ORDER BY p.id), array_agg(p.sign * p.packed ORDER BY p.id)
    FROM placed p GROUP BY p.term, p.part;
END
$$;
