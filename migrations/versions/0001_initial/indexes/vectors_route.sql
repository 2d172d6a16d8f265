-- All vectors of one route of one profile; the bits are read from the index alone. The collation keeps it to the statements that name it:
-- a look-up of single memories, whatever the planner believes of their number, is left to the primary key.
CREATE INDEX IF NOT EXISTS vectors_route ON pgfuse.vectors (profile_id COLLATE "C", space_id, route) INCLUDE (memory_id, bits);
