-- The list of flight bookings by time knows their prices, so that those of a span of
-- time are put in that order without reading them. Twin of the file of the same name
-- for SQLite.

DROP INDEX flight_booking_list;
DROP INDEX flight_booking_list_status;
DROP INDEX flight_booking_list_supplier;
DROP INDEX flight_booking_list_both;
CREATE INDEX flight_booking_list ON flight_booking (user_id, organization, mode, created_at, id, price);
CREATE INDEX flight_booking_list_status ON flight_booking (user_id, organization, mode, status, created_at, id, price);
CREATE INDEX flight_booking_list_supplier ON flight_booking (user_id, organization, mode, supplier, created_at, id, price);
CREATE INDEX flight_booking_list_both ON flight_booking (user_id, organization, mode, supplier, status, created_at, id, price);

-- Documents of a few kilobytes are written anew with each step of a booking: the older
-- method of compression took a tenth of the server's time. Not every server knows the
-- newer one; what is stored stays readable.
DO $$
BEGIN
    ALTER TABLE hotel_booking ALTER COLUMN document SET COMPRESSION lz4;
    ALTER TABLE flight_booking ALTER COLUMN document SET COMPRESSION lz4;
    ALTER TABLE outbox ALTER COLUMN payload SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END $$;
