-- The rarest terms whose postings together stay within the budget; always at least the rarest one.
CREATE FUNCTION pgfuse.affordable_terms(_profile text, _terms bigint[], _budget int) RETURNS bigint[]
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT array_agg(r.term)
    FROM (SELECT t.term, c.df, sum(c.df) OVER (ORDER BY c.df, t.term) AS total
          FROM unnest(_terms) AS t (term)
          CROSS JOIN LATERAL (
              SELECT count(*) AS df
              FROM (SELECT 1 FROM pgfuse.postings p WHERE p.profile_id = _profile AND p.term = t.term LIMIT _budget + 1) x) c
          WHERE c.df > 0) r
    WHERE r.total <= _budget OR r.total = r.df;
END;
