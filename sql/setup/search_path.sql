-- Functions are created with this path (SET search_path FROM CURRENT), so they find pgvector in whatever schema it was installed.
SELECT set_config(
    'search_path',
    (SELECT string_agg(DISTINCT quote_ident(n.nspname), ', ')
     FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
     WHERE e.extname = 'vector') || ', pg_catalog, pg_temp',
    true);
