-- Now and then a writer sums up what has piled up in the profile it wrote to.
CREATE FUNCTION pgfuse.tidy_lexical(_profile text, _terms bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM pgfuse.compact_stats(_profile), pgfuse.compact_postings(_profile, _terms);
END
$$;
