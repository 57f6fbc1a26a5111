-- How many flight bookings there are in the statuses where bookings stay, now also day by
-- day: lists of a span of time are counted without going through it. Twin of the file of
-- the same name for PostgreSQL.

DROP TRIGGER flight_booking_inserted;
DROP TRIGGER flight_booking_moved;
DROP TABLE flight_booking_count;

CREATE TABLE flight_booking_count (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    user_id      TEXT NOT NULL,
    supplier     TEXT NOT NULL,
    status       TEXT NOT NULL,
    number       INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, user_id, supplier, status)
) STRICT, WITHOUT ROWID;
-- `day` is counted from 1970, in UTC: that of `created_at`.
CREATE TABLE flight_booking_day (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    user_id      TEXT NOT NULL,
    day          INTEGER NOT NULL,
    supplier     TEXT NOT NULL,
    status       TEXT NOT NULL,
    number       INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, user_id, day, supplier, status)
) STRICT, WITHOUT ROWID;
-- What is not in the two tables yet: a row is written for each booking that comes into
-- such a status (1) or leaves it (-1). Soon after, all are put into the tables at once;
-- those that are about to be are `taken`.
CREATE TABLE flight_booking_move (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    day          INTEGER NOT NULL,
    supplier     TEXT NOT NULL,
    status       TEXT NOT NULL,
    number       INTEGER NOT NULL,
    taken        INTEGER NOT NULL
) STRICT;
CREATE INDEX flight_booking_move_owner ON flight_booking_move (user_id, organization, mode);

INSERT INTO flight_booking_day
SELECT organization, mode, user_id, created_at / 86400000, supplier, status, COUNT(*)
FROM flight_booking
WHERE status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED')
GROUP BY organization, mode, user_id, created_at / 86400000, supplier, status;
INSERT INTO flight_booking_count
SELECT organization, mode, user_id, supplier, status, SUM(number)
FROM flight_booking_day
GROUP BY organization, mode, user_id, supplier, status;

-- Kept by the database, so that it is right whoever writes.
CREATE TRIGGER flight_booking_inserted AFTER INSERT ON flight_booking
    WHEN NEW.status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED')
BEGIN
    INSERT INTO flight_booking_move
    VALUES (NEW.organization, NEW.mode, NEW.user_id, NEW.created_at / 86400000, NEW.supplier,
            NEW.status, 1, 0);
END;
CREATE TRIGGER flight_booking_moved AFTER UPDATE OF status ON flight_booking
    WHEN OLD.status <> NEW.status
BEGIN
    INSERT INTO flight_booking_move
    SELECT OLD.organization, OLD.mode, OLD.user_id, OLD.created_at / 86400000, OLD.supplier,
           OLD.status, -1, 0
    WHERE OLD.status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED');
    INSERT INTO flight_booking_move
    SELECT NEW.organization, NEW.mode, NEW.user_id, NEW.created_at / 86400000, NEW.supplier,
           NEW.status, 1, 0
    WHERE NEW.status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED');
END;
