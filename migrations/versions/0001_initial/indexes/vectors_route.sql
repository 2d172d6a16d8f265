-- Read index-only: all the bits of one route of one profile, for the quantised pre-selection.
CREATE INDEX IF NOT EXISTS vectors_route ON pgfuse.vectors (profile_id, space_id, route) INCLUDE (memory_id, bits);
