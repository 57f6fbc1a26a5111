-- Events for subscribers, byte for byte as they are signed.
CREATE TABLE outbox (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id           TEXT COLLATE "C" NOT NULL,
    event_type   TEXT COLLATE "C" NOT NULL,
    product      TEXT COLLATE "C" NOT NULL CHECK (product IN ('hotel', 'flight', 'watch')),
    booking_id   TEXT COLLATE "C",
    payload      TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, id)
);
-- The default compression method takes noticeable time; some servers lack this faster one.
DO $$
BEGIN
    ALTER TABLE outbox ALTER COLUMN payload SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END $$;
CREATE INDEX outbox_booking ON outbox (booking_id, organization, mode, created_at, id);
