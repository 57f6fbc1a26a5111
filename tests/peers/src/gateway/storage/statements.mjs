// The statements of both databases, as Stopover sends them: a text with `$1`, `$2` … and `{…}` where SQLite and
// PostgreSQL differ.

const DIALECTS = {
  sqlite: {
    nowMs: 'CAST(unixepoch(\'subsec\') * 1000 AS INTEGER)',
    in: (list) => `IN (SELECT value FROM json_each(${list}))`,
    // `json_each` writes the object again for each expression that reads it, unless its rows are stored first.
    each: (list) => `(WITH list AS MATERIALIZED (SELECT value FROM json_each(${list})) SELECT value FROM list) AS item`,
  },
  postgres: {
    nowMs: 'CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)',
    in: (list) => `= ANY(ARRAY(SELECT json_array_elements_text(CAST(${list} AS json))))`,
    each: (list) => `json_array_elements(CAST(${list} AS json)) AS item(value)`,
  },
};

/** Fills in the places where the databases differ: `{now_ms}`, `{in $n}` and `{each $n}`. */
export function render(text, dialect) {
  const fragments = DIALECTS[dialect];
  return text.replace(/\{now_ms\}/g, fragments.nowMs)
    .replace(/\{in (\$\d+)\}/g, (_, list) => fragments.in(list))
    .replace(/\{each (\$\d+)\}/g, (_, list) => fragments.each(list));
}

const statement = (name, text) => ({ name, text: text.replace(/\s+/g, ' ').trim() });

/** Returns expressions that read members of `item.value` as texts, or as numbers. */
const texts = (...names) => names.map((name) => `item.value ->> '${name}'`).join(', ');
const numbers = (...names) => names.map((name) => `CAST(item.value ->> '${name}' AS BIGINT)`).join(', ');

const OWNED = 'organization = $1 AND mode = $2';
const IDEMPOTENCY_KEY = `${OWNED} AND user_id = $3 AND operation = $4 AND idempotency_key = $5`;
const LEASED = 'kind = $1 AND subject = $2 AND lease_token = $3';
const RELEASED = 'reschedule_at = NULL, lease_token = NULL, lease_expires_at = NULL, attempt_count = 0, last_error = NULL';

export const CLASS_COLUMNS = Array.from({ length: 14 }, (_, number) => `class_${String(number).padStart(2, '0')}`);
const SUMMED = ['count', 'client_errors', 'server_errors', 'duration_us_sum', ...CLASS_COLUMNS];
const STATISTICS_TEXTS = ['organization', 'mode', 'resolution', 'subject', 'name', 'operation', 'host'];

export const STATEMENTS = Object.fromEntries([
  // ---- Keys of callers ----
  statement('apiKey', `SELECT organization, mode, id, scopes, expires_at, last_used_at, revoked_at FROM api_key WHERE sha256 = $1`),
  statement('touchApiKey', `UPDATE api_key SET last_used_at = $4
    WHERE ${OWNED} AND id = $3 AND (last_used_at IS NULL OR last_used_at <= $5)`),
  statement('insertApiKey', `INSERT INTO api_key (organization, mode, id, name, scopes, masked_key, sha256, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`),

  // ---- Hotels ----
  statement('hotels', `SELECT hotel_id, supplier, supplier_hotel_id, name, location, time_zone FROM hotel_mapping
    WHERE mode = $1 AND supplier = $2 AND supplier_hotel_id {in $3}`),
  statement('mapHotels', `INSERT INTO hotel_mapping (mode, supplier, supplier_hotel_id, hotel_id, name, location, time_zone, created_at)
    SELECT $1, $2, ${texts('id', 'hotel', 'name', 'location', 'zone')}, $4 FROM {each $3} WHERE TRUE
    ON CONFLICT (mode, supplier, supplier_hotel_id) DO UPDATE SET
      name = COALESCE(excluded.name, hotel_mapping.name),
      location = COALESCE(excluded.location, hotel_mapping.location),
      time_zone = COALESCE(excluded.time_zone, hotel_mapping.time_zone)
    RETURNING hotel_id, supplier, supplier_hotel_id, name, location, time_zone`),

  // ---- Bookings ----
  // `user_id || ''` keeps the databases from using the index of the owner's list instead of the primary key.
  statement('booking', `SELECT document FROM hotel_booking WHERE ${OWNED} AND id = $3 AND user_id || '' = $4`),
  statement('insertBooking', `INSERT INTO hotel_booking (organization, mode, id, user_id, status, supplier, supplier_reference,
    reference_id, hotel_id, total_minor, currency, created_at, updated_at, version, document)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT DO NOTHING`),
  statement('updateBooking', `UPDATE hotel_booking SET status = $4, supplier_reference = $5, hotel_id = $6, total_minor = $7,
    currency = $8, updated_at = $9, version = $10, document = $11 WHERE ${OWNED} AND id = $3 AND version = $12`),
  statement('insertHistory', `INSERT INTO booking_history (organization, mode, booking_id, sequence, event, from_status, to_status,
    reason, request_id, occurred_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`),
  statement('insertEvent', `INSERT INTO outbox (organization, mode, id, event_type, product, booking_id, payload, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`),
  statement('insertDeliveries', `INSERT INTO webhook_delivery (organization, mode, id, subscription_id, event_id, status, generation,
    attempt_count, next_attempt_at, created_at, pending_since, event_type)
    SELECT s.organization, s.mode, $3 || substr(s.id, 5), s.id, $4, 'PENDING', 0, 0, $5, $5, $5, $6 FROM webhook_subscription AS s
    WHERE s.organization = $1 AND s.mode = $2 AND s.product = $7 AND s.deleted_at IS NULL AND EXISTS
      (SELECT 1 FROM webhook_subscription_event_type AS t WHERE t.organization = s.organization AND t.mode = s.mode
       AND t.subscription_id = s.id AND t.event_type IN ($6, '*')) ON CONFLICT DO NOTHING`),

  // ---- Attempts of remote calls ----
  statement('recordAttempt', `INSERT INTO remote_call_attempt (organization, mode, id, booking_id, step, attempt_number, target,
    client_reference, plugin_digest, request_digest, outcome, send_count, reconcile_count, last_sent_at)
    VALUES ($1, $2, $3, $4, $5,
      (SELECT COALESCE(MAX(attempt_number), 0) + 1 FROM remote_call_attempt
       WHERE booking_id = $4 AND organization || '' = $1 AND mode || '' = $2 AND step = $5),
      $6, $7, $8, $9, 'sent', 1, 0, $10) ON CONFLICT DO NOTHING`),
  statement('finishAttempt', `UPDATE remote_call_attempt SET outcome = $4, finished_at = $5,
    supplier_reference = COALESCE($6, supplier_reference), evidence = COALESCE($7, evidence)
    WHERE ${OWNED} AND id = $3 AND outcome || '' IN ('sent', 'unknown')`),

  // ---- Leases on the work of a booking ----
  statement('leaseJob', `INSERT INTO job (kind, subject, due_at, lease_token, lease_expires_at, attempt_count, created_at)
    VALUES ($1, $2, $3, $4, {now_ms} + $5, 1, $3)
    ON CONFLICT (kind, subject) DO UPDATE SET due_at = excluded.due_at, reschedule_at = NULL,
      lease_token = excluded.lease_token, lease_expires_at = excluded.lease_expires_at,
      attempt_count = CASE WHEN job.parked_at IS NULL THEN job.attempt_count + 1 ELSE 1 END, parked_at = NULL
    WHERE job.lease_token IS NULL OR job.lease_token = excluded.lease_token OR job.lease_expires_at <= {now_ms}`),
  statement('renewLease', `UPDATE job SET lease_expires_at = {now_ms} + $4 WHERE ${LEASED}`),
  statement('releaseJob', `UPDATE job SET due_at = CASE WHEN reschedule_at < $4 THEN reschedule_at ELSE $4 END, ${RELEASED} WHERE ${LEASED}`),
  statement('rescheduleJob', `UPDATE job SET due_at = reschedule_at, ${RELEASED} WHERE ${LEASED} AND reschedule_at IS NOT NULL`),
  statement('deleteJob', `DELETE FROM job WHERE ${LEASED} AND reschedule_at IS NULL`),

  // ---- Idempotency keys ----
  statement('idempotencyRecord', `SELECT fingerprint, resource_id, refusal, created_at FROM idempotency_record WHERE ${IDEMPOTENCY_KEY}`),
  statement('insertIdempotencyKey', `INSERT INTO idempotency_record (organization, mode, user_id, operation, idempotency_key, fingerprint,
    resource_id, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`),
  statement('storeRefusal', `UPDATE idempotency_record SET refusal = $6 WHERE ${IDEMPOTENCY_KEY}`),
  statement('deleteIdempotencyKey', `DELETE FROM idempotency_record WHERE ${IDEMPOTENCY_KEY}`),

  // ---- Payment instruments ----
  statement('insertInstrument', `INSERT INTO payment_instrument (organization, mode, id, user_id, processor, sealed_token, card, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`),
  statement('instrument', `SELECT id, processor, sealed_token, card, created_at FROM payment_instrument
    WHERE ${OWNED} AND id = $3 AND user_id || '' = $4 AND deleted_at IS NULL`),

  // ---- Log of calls, and statistics: rows come as one JSON array ----
  statement('insertRequests', `INSERT INTO request_log (organization, mode, id, request_id, at, method, route, path, status, failure,
    duration_us, key_id, user_id, booking_id, code, host)
    SELECT ${texts('organization', 'mode', 'id', 'request_id')}, ${numbers('at')}, ${texts('method', 'route', 'path')},
      ${numbers('status', 'failure', 'duration_us')}, ${texts('key', 'user', 'booking', 'code', 'host')} FROM {each $1}`),
  statement('insertBodies', `INSERT INTO request_log_body (organization, mode, id, request_bytes, request_body, response_bytes, response_body)
    SELECT ${texts('organization', 'mode', 'id')}, ${numbers('request_bytes')}, ${texts('request_body')},
      ${numbers('response_bytes')}, ${texts('response_body')} FROM {each $1}`),
  statement('insertCalls', `INSERT INTO call_log (organization, mode, request_id, id, kind, supplier, capability, function, target,
    started_at, duration_us, outcome, is_failure, detail, status, request_bytes, response_bytes)
    SELECT ${texts('organization', 'mode', 'request_id', 'id', 'kind', 'supplier', 'capability', 'function', 'target')},
      ${numbers('started_at', 'duration_us')}, ${texts('outcome')}, ${numbers('is_failure')}, ${texts('detail')},
      ${numbers('status', 'request_bytes', 'response_bytes')} FROM {each $1}`),
  statement('addStatistics', `INSERT INTO statistics (${STATISTICS_TEXTS.join(', ')}, at, duration_us_max, ${SUMMED.join(', ')})
    SELECT ${texts(...STATISTICS_TEXTS)}, ${numbers('at', 'duration_us_max', ...SUMMED)} FROM {each $1} WHERE TRUE
    ON CONFLICT (organization, mode, resolution, subject, at, name, operation, host) DO UPDATE SET
      ${SUMMED.map((column) => `${column} = statistics.${column} + excluded.${column}`).join(', ')},
      duration_us_max = CASE WHEN excluded.duration_us_max > statistics.duration_us_max
        THEN excluded.duration_us_max ELSE statistics.duration_us_max END`),
  statement('addAmounts', `INSERT INTO booked_amount (organization, mode, at, currency, bookings, amount_minor)
    SELECT ${texts('organization', 'mode')}, ${numbers('at')}, ${texts('currency')}, ${numbers('bookings', 'amount_minor')}
    FROM {each $1} WHERE TRUE ON CONFLICT (organization, mode, at, currency) DO UPDATE SET
      bookings = booked_amount.bookings + excluded.bookings,
      amount_minor = booked_amount.amount_minor + excluded.amount_minor`),
  statement('insertRemarkable', `INSERT INTO remarkable_call (organization, mode, at, supplier, operation, reason, request_id,
    duration_us, outcome)
    SELECT ${texts('organization', 'mode')}, ${numbers('at')}, ${texts('supplier', 'operation', 'reason', 'request_id')},
      ${numbers('duration_us')}, ${texts('outcome')} FROM {each $1} WHERE TRUE ON CONFLICT DO NOTHING`),
].map((one) => [one.name, one]));
