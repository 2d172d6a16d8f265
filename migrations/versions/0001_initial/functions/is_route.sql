CREATE FUNCTION pgfuse.is_route(name text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN name IN ('vec_full', 'vec_user', 'vec_asst', 'vec_next_user', 'lexical') OR name ~ '^facet_[a-z0-9_]{1,50}$';
