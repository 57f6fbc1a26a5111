-- The indexes of flight bookings by time contain the price, so that the bookings of a time
-- range are sorted by price without reading them. The file of the same name for PostgreSQL
-- creates the same indexes.

DROP INDEX flight_booking_list;
DROP INDEX flight_booking_list_status;
DROP INDEX flight_booking_list_supplier;
DROP INDEX flight_booking_list_both;
CREATE INDEX flight_booking_list ON flight_booking (user_id, organization, mode, created_at, id, price);
CREATE INDEX flight_booking_list_status ON flight_booking (user_id, organization, mode, status, created_at, id, price);
CREATE INDEX flight_booking_list_supplier ON flight_booking (user_id, organization, mode, supplier, created_at, id, price);
CREATE INDEX flight_booking_list_both ON flight_booking (user_id, organization, mode, supplier, status, created_at, id, price);
