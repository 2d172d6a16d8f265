-- A direction of its own for each place, of length 2: vectors with it appended lie nearest to those of their own place.
CREATE FUNCTION pgfuse.place_code(place text) RETURNS vector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN string_to_array(hashtextextended(place, 0)::bit(16)::text, NULL)::real[]::vector
    - '[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]'::vector;
