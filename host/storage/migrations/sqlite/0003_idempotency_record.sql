-- Idempotency keys with the requests that they were used for.
CREATE TABLE idempotency_record (
    organization    TEXT NOT NULL,
    mode            TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    user_id         TEXT NOT NULL,
    operation       TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    fingerprint     TEXT NOT NULL,
    resource_id     TEXT NOT NULL,
    refusal         TEXT,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, user_id, operation, idempotency_key)
) STRICT;
-- Serves the deletion of old keys.
CREATE INDEX idempotency_record_created ON idempotency_record (created_at);
