-- Counts of flight bookings in the statuses in which bookings remain, in total and per day.
-- Counting a long list row by row takes longer than reading a page of it. Bookings in the other
-- statuses are few enough to be counted.
CREATE TABLE flight_booking_count (
    organization  TEXT COLLATE "C" NOT NULL,
    mode          TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    user_id       TEXT COLLATE "C" NOT NULL,
    supplier      TEXT COLLATE "C" NOT NULL,
    status        TEXT COLLATE "C" NOT NULL,
    booking_count BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, user_id, supplier, status)
) WITH (fillfactor = 50);
-- `day` is the day of `created_at` in UTC, counted from 1970.
CREATE TABLE flight_booking_daily_count (
    organization  TEXT COLLATE "C" NOT NULL,
    mode          TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    user_id       TEXT COLLATE "C" NOT NULL,
    day           BIGINT NOT NULL,
    supplier      TEXT COLLATE "C" NOT NULL,
    status        TEXT COLLATE "C" NOT NULL,
    booking_count BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, user_id, day, supplier, status)
) WITH (fillfactor = 90);
-- Changes that the two tables do not contain yet. A row is inserted for each booking that
-- enters such a status (1) or leaves it (-1), so that transactions that change bookings of one
-- owner do not wait for each other. Soon after, the rows are added to the tables in bulk;
-- `claimed` marks those that are being added.
CREATE TABLE flight_booking_count_delta (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL,
    user_id      TEXT COLLATE "C" NOT NULL,
    day          BIGINT NOT NULL,
    supplier     TEXT COLLATE "C" NOT NULL,
    status       TEXT COLLATE "C" NOT NULL,
    delta        BIGINT NOT NULL,
    claimed      BIGINT NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX flight_booking_count_delta_owner ON flight_booking_count_delta (user_id, organization, mode);

-- Triggers record the changes, so the counts are right whichever client writes.
CREATE FUNCTION record_flight_booking_count_delta() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED') THEN
        INSERT INTO flight_booking_count_delta
        VALUES (OLD.organization, OLD.mode, OLD.user_id, OLD.created_at / 86400000, OLD.supplier,
                OLD.status, -1, 0);
    END IF;
    IF NEW.status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED') THEN
        INSERT INTO flight_booking_count_delta
        VALUES (NEW.organization, NEW.mode, NEW.user_id, NEW.created_at / 86400000, NEW.supplier,
                NEW.status, 1, 0);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER flight_booking_inserted AFTER INSERT ON flight_booking FOR EACH ROW
    WHEN (NEW.status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED'))
    EXECUTE FUNCTION record_flight_booking_count_delta();
CREATE TRIGGER flight_booking_status_changed AFTER UPDATE OF status ON flight_booking FOR EACH ROW
    WHEN (OLD.status <> NEW.status AND (
        OLD.status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED')
        OR NEW.status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED')))
    EXECUTE FUNCTION record_flight_booking_count_delta();
