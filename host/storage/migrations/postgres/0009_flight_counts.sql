-- Counts of flight bookings in the statuses in which bookings remain, now also per day. Lists
-- of a time range are counted without scanning it. The file of the same name for SQLite
-- creates the same tables, columns and nullability.

-- Dropping the triggers first locks the table, so that no booking changes until all are
-- counted.
DROP TRIGGER flight_booking_inserted ON flight_booking;
DROP TRIGGER flight_booking_moved ON flight_booking;
DROP FUNCTION flight_booking_counted();
DROP TABLE flight_booking_count;

CREATE TABLE flight_booking_count (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    user_id      TEXT COLLATE "C" NOT NULL,
    supplier     TEXT COLLATE "C" NOT NULL,
    status       TEXT COLLATE "C" NOT NULL,
    number       BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, user_id, supplier, status)
) WITH (fillfactor = 50);
-- `day` is the day of `created_at` in UTC, counted from 1970.
CREATE TABLE flight_booking_day (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    user_id      TEXT COLLATE "C" NOT NULL,
    day          BIGINT NOT NULL,
    supplier     TEXT COLLATE "C" NOT NULL,
    status       TEXT COLLATE "C" NOT NULL,
    number       BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, user_id, day, supplier, status)
) WITH (fillfactor = 90);
-- Changes that the two tables do not contain yet. A row is inserted for each booking that
-- enters such a status (1) or leaves it (-1), so that transactions that change bookings of one
-- owner do not wait for each other. Soon after, the rows are added to the tables in bulk;
-- `claimed` marks those that are being added.
CREATE TABLE flight_booking_move (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL,
    user_id      TEXT COLLATE "C" NOT NULL,
    day          BIGINT NOT NULL,
    supplier     TEXT COLLATE "C" NOT NULL,
    status       TEXT COLLATE "C" NOT NULL,
    number       BIGINT NOT NULL,
    taken        BIGINT NOT NULL
) WITH (fillfactor = 50);
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
CREATE FUNCTION flight_booking_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED') THEN
        INSERT INTO flight_booking_move
        VALUES (OLD.organization, OLD.mode, OLD.user_id, OLD.created_at / 86400000, OLD.supplier,
                OLD.status, -1, 0);
    END IF;
    IF NEW.status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED') THEN
        INSERT INTO flight_booking_move
        VALUES (NEW.organization, NEW.mode, NEW.user_id, NEW.created_at / 86400000, NEW.supplier,
                NEW.status, 1, 0);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER flight_booking_inserted AFTER INSERT ON flight_booking FOR EACH ROW
    WHEN (NEW.status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED'))
    EXECUTE FUNCTION flight_booking_counted();
CREATE TRIGGER flight_booking_moved AFTER UPDATE OF status ON flight_booking FOR EACH ROW
    WHEN (OLD.status <> NEW.status AND (
        OLD.status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED')
        OR NEW.status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED')))
    EXECUTE FUNCTION flight_booking_counted();
