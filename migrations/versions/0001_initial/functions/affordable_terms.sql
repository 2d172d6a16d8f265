-- The terms that the profile has, rarest first, with their idf. To read the first `affordable` of them (always at least one) takes
-- `reading` entries, within the budget where one is; to read all takes `entries`.
CREATE FUNCTION pgfuse.affordable_terms(
    _profile text, _terms bigint[], _docs float8, _budget bigint,
    OUT terms bigint[], OUT idfs float8[], OUT affordable int, OUT reading bigint, OUT entries bigint)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(array_agg(c.term ORDER BY c.df, c.term), '{}'),
           coalesce(array_agg(ln(1::float8 + (_docs - c.df + 0.5::float8) / (c.df + 0.5::float8)) ORDER BY c.df, c.term), '{}'),
           count(*) FILTER (WHERE c.total <= _budget OR c.place = 1),
           coalesce(max(c.total) FILTER (WHERE c.total <= _budget OR c.place = 1), 0), coalesce(max(c.total), 0)
    FROM (SELECT t.term, d.df, sum(d.entries) OVER rarest AS total, row_number() OVER rarest AS place
          FROM unnest(_terms) AS t (term)
          CROSS JOIN LATERAL (
              SELECT sum(p.docs)::float8 AS df, sum(p.entries) AS entries FROM pgfuse.postings p
              WHERE p.profile_id = _profile AND p.term = t.term OFFSET 0) d
          WHERE d.df > 0 WINDOW rarest AS (ORDER BY d.df, t.term)) c;
END;
