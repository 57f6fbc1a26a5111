-- The history of bookings of all products, hence without a foreign key.
CREATE TABLE booking_history (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    booking_id   TEXT NOT NULL,
    sequence     INTEGER NOT NULL,
    event        TEXT NOT NULL,
    from_status  TEXT,
    to_status    TEXT NOT NULL,
    reason       TEXT,
    request_id   TEXT,
    occurred_at  INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, booking_id, sequence)
) STRICT, WITHOUT ROWID;
