-- Background jobs. The key does not contain an organization: jobs of all organizations are
-- claimed in the order of their due times, and the table is small. `reschedule_at` is the next
-- due time of a job that was scheduled again while it was leased.
CREATE TABLE job (
    kind             TEXT COLLATE "C" NOT NULL,
    subject          TEXT COLLATE "C" NOT NULL,
    due_at           BIGINT NOT NULL,
    reschedule_at    BIGINT,
    lease_token      TEXT COLLATE "C",
    lease_expires_at BIGINT,
    attempt_count    BIGINT NOT NULL,
    parked_at        BIGINT,
    last_error       TEXT COLLATE "C",
    created_at       BIGINT NOT NULL,
    PRIMARY KEY (kind, subject)
);
CREATE INDEX job_due ON job (due_at) WHERE parked_at IS NULL;
CREATE INDEX job_parked ON job (parked_at) WHERE parked_at IS NOT NULL;
