-- Flight bookings: the whole document and columns to search by. Bookings are never deleted.
-- The fields that only flight bookings have (passengers, journeys, services …) are in the document's object `details`.
--
-- `price_sort_key` is the price of ticket and extras in 1/10000 of the currency's major unit,
-- because currencies have different minor units. Without a price it is the largest integer,
-- which sorts such bookings last. `offer_hash` finds bookings by their supplier's offer, which
-- may be long. `exclusive_key` locks an offer and is removed once the booking is finished.
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
    price_sort_key     INTEGER NOT NULL,
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
-- The lock on an offer: no two unfinished bookings have the same key.
CREATE UNIQUE INDEX flight_booking_exclusive_key ON flight_booking (exclusive_key, organization, mode, supplier)
    WHERE exclusive_key IS NOT NULL;
-- Indexes of the list, one for each set of filters and each order. A page is then one
-- contiguous range of one index, however rare the matching bookings are. The indexes by time
-- contain the price, so that the bookings of a time range are sorted by price without reading
-- them. The indexes by price end with the creation time, so that it can be compared without
-- reading the booking. Of two equally suitable indexes the databases use the later one, which is
-- the one by time.
-- Indexes of lists start with their most selective column. If an index starts with the
-- organization, a PostgreSQL without statistics of the table expects a single row in it and reads
-- all rows of the organization.
CREATE INDEX flight_booking_price ON flight_booking (user_id, organization, mode, price_sort_key, id, created_at);
CREATE INDEX flight_booking_price_status ON flight_booking (user_id, organization, mode, status, price_sort_key, id, created_at);
CREATE INDEX flight_booking_price_supplier ON flight_booking (user_id, organization, mode, supplier, price_sort_key, id, created_at);
CREATE INDEX flight_booking_price_supplier_status ON flight_booking (user_id, organization, mode, supplier, status, price_sort_key, id, created_at);
CREATE INDEX flight_booking_list ON flight_booking (user_id, organization, mode, created_at, id, price_sort_key);
CREATE INDEX flight_booking_list_status ON flight_booking (user_id, organization, mode, status, created_at, id, price_sort_key);
CREATE INDEX flight_booking_list_supplier ON flight_booking (user_id, organization, mode, supplier, created_at, id, price_sort_key);
CREATE INDEX flight_booking_list_supplier_status ON flight_booking (user_id, organization, mode, supplier, status, created_at, id, price_sort_key);
