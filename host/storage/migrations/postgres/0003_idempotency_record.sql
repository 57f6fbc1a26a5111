-- Idempotency keys with the requests that they were used for.
CREATE TABLE idempotency_record (
    organization    TEXT COLLATE "C" NOT NULL,
    mode            TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    user_id         TEXT COLLATE "C" NOT NULL,
    operation       TEXT COLLATE "C" NOT NULL,
    idempotency_key TEXT COLLATE "C" NOT NULL,
    fingerprint     TEXT COLLATE "C" NOT NULL,
    resource_id     TEXT COLLATE "C" NOT NULL,
    refusal         TEXT COLLATE "C",
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, user_id, operation, idempotency_key)
);
-- Serves the deletion of old keys.
CREATE INDEX idempotency_record_created ON idempotency_record (created_at);
