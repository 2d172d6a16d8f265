-- A direction of its own for each profile, of length 2: vectors with it appended lie nearest to those of their own profile.
CREATE FUNCTION pgfuse.profile_code(profile_id text) RETURNS vector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN string_to_array(hashtextextended(profile_id, 0)::bit(16)::text, NULL)::real[]::vector
    - '[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]'::vector;
