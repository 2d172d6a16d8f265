-- The rarest terms whose postings together stay within the budget, always at least the rarest one, with their idf; and how many
-- were left out. No budget takes all.
CREATE FUNCTION pgfuse.affordable_terms(
    _profile text, _terms bigint[], _docs float8, _budget int, OUT terms bigint[], OUT idfs float8[], OUT left_out bigint)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(array_agg(r.term ORDER BY r.term) FILTER (WHERE r.affordable), '{}'),
           coalesce(array_agg(ln(1::float8 + (_docs - r.df + 0.5::float8) / (r.df + 0.5::float8)) ORDER BY r.term) FILTER (WHERE r.affordable), '{}'),
           count(*) FILTER (WHERE NOT r.affordable)
    FROM (SELECT c.term, c.df, c.total <= _budget OR c.total = c.df OR _budget IS NULL AS affordable
          FROM (SELECT t.term, d.df, sum(d.df) OVER (ORDER BY d.df, t.term) AS total
                FROM unnest(_terms) AS t (term)
                CROSS JOIN LATERAL (
                    SELECT sum(p.docs)::float8 AS df FROM pgfuse.postings p WHERE p.profile_id = _profile AND p.term = t.term OFFSET 0) d
                WHERE d.df > 0) c) r;
END;
