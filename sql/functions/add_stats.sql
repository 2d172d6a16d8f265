CREATE FUNCTION pgfuse.add_stats(_profile text, _language regconfig, _docs bigint, _words bigint) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO pgfuse.lexical_stats (profile_id, language, docs, words) VALUES (_profile, _language, _docs, _words);
    IF random() < 0.03 THEN
        PERFORM pgfuse.compact_stats(_profile);
    END IF;
END
$$;
