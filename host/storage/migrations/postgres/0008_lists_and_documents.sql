-- The indexes of flight bookings by time contain the price, so that the bookings of a time
-- range are sorted by price without reading them. The file of the same name for SQLite creates
-- the same indexes.

DROP INDEX flight_booking_list;
DROP INDEX flight_booking_list_status;
DROP INDEX flight_booking_list_supplier;
DROP INDEX flight_booking_list_both;
CREATE INDEX flight_booking_list ON flight_booking (user_id, organization, mode, created_at, id, price);
CREATE INDEX flight_booking_list_status ON flight_booking (user_id, organization, mode, status, created_at, id, price);
CREATE INDEX flight_booking_list_supplier ON flight_booking (user_id, organization, mode, supplier, created_at, id, price);
CREATE INDEX flight_booking_list_both ON flight_booking (user_id, organization, mode, supplier, status, created_at, id, price);

-- A booking's document of a few kilobytes is rewritten with each workflow step, and the older
-- compression method took a tenth of the server's time. Some servers lack the newer method.
-- Documents compressed with the older one remain readable.
DO $$
BEGIN
    ALTER TABLE hotel_booking ALTER COLUMN document SET COMPRESSION lz4;
    ALTER TABLE flight_booking ALTER COLUMN document SET COMPRESSION lz4;
    ALTER TABLE outbox ALTER COLUMN payload SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END $$;
