-- Flight bookings, airports and airlines, and what suppliers tell on their own
-- account. Twin of the file of the same name for SQLite: same tables, columns
-- and nullability.

-- `price` is what ticket and extras cost in 1/10000 of the currency's major unit,
-- because currencies have different minor units; the largest number of all without
-- a price, which puts those last. `offer_hash` finds bookings by their supplier's
-- offer, which may be long; the hold on an offer, `exclusive_key`, is gone once the
-- booking is finished. Bookings are never deleted.
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
-- Parts of the list are counted in its indexes, without the table, as far as pages
-- are known to hold nothing but what all may see: vacuum says so.
ALTER TABLE flight_booking SET (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.02
);
-- Background work and suppliers' events know a booking by nothing else. Ids are
-- 128 bits, so this need not be unique, which a table spread by organization could
-- not check.
CREATE INDEX flight_booking_id ON flight_booking (id);
CREATE INDEX flight_booking_supplier_reference ON flight_booking (supplier_reference, supplier, mode)
    WHERE supplier_reference IS NOT NULL;
CREATE INDEX flight_booking_offer ON flight_booking (offer_hash);
CREATE INDEX hotel_booking_supplier_reference ON hotel_booking (supplier_reference, supplier, mode)
    WHERE supplier_reference IS NOT NULL;
-- What no two unfinished bookings may hold.
CREATE UNIQUE INDEX flight_booking_exclusive ON flight_booking (organization, mode, supplier, exclusive_key)
    WHERE exclusive_key IS NOT NULL;
-- The list: one index for each set of filters and each order, so that a page is
-- one stretch of one index however rare the filtered are. By price, the instant
-- stands behind, to be looked at without reading the booking.
CREATE INDEX flight_booking_list ON flight_booking (organization, mode, user_id, created_at, id);
CREATE INDEX flight_booking_list_status ON flight_booking (organization, mode, user_id, status, created_at, id);
CREATE INDEX flight_booking_list_supplier ON flight_booking (organization, mode, user_id, supplier, created_at, id);
CREATE INDEX flight_booking_list_both ON flight_booking (organization, mode, user_id, supplier, status, created_at, id);
CREATE INDEX flight_booking_price ON flight_booking (organization, mode, user_id, price, id, created_at);
CREATE INDEX flight_booking_price_status ON flight_booking (organization, mode, user_id, status, price, id, created_at);
CREATE INDEX flight_booking_price_supplier ON flight_booking (organization, mode, user_id, supplier, price, id, created_at);
CREATE INDEX flight_booking_price_both ON flight_booking (organization, mode, user_id, supplier, status, price, id, created_at);

-- How many bookings there are in the statuses where bookings stay: counting a long
-- list row by row takes longer than reading a page of it. The others pass, and are
-- few enough to be counted. Spread over the last character of the booking's id, so
-- that those who change bookings of one owner seldom wait for each other. Kept by
-- the database, so that it is right whoever writes. Half of each
-- page is left free for what rows become.
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

-- As suppliers told of them last. They describe the world, not a customer: they are
-- the same for every organization of a mode, and known by their IATA code whoever
-- tells of them, so that an id stays the same when another supplier is asked.
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

-- What suppliers tell on their own account, stored before anything is done about
-- it. Suppliers belong to no organization, so neither do these.
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
-- Forgotten when they are old.
CREATE INDEX supplier_event_received ON supplier_event (received_at);
