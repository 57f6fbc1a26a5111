-- Background jobs. The key does not contain an organization: jobs of all organizations are
-- claimed in the order of their due times, and the table is small. `reschedule_at` is the next
-- due time of a job that was scheduled again while it was leased.
CREATE TABLE job (
    kind             TEXT NOT NULL,
    subject          TEXT NOT NULL,
    due_at           INTEGER NOT NULL,
    reschedule_at    INTEGER,
    lease_token      TEXT,
    lease_expires_at INTEGER,
    attempt_count    INTEGER NOT NULL,
    parked_at        INTEGER,
    last_error       TEXT,
    created_at       INTEGER NOT NULL,
    PRIMARY KEY (kind, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_due ON job (due_at) WHERE parked_at IS NULL;
CREATE INDEX job_parked ON job (parked_at) WHERE parked_at IS NOT NULL;
