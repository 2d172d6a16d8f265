CREATE FUNCTION pgfuse.net_postings(profile_id text) RETURNS TABLE (memory_id bigint, term bigint, tf int, dl int)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT e.id, p.term, abs(e.packed) % 1024, abs(e.packed) / 1024
    FROM pgfuse.postings p CROSS JOIN LATERAL unnest(p.ids, p.packed) AS e (id, packed)
    WHERE p.profile_id = net_postings.profile_id
    GROUP BY e.id, p.term, abs(e.packed) HAVING sum(sign(e.packed)) > 0;
END;
