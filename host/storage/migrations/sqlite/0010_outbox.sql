-- Events for subscribers, byte for byte as they are signed.
CREATE TABLE outbox (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id           TEXT NOT NULL,
    event_type   TEXT NOT NULL,
    product      TEXT NOT NULL CHECK (product IN ('hotel', 'flight', 'watch')),
    booking_id   TEXT,
    payload      TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, id)
) STRICT;
CREATE INDEX outbox_booking ON outbox (booking_id, organization, mode, created_at, id);
