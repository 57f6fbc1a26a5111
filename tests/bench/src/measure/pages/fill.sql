-- Rows for the dashboard's pages: bookings of both kinds over a week, with everything that is recorded
-- about them. `{bookings}` is the number of bookings; there are five times as many requests and deliveries.
-- `{start}`, `{span}` and `{now}` are milliseconds. `{hex …}` is a number as twelve hexadecimal digits.
-- Both databases run these statements.

-- The table `template` has a few bookings that the gateway made, each with the share of the copies, in
-- tens of thousands, that copy it.

-- Five large organizations and a small one. Most of the organizations' users are rare.
CREATE TEMPORARY TABLE numbered AS
WITH RECURSIVE numbers (n) AS
  (SELECT CAST(1 AS BIGINT) UNION ALL SELECT n + 1 FROM numbers WHERE n < {bookings})
SELECT n, {start} + n * {span} / {bookings} AS at,
  CASE WHEN n % 5 < 3 THEN 'demo' WHEN n % 1000 = 999 THEN 'rare' ELSE 'org-' || (n % 10) END AS organization,
  CASE WHEN n % 5 < 3 THEN 0 WHEN n % 1000 = 999 THEN 7 ELSE n % 10 END AS organization_number,
  CASE WHEN n % 4 = 0 THEN 'org' ELSE 'user-' || (n % 50000) END AS user_id,
  CASE WHEN n / 10 % 2 = 0 THEN 'hotel' ELSE 'flight' END AS product,
  n / 20 % 10000 AS share,
  '019a000000007000' || '8000' || substr(CAST(1000000000000 + n AS TEXT), 2) AS bits
FROM numbers;

INSERT INTO hotel_booking (organization, mode, id, user_id, status, supplier, supplier_reference,
  reference_id, hotel_id, total_minor, currency, created_at, updated_at, version, document)
SELECT b.organization, 'test', 'bkg_' || b.bits, b.user_id, t.status, t.supplier, 'H-' || b.n,
  CASE WHEN b.n % 3 = 0 THEN 'order-' || b.n END, t.hotel_id, t.total_minor, t.currency, b.at, b.at, t.version,
  REPLACE(REPLACE(REPLACE(REPLACE(t.document, substr(t.id, 5), b.bits),
    '"organization":"demo"', '"organization":"' || b.organization || '"'),
    '"user":"org"', '"user":"' || b.user_id || '"'),
    '"created_at":' || t.created_at, '"created_at":' || b.at)
FROM numbered AS b JOIN template AS t ON t.product = b.product AND b.share >= t.low AND b.share < t.high
WHERE b.product = 'hotel' ORDER BY b.n;

INSERT INTO flight_booking (organization, mode, id, user_id, status, supplier, supplier_reference,
  reference_id, offer_hash, exclusive_key, price_sort_key, created_at, updated_at, version, document)
SELECT b.organization, 'test', 'bkg_' || b.bits, b.user_id, t.status, t.supplier, 'F-' || b.n,
  CASE WHEN b.n % 3 = 0 THEN 'order-' || b.n END, b.n, NULL, t.price_sort_key + b.n * 7919 % 100000, b.at, b.at,
  t.version,
  REPLACE(REPLACE(REPLACE(REPLACE(t.document, substr(t.id, 5), b.bits),
    '"organization":"demo"', '"organization":"' || b.organization || '"'),
    '"user":"org"', '"user":"' || b.user_id || '"'),
    '"created_at":' || t.created_at, '"created_at":' || b.at)
FROM numbered AS b JOIN template AS t ON t.product = b.product AND b.share >= t.low AND b.share < t.high
WHERE b.product = 'flight' ORDER BY b.n;

INSERT INTO booking_history (organization, mode, booking_id, sequence, event, from_status, to_status, reason,
  request_id, occurred_at)
SELECT b.organization, 'test', 'bkg_' || b.bits, k.sequence, k.event,
  CASE WHEN k.sequence > 1 THEN 'CREATED' END, CASE k.sequence WHEN 3 THEN t.status ELSE 'CREATED' END, NULL,
  'req_' || b.bits || k.sequence, b.at + k.sequence * 20
FROM numbered AS b JOIN template AS t ON t.product = b.product AND b.share >= t.low AND b.share < t.high
CROSS JOIN (SELECT 1 AS sequence, 'prebook_started' AS event UNION ALL SELECT 2, 'prebook_confirmed'
  UNION ALL SELECT 3, 'book_confirmed') AS k
ORDER BY b.n;

INSERT INTO remote_call_attempt (organization, mode, id, booking_id, step, attempt_number, target,
  client_reference, plugin_digest, request_digest, outcome, send_count, reconcile_count, last_sent_at,
  finished_at, supplier_reference, evidence)
SELECT b.organization, 'test', 'att_' || b.bits || k.number, 'bkg_' || b.bits, k.step, 1, t.supplier,
  'bkg_' || b.bits, 'sha256:0', 'sha256:0',
  CASE WHEN k.number = 2 AND t.is_open = 1 THEN 'unknown' ELSE 'succeeded' END, 1, 0, b.at + k.number * 20,
  b.at + k.number * 20 + 15, CASE k.number WHEN 2 THEN 'H-' || b.n END, NULL
FROM numbered AS b JOIN template AS t ON t.product = b.product AND b.share >= t.low AND b.share < t.high
CROSS JOIN (SELECT 1 AS number, 'prebook' AS step UNION ALL SELECT 2, 'book') AS k
ORDER BY b.n;

-- Each organization has two webhooks for each product.
INSERT INTO webhook_subscription (organization, mode, id, product, url, event_types, description, status,
  sealed_secret, created_at, updated_at, version)
SELECT DISTINCT b.organization, 'test',
  'whs_019a0000000070008000000000000' || b.organization_number || k.number || CASE b.product WHEN 'hotel' THEN 1 ELSE 2 END,
  b.product, 'https://hooks.example/' || b.organization || '/' || k.number, w.event_types, 'Receiver ' || k.number,
  'ACTIVE', w.sealed_secret, {start}, {start}, 1
FROM (SELECT DISTINCT organization, organization_number, product FROM numbered) AS b
CROSS JOIN (SELECT 0 AS number UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4) AS k
CROSS JOIN (SELECT event_types, sealed_secret FROM webhook_subscription WHERE id = '{webhook}') AS w;

-- Five events of two bookings.
CREATE TEMPORARY TABLE event AS
SELECT b.organization, b.organization_number, b.product, b.n, b.at + k.number * 50 AS at,
  b.n * 4 + k.number AS number,
  '019a000000007000' || '9000' || substr(CAST(1000000000000 + b.n * 4 + k.number AS TEXT), 2) AS bits,
  'bkg_' || b.bits AS booking_id,
  b.product || '.booking.' || CASE k.number WHEN 1 THEN 'created' WHEN 2 THEN 'confirmed'
    ELSE 'canceled' END AS event_type
FROM numbered AS b CROSS JOIN (SELECT 1 AS number UNION ALL SELECT 2 UNION ALL SELECT 3) AS k
WHERE k.number < 3 OR b.n % 2 = 0
ORDER BY b.n;

INSERT INTO outbox (organization, mode, id, event_type, product, booking_id, payload, created_at)
SELECT e.organization, 'test', 'evt_' || e.bits, e.event_type, e.product, e.booking_id,
  REPLACE('{payload}', '{event}', 'evt_' || e.bits), e.at
FROM event AS e;

INSERT INTO webhook_delivery (organization, mode, id, subscription_id, event_id, event_type, status, generation,
  attempt_count, next_attempt_at, created_at, pending_since, published_at, delivered_at, failed_at,
  failure_reason)
SELECT d.organization, 'test', 'dlv_' || d.bits || '-' || d.webhook, 'whs_' || d.webhook, 'evt_' || d.bits,
  d.event_type, d.status, 1, 1, CASE d.status WHEN 'PENDING' THEN {now} + 864000000 END, d.at, d.at,
  CASE d.status WHEN 'DELIVERED' THEN d.at + 5 END, CASE d.status WHEN 'DELIVERED' THEN d.at + 40 END,
  CASE d.status WHEN 'FAILED' THEN d.at + 40 END, CASE d.status WHEN 'FAILED' THEN 'retries_exhausted' END
FROM (SELECT e.organization, e.bits, e.event_type, e.at,
    '019a0000000070008000000000000' || e.organization_number || k.number
      || CASE e.product WHEN 'hotel' THEN 1 ELSE 2 END AS webhook,
    CASE WHEN e.number / 8 % 1000 < 2 THEN 'PENDING' WHEN e.number / 8 % 1000 < 10 THEN 'FAILED'
      ELSE 'DELIVERED' END AS status
  FROM event AS e CROSS JOIN (SELECT 0 AS number UNION ALL SELECT 1) AS k) AS d;

INSERT INTO webhook_delivery_attempt (organization, mode, delivery_id, generation, attempt_number,
  response_status, response_body, error, duration_ms, created_at, request_headers)
SELECT organization, mode, id, 1, 1, CASE status WHEN 'DELIVERED' THEN 200 ELSE 500 END,
  CASE status WHEN 'DELIVERED' THEN '{"ok":true}' ELSE 'Internal Server Error' END, NULL, 35, created_at + 40,
  '{"content-type":"application/json","user-agent":"stopover","webhook-id":"' || event_id || '"}'
FROM webhook_delivery WHERE subscription_id LIKE 'whs_019a0000000070008000000000000%';

-- Five API calls around each booking.
CREATE TEMPORARY TABLE call AS
SELECT b.organization, b.n, k.number, b.at + k.number * 60 AS at, b.user_id,
  'bkg_' || b.bits AS booking_id, b.product, 'req_' || b.bits || k.number AS request_id,
  '70008' || substr(CAST(1000000000000000 + b.n * 5 + k.number AS TEXT), 2) AS bits,
  CASE WHEN (b.n / 20 + k.number * 17) % 1000 < 940 THEN 200 WHEN (b.n / 20 + k.number * 17) % 1000 < 970 THEN 404
    WHEN (b.n / 20 + k.number * 17) % 1000 < 998 THEN 422 ELSE 502 END AS status
FROM numbered AS b CROSS JOIN (SELECT 1 AS number UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
  UNION ALL SELECT 5) AS k
ORDER BY b.n;

INSERT INTO request_log (organization, mode, id, request_id, at, method, route, path, status, failure,
  duration_us, key_id, user_id, booking_id, code, host)
SELECT c.organization, 'test', 'rql_' || {hex c.at} || c.bits, c.request_id, c.at,
  CASE WHEN c.number < 4 THEN 'POST' ELSE 'GET' END, r.route, r.route, c.status,
  CASE WHEN c.status >= 400 THEN c.status / 100 END, 800 + c.n % 700 * 100,
  CASE WHEN c.n % 50 = 7 THEN 'key_rare' ELSE '{key}' END, c.user_id,
  CASE WHEN c.number < 4 THEN c.booking_id END, CASE WHEN c.status >= 400 THEN 'booking_not_found' END, 'host-1'
FROM call AS c JOIN (SELECT 1 AS number, 'hotel' AS product, '/v1/hotel/offers' AS route
  UNION ALL SELECT 2, 'hotel', '/v1/hotel/bookings' UNION ALL SELECT 3, 'hotel', '/v1/hotel/bookings/{booking_id}/book'
  UNION ALL SELECT 4, 'hotel', '/v1/hotel/bookings/{booking_id}' UNION ALL SELECT 5, 'hotel', '/v1/hotel/bookings'
  UNION ALL SELECT 1, 'flight', '/v1/flight/offers' UNION ALL SELECT 2, 'flight', '/v1/flight/bookings'
  UNION ALL SELECT 3, 'flight', '/v1/flight/bookings/{booking_id}/book'
  UNION ALL SELECT 4, 'flight', '/v1/flight/bookings/{booking_id}' UNION ALL SELECT 5, 'flight', '/v1/airports') AS r
  ON r.number = c.number AND r.product = c.product;

INSERT INTO request_log_body (organization, mode, id, request_bytes, request_body, response_bytes, response_body)
SELECT c.organization, 'test', 'rql_' || {hex c.at} || c.bits, 400, '{"offer_reference":"ofr_1","contact":"…"}', 900,
  REPLACE('{payload}', '{event}', c.booking_id)
FROM call AS c WHERE c.number = 2;

INSERT INTO call_log (organization, mode, request_id, id, kind, supplier, capability, function, target,
  started_at, duration_us, outcome, is_failure, detail, status, request_bytes, response_bytes)
SELECT c.organization, 'test', c.request_id, 'cll_' || {hex c.at} || c.bits,
  CASE c.number WHEN 2 THEN 'http' ELSE 'plugin' END,
  CASE c.product WHEN 'hotel' THEN 'SANDBOX_HOTELS' ELSE 'SUPPLIER_A' END, c.product || '_booking',
  CASE c.number WHEN 2 THEN '' ELSE 'prebook' END,
  CASE c.number WHEN 2 THEN 'POST http://supplier.example/bookings' ELSE '' END, c.at - 20, 15000 + c.n % 90 * 1000,
  CASE c.status WHEN 502 THEN 'unavailable' ELSE 'ok' END, CASE c.status WHEN 502 THEN 1 ELSE 0 END, NULL,
  CASE c.number WHEN 2 THEN 200 END, 500, 2000
FROM call AS c WHERE c.number < 4;

-- Statistics of two hosts: every minute of two days, and every hour of thirty days.
CREATE TEMPORARY TABLE subject AS
WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 24)
SELECT CASE WHEN n = 0 THEN 'total' WHEN n < 13 THEN 'route' ELSE 'supplier' END AS subject,
  CASE WHEN n = 0 THEN '' WHEN n < 13 THEN 'GET /v1/hotel/route-' || n
    WHEN n < 19 THEN 'SANDBOX_HOTELS' ELSE 'SUPPLIER_A' END AS name,
  CASE WHEN n < 13 THEN '' ELSE 'hotel_booking.step_' || n END AS operation
FROM numbers;
INSERT INTO statistics (organization, mode, resolution, subject, at, name, operation, host, count,
  client_errors, server_errors, duration_us_sum, duration_us_max, class_00, class_01, class_02, class_03,
  class_04, class_05, class_06, class_07, class_08, class_09, class_10, class_11, class_12, class_13)
WITH RECURSIVE minutes (n) AS
  (SELECT CAST(0 AS BIGINT) UNION ALL SELECT n + 1 FROM minutes WHERE n < 2879),
times (resolution, at) AS (SELECT 'minute', {now} / 60000 * 60000 - n * 60000 FROM minutes
  UNION ALL SELECT 'hour', {now} / 3600000 * 3600000 - n * 3600000 FROM minutes WHERE n < 720)
SELECT o.organization, 'test', t.resolution, s.subject, t.at, s.name, s.operation, h.host, 500, 20, 3, 5000000,
  90000, 200, 100, 100, 50, 20, 10, 10, 5, 5, 0, 0, 0, 0, 0
FROM times AS t CROSS JOIN subject AS s
CROSS JOIN (SELECT 'host-1' AS host UNION ALL SELECT 'host-2') AS h
CROSS JOIN (SELECT DISTINCT organization FROM numbered UNION ALL SELECT '*') AS o
ORDER BY o.organization, t.resolution, s.subject, t.at;

INSERT INTO booked_amount (organization, mode, at, currency, bookings, amount_minor)
SELECT o.organization, 'test', t.at, c.currency, 40, 4000000
FROM (SELECT DISTINCT at FROM statistics WHERE resolution = 'hour') AS t
CROSS JOIN (SELECT 'EUR' AS currency UNION ALL SELECT 'GBP' UNION ALL SELECT 'USD') AS c
CROSS JOIN (SELECT DISTINCT organization FROM numbered UNION ALL SELECT '*') AS o
ORDER BY 1, 2, 3;

-- Of each minute of a day, three slow and three failed calls of each function.
INSERT INTO remarkable_call (organization, mode, at, supplier, operation, reason, request_id, duration_us, outcome)
WITH RECURSIVE minutes (n) AS
  (SELECT CAST(0 AS BIGINT) UNION ALL SELECT n + 1 FROM minutes WHERE n < 1439)
SELECT b.organization, 'test', {now} / 60000 * 60000 - m.n * 60000, s.name, s.operation,
  CASE WHEN k.number < 4 THEN 'slow' ELSE 'failed' END, 'req_' || b.bits || 2, 900000 + m.n * 10 + k.number,
  CASE WHEN k.number < 4 THEN 'ok' ELSE 'unavailable' END
FROM minutes AS m CROSS JOIN (SELECT name, operation FROM subject WHERE subject = 'supplier') AS s
CROSS JOIN (SELECT 1 AS number UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5
  UNION ALL SELECT 6) AS k
JOIN numbered AS b ON b.n = {bookings} - m.n % 100 - k.number * 3
ORDER BY 1, 2, 3;

-- Watches, mandates and keys of all organizations: copies of one.
INSERT INTO watch (organization, mode, id, user_id, price_check_id, status, trigger_minor, last_checked_at,
  last_total_minor, created_at, updated_at, version, document)
SELECT b.organization, 'test', 'wtc_' || b.bits, b.user_id, 'chk_' || b.bits,
  CASE b.n % 50 WHEN 7 THEN 'purchased' ELSE 'expired' END, w.trigger_minor, b.at, 12000, b.at, b.at, w.version,
  REPLACE(REPLACE(w.document, w.id, 'wtc_' || b.bits),
    '"organization":"demo"', '"organization":"' || b.organization || '"')
FROM numbered AS b CROSS JOIN (SELECT * FROM watch WHERE id = '{watch}') AS w WHERE b.n % 20 = 0;
INSERT INTO price_observation (organization, mode, price_check_id, observed_at, total_minor)
SELECT b.organization, 'test', 'chk_' || b.bits, b.at + k.number * 600000, 12000 + k.number * 100
FROM numbered AS b CROSS JOIN (SELECT 1 AS number UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
  UNION ALL SELECT 5) AS k WHERE b.n % 20 = 0;
INSERT INTO mandate (organization, mode, id, user_id, amount_minor, currency, instrument_id, scope, created_at,
  expires_at, jws, status, version)
SELECT b.organization, 'test', 'mnd_' || b.bits, b.user_id, m.amount_minor, m.currency, m.instrument_id, m.scope,
  b.at, b.at + 864000000, m.jws, CASE b.n % 50 WHEN 7 THEN 'REVOKED' ELSE 'ACTIVE' END, m.version
FROM numbered AS b CROSS JOIN (SELECT * FROM mandate WHERE id = '{mandate}') AS m WHERE b.n % 20 = 1;
INSERT INTO api_key (organization, mode, id, name, scopes, masked_key, sha256, created_at, expires_at, last_used_at)
SELECT b.organization, 'test', 'key_' || b.bits, 'Key ' || b.n, k.scopes, k.masked_key,
  {blob b.bits}, b.at, {now} + 86400000 * (b.n % 300 + 1), b.at
FROM numbered AS b CROSS JOIN (SELECT * FROM api_key WHERE id = '{key}') AS k WHERE b.n <= 500;

-- People, and what they changed. The entries of the audit log are a chain only in their form.
INSERT INTO account (id, email, state, session_epoch, created_at, updated_at, version)
SELECT 'acc_' || bits, 'person-' || n || '@example.com', 'active', 1, at, at, 1 FROM numbered WHERE n <= 500;
INSERT INTO account_role (account_id, organization, role, created_at)
SELECT 'acc_' || bits, organization, 'viewer', at FROM numbered WHERE n <= 500;
INSERT INTO audit_log (sequence, at, organization, mode, actor_kind, actor_id, actor_name, action, target_id, body, hash)
SELECT a.sequence + b.n, b.at, b.organization, 'test', a.actor_kind, a.actor_id, 'person-' || (b.n % 500) || '@example.com',
  CASE b.n % 100 WHEN 7 THEN 'api_key.revoked' ELSE a.action END, 'bkg_' || b.bits, a.body, a.hash
FROM numbered AS b CROSS JOIN (SELECT * FROM audit_log ORDER BY sequence DESC LIMIT 1) AS a
WHERE b.n <= {bookings} / 10;
