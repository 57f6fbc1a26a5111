-- Counts of flight bookings in the statuses in which bookings remain, now also per day. Lists
-- of a time range are counted without scanning it. The file of the same name for PostgreSQL
-- creates the same tables, columns and nullability.

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
-- `day` is the day of `created_at` in UTC, counted from 1970.
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
-- Changes that the two tables do not contain yet. A row is inserted for each booking that
-- enters such a status (1) or leaves it (-1). Soon after, the rows are added to the tables in
-- bulk; `claimed` marks those that are being added.
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

-- Triggers maintain the counts, so they are right whichever client writes.
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
