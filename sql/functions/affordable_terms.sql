-- The terms that the profile has, rarest first, with their idf. To read the first `affordable` of them (always at least one) takes
-- `reading` entries, within the budget where one is; to read all takes `entries`. wasteful: most entries of a term are taken back.
CREATE FUNCTION pgfuse.affordable_terms(
    _profile text, _terms bigint[], _docs float8, _budget bigint,
    OUT terms bigint[], OUT idfs float8[], OUT affordable int, OUT reading bigint, OUT entries bigint, OUT wasteful boolean)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    SELECT array_agg(c.term), array_agg(ln(1::float8 + (_docs - c.df + 0.5::float8) / (c.df + 0.5::float8))),
           count(*) FILTER (WHERE c.total <= _budget OR c.place = 1), max(c.total) FILTER (WHERE c.total <= _budget OR c.place = 1), max(c.total),
           coalesce(bool_or(c.entries > 2 * c.df + 1024), false)
    INTO terms, idfs, affordable, reading, entries, wasteful
    FROM (SELECT t.term, d.df, d.entries, sum(d.entries) OVER rarest AS total, row_number() OVER rarest AS place
          FROM unnest(_terms) AS t (term)
          CROSS JOIN LATERAL (
              SELECT sum(p.docs)::float8 AS df, sum(p.entries) AS entries FROM pgfuse.postings p
              WHERE p.profile_id = _profile AND p.term = t.term OFFSET 0) d
          WHERE d.df > 0 WINDOW rarest AS (ORDER BY d.df, t.term ROWS UNBOUNDED PRECEDING) ORDER BY d.df, t.term) c;
    terms := coalesce(terms, '{}');
    idfs := coalesce(idfs, '{}');
    reading := coalesce(reading, 0);
    entries := coalesce(entries, 0);
END
$$;
