-- What the HNSW indexes hold: the vector's direction with the code of its profile and route behind it. In one index for all profiles,
-- neighbours in the graph are then mostly of one profile (and one facet), so that a search stays inside it however small its share of the
-- table. pgvector indexes at most 4,000 dimensions: of a longer vector the last are left out here, and counted again when the candidates are
-- compared.
CREATE FUNCTION pgfuse.placed_vector(embedding vector, profile_id text, route text) RETURNS vector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN subvector(l2_normalize(embedding), 1, least(vector_dims(embedding), 3984)) || pgfuse.place_code(profile_id || ' ' || route);
