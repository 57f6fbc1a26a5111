-- Flight bookings, airports, airlines and events from suppliers. The file of the same name for
-- SQLite creates the same tables, columns and nullability.

-- `price_sort_key` is the price of ticket and extras in 1/10000 of the currency's major unit,
-- because currencies have different minor units. Without a price it is the largest integer,
-- which sorts such bookings last. `offer_hash` finds bookings by their supplier's offer, which
-- may be long. `exclusive_key` locks an offer and is removed once the booking is finished.
-- Bookings are never deleted.
CREATE TABLE flight_booking (
    organization       TEXT COLLATE "C" NOT NULL,
    mode               TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id                 TEXT COLLATE "C" NOT NULL,
    user_id            TEXT COLLATE "C" NOT NULL,
    status             TEXT COLLATE "C" NOT NULL,
    supplier           TEXT COLLATE "C" NOT NULL,
    supplier_reference TEXT COLLATE "C",
    offer_hash         BIGINT NOT NULL,
    exclusive_key      TEXT COLLATE "C",
    price              BIGINT NOT NULL,
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    version            BIGINT NOT NULL,
    document           TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, mode, id)
);
-- Parts of the list are counted by index-only scans. These skip the table only for pages that
-- vacuum has marked as visible to all transactions, so vacuum must run often.
ALTER TABLE flight_booking SET (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.02
);
-- Background work and suppliers' events find a booking by these columns alone. The index by id
-- need not be unique, because ids have 128 bits; a table partitioned by organization could not
-- enforce uniqueness.
CREATE INDEX flight_booking_id ON flight_booking (id);
CREATE INDEX flight_booking_supplier_reference ON flight_booking (supplier_reference, supplier, mode)
    WHERE supplier_reference IS NOT NULL;
CREATE INDEX flight_booking_offer ON flight_booking (offer_hash);
CREATE INDEX hotel_booking_supplier_reference ON hotel_booking (supplier_reference, supplier, mode)
    WHERE supplier_reference IS NOT NULL;
-- The lock on an offer: no two unfinished bookings have the same key.
CREATE UNIQUE INDEX flight_booking_exclusive ON flight_booking (organization, mode, supplier, exclusive_key)
    WHERE exclusive_key IS NOT NULL;
-- Indexes of the list, one for each set of filters and each order. A page is then one
-- contiguous range of one index, however rare the matching bookings are. The indexes by price
-- end with the creation time, so that it can be compared without reading the booking.
CREATE INDEX flight_booking_list ON flight_booking (organization, mode, user_id, created_at, id);
CREATE INDEX flight_booking_list_status ON flight_booking (organization, mode, user_id, status, created_at, id);
CREATE INDEX flight_booking_list_supplier ON flight_booking (organization, mode, user_id, supplier, created_at, id);
CREATE INDEX flight_booking_list_both ON flight_booking (organization, mode, user_id, supplier, status, created_at, id);
CREATE INDEX flight_booking_price ON flight_booking (organization, mode, user_id, price, id, created_at);
CREATE INDEX flight_booking_price_status ON flight_booking (organization, mode, user_id, status, price, id, created_at);
CREATE INDEX flight_booking_price_supplier ON flight_booking (organization, mode, user_id, supplier, price, id, created_at);
CREATE INDEX flight_booking_price_both ON flight_booking (organization, mode, user_id, supplier, status, price, id, created_at);

-- Counts of bookings in the statuses in which bookings remain. Counting a long list row by row
-- takes longer than reading a page of it. Bookings in the other statuses are few enough to be
-- counted. The counts are split by the last character of the booking's id, so that
-- transactions that change bookings of one owner seldom wait for each other. Triggers maintain
-- the counts, so they are right whichever client writes. Half of each page is left free for updated
-- rows.
CREATE TABLE flight_booking_count (
    organization TEXT COLLATE "C" NOT NULL,
    mode         TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    user_id      TEXT COLLATE "C" NOT NULL,
    supplier     TEXT COLLATE "C" NOT NULL,
    status       TEXT COLLATE "C" NOT NULL,
    shard        TEXT COLLATE "C" NOT NULL,
    number       BIGINT NOT NULL,
    PRIMARY KEY (organization, mode, user_id, supplier, status, shard)
) WITH (fillfactor = 50);
CREATE FUNCTION flight_booking_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        UPDATE flight_booking_count SET number = number - 1
        WHERE organization = OLD.organization AND mode = OLD.mode AND user_id = OLD.user_id
          AND supplier = OLD.supplier AND status = OLD.status AND shard = right(OLD.id, 1);
    END IF;
    INSERT INTO flight_booking_count AS count
    SELECT NEW.organization, NEW.mode, NEW.user_id, NEW.supplier, NEW.status, right(NEW.id, 1), 1
    WHERE NEW.status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED')
    ON CONFLICT (organization, mode, user_id, supplier, status, shard)
    DO UPDATE SET number = count.number + 1;
    RETURN NULL;
END $$;
CREATE TRIGGER flight_booking_inserted AFTER INSERT ON flight_booking FOR EACH ROW
    WHEN (NEW.status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED'))
    EXECUTE FUNCTION flight_booking_counted();
CREATE TRIGGER flight_booking_moved AFTER UPDATE OF status ON flight_booking FOR EACH ROW
    WHEN (OLD.status <> NEW.status)
    EXECUTE FUNCTION flight_booking_counted();

-- Airports and airlines, as suppliers last reported them. They do not depend on a customer:
-- all organizations of a mode share them. They are identified by IATA code, whichever supplier
-- reports them, so an id stays the same if another supplier is used.
CREATE TABLE airport (
    mode       TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    iata_code  TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    supplier   TEXT COLLATE "C" NOT NULL,
    document   TEXT COLLATE "C" NOT NULL,
    fetched_at BIGINT NOT NULL,
    PRIMARY KEY (mode, iata_code)
);

CREATE TABLE airline (
    mode       TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    iata_code  TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    supplier   TEXT COLLATE "C" NOT NULL,
    document   TEXT COLLATE "C" NOT NULL,
    fetched_at BIGINT NOT NULL,
    PRIMARY KEY (mode, iata_code)
);

-- Events from suppliers, stored before they are processed. Suppliers belong to no
-- organization, so neither do their events.
CREATE TABLE supplier_event (
    mode               TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    supplier           TEXT COLLATE "C" NOT NULL,
    id                 TEXT COLLATE "C" NOT NULL,
    kind               TEXT COLLATE "C" NOT NULL,
    supplier_reference TEXT COLLATE "C",
    client_reference   TEXT COLLATE "C",
    supplier_offer     TEXT COLLATE "C",
    occurred_at        BIGINT,
    body_sha256        BYTEA NOT NULL,
    state              TEXT COLLATE "C" NOT NULL CHECK (state IN ('received', 'applied', 'ignored')),
    booking_id         TEXT COLLATE "C",
    received_at        BIGINT NOT NULL,
    settled_at         BIGINT,
    PRIMARY KEY (mode, supplier, id)
);
-- Serves the deletion of old events.
CREATE INDEX supplier_event_received ON supplier_event (received_at);
