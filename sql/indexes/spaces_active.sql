CREATE UNIQUE INDEX IF NOT EXISTS spaces_active ON pgfuse.spaces (active) WHERE active;
