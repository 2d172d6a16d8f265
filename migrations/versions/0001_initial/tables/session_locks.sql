-- A row is updated by whoever writes turns of its sessions, so that such writers take turns; and, unlike an advisory lock, it makes a
-- transaction of a stricter isolation level fail instead of linking turns by an old snapshot.
CREATE TABLE pgfuse.session_locks (
    profile_id text NOT NULL,
    bucket int NOT NULL,
    writes bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (profile_id, bucket)
);
