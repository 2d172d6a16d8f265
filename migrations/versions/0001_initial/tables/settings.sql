-- Every version of every profile's settings; the newest one counts. The profile '' holds the database default.
CREATE TABLE pgfuse.settings (
    profile_id text NOT NULL,
    version int NOT NULL,
    settings jsonb NOT NULL CHECK (jsonb_typeof(settings) = 'object'),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_by text NOT NULL DEFAULT current_user,
    PRIMARY KEY (profile_id, version)
);
