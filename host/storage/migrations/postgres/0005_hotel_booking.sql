-- Hotel bookings: the whole document and columns to search by. Bookings are never deleted.
-- The fields that only hotel bookings have (rooms, stay, policy …) are in the document's object `details`.
CREATE TABLE hotel_booking (
    organization       TEXT COLLATE "C" NOT NULL,
    mode               TEXT COLLATE "C" NOT NULL CHECK (mode IN ('test', 'live')),
    id                 TEXT COLLATE "C" NOT NULL,
    user_id            TEXT COLLATE "C" NOT NULL,
    status             TEXT COLLATE "C" NOT NULL,
    supplier           TEXT COLLATE "C" NOT NULL,
    supplier_reference TEXT COLLATE "C",
    reference_id       TEXT COLLATE "C",
    hotel_id           TEXT COLLATE "C" NOT NULL,
    total_minor        BIGINT NOT NULL,
    currency           TEXT COLLATE "C" NOT NULL,
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    version            BIGINT NOT NULL,
    document           TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, mode, id)
);
-- A booking's document of a few kilobytes is rewritten with each workflow step. The default
-- compression method takes a tenth of the server's time; some servers lack this faster one.
DO $$
BEGIN
    ALTER TABLE hotel_booking ALTER COLUMN document SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END $$;
-- Background work and suppliers' events find a booking by these columns alone. The index by id
-- need not be unique, because ids have 128 bits; a table partitioned by organization could not
-- enforce uniqueness.
CREATE INDEX hotel_booking_id ON hotel_booking (id);
CREATE INDEX hotel_booking_supplier_reference ON hotel_booking (supplier_reference, supplier, mode)
    WHERE supplier_reference IS NOT NULL;
-- Indexes of the list, newest first, one for each filter.
-- Indexes of lists start with their most selective column. If an index starts with the
-- organization, a PostgreSQL without statistics of the table expects a single row in it and reads
-- all rows of the organization.
CREATE INDEX hotel_booking_list ON hotel_booking (user_id, organization, mode, created_at, id);
CREATE INDEX hotel_booking_list_status ON hotel_booking (user_id, organization, mode, status, created_at, id);
CREATE INDEX hotel_booking_list_reference ON hotel_booking (user_id, organization, mode, reference_id, created_at, id);
