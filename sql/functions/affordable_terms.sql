-- The rarest terms whose postings together stay within the budget, always at least the rarest one, and how many were left out.
CREATE FUNCTION pgfuse.affordable_terms(_profile text, _terms bigint[], _budget int, OUT terms bigint[], OUT left_out bigint)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(array_agg(r.term) FILTER (WHERE r.total <= _budget OR r.total = r.df), '{}'),
           count(*) FILTER (WHERE r.total > _budget AND r.total <> r.df)
    FROM (SELECT t.term, c.df, sum(c.df) OVER (ORDER BY c.df, t.term) AS total
          FROM unnest(_terms) AS t (term)
          CROSS JOIN LATERAL (
              SELECT count(*) AS df
              FROM (SELECT 1 FROM pgfuse.postings p WHERE p.profile_id = _profile AND p.term = t.term LIMIT _budget + 1) x) c
          WHERE c.df > 0) r;
END;
