-- The history of bookings of all products, hence without a foreign key.
CREATE TABLE booking_history (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    booking_id   TEXT COLLATE "C" NOT NULL,
    sequence     BIGINT NOT NULL,
    event        TEXT COLLATE "C" NOT NULL,
    from_status  TEXT COLLATE "C",
    to_status    TEXT COLLATE "C" NOT NULL,
    reason       TEXT COLLATE "C",
    request_id   TEXT COLLATE "C",
    occurred_at  BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, booking_id, sequence)
);
