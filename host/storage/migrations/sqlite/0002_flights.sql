-- Flight bookings, airports, airlines and events from suppliers. The file of the same name for
-- PostgreSQL creates the same tables, columns and nullability.

-- `price_sort_key` is the price of ticket and extras in 1/10000 of the currency's major unit,
-- because currencies have different minor units. Without a price it is the largest integer,
-- which sorts such bookings last. `offer_hash` finds bookings by their supplier's offer, which
-- may be long. `exclusive_key` locks an offer and is removed once the booking is finished.
-- Bookings are never deleted.
CREATE TABLE flight_booking (
    organization       TEXT NOT NULL,
    mode               TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id                 TEXT NOT NULL,
    user_id            TEXT NOT NULL,
    status             TEXT NOT NULL,
    supplier           TEXT NOT NULL,
    supplier_reference TEXT,
    offer_hash         INTEGER NOT NULL,
    exclusive_key      TEXT,
    price              INTEGER NOT NULL,
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    version            INTEGER NOT NULL,
    document           TEXT NOT NULL,
    PRIMARY KEY (organization, mode, id)
) STRICT;
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
-- the counts, so they are right whichever client writes.
CREATE TABLE flight_booking_count (
    organization TEXT NOT NULL,
    mode         TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    user_id      TEXT NOT NULL,
    supplier     TEXT NOT NULL,
    status       TEXT NOT NULL,
    shard        TEXT NOT NULL,
    number       INTEGER NOT NULL,
    PRIMARY KEY (organization, mode, user_id, supplier, status, shard)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER flight_booking_inserted AFTER INSERT ON flight_booking
    WHEN NEW.status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED')
BEGIN
    INSERT INTO flight_booking_count
    VALUES (NEW.organization, NEW.mode, NEW.user_id, NEW.supplier, NEW.status, substr(NEW.id, -1), 1)
    ON CONFLICT DO UPDATE SET number = number + 1;
END;
CREATE TRIGGER flight_booking_moved AFTER UPDATE OF status ON flight_booking
    WHEN OLD.status <> NEW.status
BEGIN
    UPDATE flight_booking_count SET number = number - 1
    WHERE organization = OLD.organization AND mode = OLD.mode AND user_id = OLD.user_id
      AND supplier = OLD.supplier AND status = OLD.status AND shard = substr(OLD.id, -1);
    INSERT INTO flight_booking_count
    SELECT NEW.organization, NEW.mode, NEW.user_id, NEW.supplier, NEW.status, substr(NEW.id, -1), 1
    WHERE NEW.status IN ('CONFIRMED', 'CANCELED', 'FAILED', 'EXPIRED')
    ON CONFLICT DO UPDATE SET number = number + 1;
END;

-- Airports and airlines, as suppliers last reported them. They do not depend on a customer:
-- all organizations of a mode share them. They are identified by IATA code, whichever supplier
-- reports them, so an id stays the same if another supplier is used.
CREATE TABLE airport (
    mode       TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    iata_code  TEXT NOT NULL,
    id         TEXT NOT NULL,
    supplier   TEXT NOT NULL,
    document   TEXT NOT NULL,
    fetched_at INTEGER NOT NULL,
    PRIMARY KEY (mode, iata_code)
) STRICT;

CREATE TABLE airline (
    mode       TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    iata_code  TEXT NOT NULL,
    id         TEXT NOT NULL,
    supplier   TEXT NOT NULL,
    document   TEXT NOT NULL,
    fetched_at INTEGER NOT NULL,
    PRIMARY KEY (mode, iata_code)
) STRICT;

-- Events from suppliers, stored before they are processed. Suppliers belong to no
-- organization, so neither do their events.
CREATE TABLE supplier_event (
    mode               TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    supplier           TEXT NOT NULL,
    id                 TEXT NOT NULL,
    kind               TEXT NOT NULL,
    supplier_reference TEXT,
    client_reference   TEXT,
    supplier_offer     TEXT,
    occurred_at        INTEGER,
    body_sha256        BLOB NOT NULL,
    state              TEXT NOT NULL CHECK (state IN ('received', 'applied', 'ignored')),
    booking_id         TEXT,
    received_at        INTEGER NOT NULL,
    settled_at         INTEGER,
    PRIMARY KEY (mode, supplier, id)
) STRICT;
-- Serves the deletion of old events.
CREATE INDEX supplier_event_received ON supplier_event (received_at);
