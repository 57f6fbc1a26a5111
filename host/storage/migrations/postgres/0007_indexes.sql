-- Indexes of lists start with their most selective column: the user, the booking, the
-- subscription or the price check. If an index starts with the organization, a PostgreSQL
-- without statistics of the table expects a single row in it and reads all rows of the
-- organization. The file of the same name for SQLite creates the same indexes.

DROP INDEX hotel_booking_list;
DROP INDEX hotel_booking_list_status;
DROP INDEX hotel_booking_list_reference;
CREATE INDEX hotel_booking_list ON hotel_booking (user_id, organization, mode, created_at, id);
CREATE INDEX hotel_booking_list_status ON hotel_booking (user_id, organization, mode, status, created_at, id);
CREATE INDEX hotel_booking_list_reference ON hotel_booking (user_id, organization, mode, reference_id, created_at, id);

DROP INDEX outbox_booking;
CREATE INDEX outbox_booking ON outbox (booking_id, organization, mode, created_at, id);

DROP INDEX supplier_attempt_ordinal;
DROP INDEX supplier_attempt_effective;
CREATE UNIQUE INDEX supplier_attempt_ordinal ON supplier_attempt (booking_id, organization, mode, operation, ordinal);
-- For each reference there is at most one call that happened or may have happened.
CREATE UNIQUE INDEX supplier_attempt_effective ON supplier_attempt (client_reference, organization, mode, target, operation)
    WHERE outcome IN ('sent', 'unknown', 'done');

DROP INDEX payment_instrument_list;
CREATE INDEX payment_instrument_list ON payment_instrument (user_id, organization, mode, created_at, id);

-- The lock on an offer: no two unfinished bookings have the same key.
DROP INDEX flight_booking_exclusive;
CREATE UNIQUE INDEX flight_booking_exclusive ON flight_booking (exclusive_key, organization, mode, supplier)
    WHERE exclusive_key IS NOT NULL;
-- As before, there is one index for each set of filters and each order.
DROP INDEX flight_booking_list;
DROP INDEX flight_booking_list_status;
DROP INDEX flight_booking_list_supplier;
DROP INDEX flight_booking_list_both;
DROP INDEX flight_booking_price;
DROP INDEX flight_booking_price_status;
DROP INDEX flight_booking_price_supplier;
DROP INDEX flight_booking_price_both;
CREATE INDEX flight_booking_list ON flight_booking (user_id, organization, mode, created_at, id);
CREATE INDEX flight_booking_list_status ON flight_booking (user_id, organization, mode, status, created_at, id);
CREATE INDEX flight_booking_list_supplier ON flight_booking (user_id, organization, mode, supplier, created_at, id);
CREATE INDEX flight_booking_list_both ON flight_booking (user_id, organization, mode, supplier, status, created_at, id);
CREATE INDEX flight_booking_price ON flight_booking (user_id, organization, mode, price, id, created_at);
CREATE INDEX flight_booking_price_status ON flight_booking (user_id, organization, mode, status, price, id, created_at);
CREATE INDEX flight_booking_price_supplier ON flight_booking (user_id, organization, mode, supplier, price, id, created_at);
CREATE INDEX flight_booking_price_both ON flight_booking (user_id, organization, mode, supplier, status, price, id, created_at);

DROP INDEX webhook_delivery_list;
DROP INDEX webhook_delivery_list_status;
CREATE INDEX webhook_delivery_list ON webhook_delivery (subscription_id, organization, mode, created_at, id);
CREATE INDEX webhook_delivery_list_status ON webhook_delivery (subscription_id, organization, mode, status, created_at, id);

DROP INDEX watch_list;
DROP INDEX watch_list_status;
DROP INDEX watch_of_ask;
CREATE INDEX watch_list ON watch (user_id, organization, mode, created_at, id);
CREATE INDEX watch_list_status ON watch (user_id, organization, mode, status, created_at, id);
-- Finds the watches affected by a price, and whether an open watch uses a price check.
CREATE INDEX watch_of_ask ON watch (ask_id, organization, mode, status, trigger_minor);
