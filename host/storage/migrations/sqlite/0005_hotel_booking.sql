-- Hotel bookings: the whole document and columns to search by. Bookings are never deleted.
-- The fields that only hotel bookings have (rooms, stay, policy …) are in the document's object `details`.
CREATE TABLE hotel_booking (
    organization       TEXT NOT NULL,
    mode               TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    id                 TEXT NOT NULL,
    user_id            TEXT NOT NULL,
    status             TEXT NOT NULL,
    supplier           TEXT NOT NULL,
    supplier_reference TEXT,
    reference_id       TEXT,
    hotel_id           TEXT NOT NULL,
    total_minor        INTEGER NOT NULL,
    currency           TEXT NOT NULL,
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    version            INTEGER NOT NULL,
    document           TEXT NOT NULL,
    PRIMARY KEY (organization, mode, id)
) STRICT;
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
