-- A place in a session, and whether a user speaks there.
CREATE TYPE pgfuse.turn AS (profile_id text, session_id text, granularity text, "position" int, is_user boolean);
