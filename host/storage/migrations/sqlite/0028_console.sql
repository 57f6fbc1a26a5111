-- Lists and searches of the dashboard, across the users of an organization or across organizations.

-- Indexes of lists compare organization and mode as expressions, so that no other query considers
-- them. The columns after the id are there for filters, which then read nothing but the index.
CREATE INDEX hotel_booking_scope ON hotel_booking (('' || organization), ('' || mode), created_at, id, organization, mode, status, supplier, user_id);
CREATE INDEX hotel_booking_mode ON hotel_booking (('' || mode), created_at, id, organization, mode, status, supplier, user_id);
CREATE INDEX hotel_booking_reference ON hotel_booking (('' || reference_id), organization, mode, id) WHERE reference_id IS NOT NULL;

ALTER TABLE flight_booking ADD COLUMN reference_id TEXT;
UPDATE flight_booking SET reference_id = document ->> 'reference_id';
CREATE INDEX flight_booking_scope ON flight_booking (('' || organization), ('' || mode), created_at, id, organization, mode, status, supplier, user_id);
CREATE INDEX flight_booking_mode ON flight_booking (('' || mode), created_at, id, organization, mode, status, supplier, user_id);
CREATE INDEX flight_booking_reference ON flight_booking (('' || reference_id), organization, mode, id) WHERE reference_id IS NOT NULL;

CREATE INDEX watch_scope ON watch (('' || organization), ('' || mode), created_at, id, organization, mode, status, user_id);
CREATE INDEX watch_mode ON watch (('' || mode), created_at, id, organization, mode, status, user_id);
CREATE INDEX mandate_scope ON mandate (('' || organization), ('' || mode), created_at, id, organization, mode, status, expires_at, user_id);
CREATE INDEX mandate_mode ON mandate (('' || mode), created_at, id, organization, mode, status, expires_at, user_id);
-- People open a mandate by its id alone.
CREATE INDEX mandate_id ON mandate (id);

-- The latest prices of a price check, oldest first. A price is stored when it differs from the
-- previous one. `total_minor` is absent if nothing was available.
CREATE TABLE price_observation (
    organization   TEXT NOT NULL,
    mode           TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    price_check_id TEXT NOT NULL,
    observed_at    INTEGER NOT NULL,
    total_minor    INTEGER,
    PRIMARY KEY (organization, mode, price_check_id, observed_at)
) STRICT, WITHOUT ROWID;

-- Webhooks.
-- The type of the delivery's event, for lists.
ALTER TABLE webhook_delivery ADD COLUMN event_type TEXT NOT NULL DEFAULT '';
UPDATE webhook_delivery SET event_type = COALESCE(
    (SELECT o.event_type FROM outbox AS o
     WHERE o.organization = webhook_delivery.organization AND o.mode = webhook_delivery.mode
       AND o.id = webhook_delivery.event_id), '');
-- The headers of the request as a JSON object. The signatures in them are digests.
ALTER TABLE webhook_delivery_attempt ADD COLUMN request_headers TEXT;
-- Lists of deliveries of an organization and of all organizations, newest first. Waiting deliveries
-- are found by `webhook_delivery_open`, and failed ones by indexes of their own; most deliveries are
-- delivered and in neither. The expressions keep other queries from using these indexes.
CREATE INDEX webhook_delivery_scope ON webhook_delivery (('' || organization), ('' || mode), created_at, id);
CREATE INDEX webhook_delivery_mode ON webhook_delivery (('' || mode), created_at, id);
CREATE INDEX webhook_delivery_scope_failed ON webhook_delivery (('' || organization), ('' || mode), created_at, id)
    WHERE status = 'FAILED';
CREATE INDEX webhook_delivery_mode_failed ON webhook_delivery (('' || mode), created_at, id)
    WHERE status = 'FAILED';
CREATE INDEX webhook_subscription_mode ON webhook_subscription (mode, created_at, id)
    WHERE deleted_at IS NULL;
-- People open an event by its id alone.
CREATE INDEX outbox_id ON outbox (id);

-- Outcomes that were unknown for a time: serves the checklist before going live.
CREATE INDEX booking_history_unresolved ON booking_history (organization, mode, booking_id)
    WHERE event IN ('book_unresolved', 'cancel_unresolved', 'payment_unresolved', 'refund_unresolved');
