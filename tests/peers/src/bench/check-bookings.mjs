// Checks that both sides book alike: answers, rows, commits, other endings, the log of calls and the statistics.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { open } from './databases.mjs';
import { bookOnce, bookable, call, expect, prebookBody } from './requests.mjs';

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
/** Ids differ between the two sides, as references and instants do. */
const OURS = /^(htl|bkg|room|guest|pay|inst|evt|att|lease|req|key)_[0-9a-f-]{32,36}/;
const EARLIEST_MS = 1_500_000_000_000;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns a value in which ids, instants and running numbers are blanked. */
function blanked(value, name = '') {
  if (Array.isArray(value)) return value.map((item) => blanked(item, name));
  if (value !== null && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, blanked(item, key)]));
  if (typeof value === 'number' && value > EARLIEST_MS) return 'INSTANT';
  if (typeof value !== 'string') return value;
  if (INSTANT.test(value)) return 'INSTANT';
  if (OURS.test(value)) return value.replace(OURS, '$1');
  if (value.startsWith('rate-')) return 'RATE';
  if (name === 'path') return value.replace(/bkg_[0-9a-f]{32}/, 'bkg');
  return value.replace(/^(TV|LDG-|LPB-|pay-)\d+(-\d+)?$/, '$1');
}

/** Returns the rows that a booking left, without the values that differ between the sides. */
async function rowsOf(server, id) {
  const tables = await open(server);
  const all = (sql) => tables.all(sql, [id]);
  const [{ document }] = await all('SELECT document FROM hotel_booking WHERE id = $1');
  const rows = {
    booking: await all(`SELECT organization, mode, user_id, status, supplier, supplier_reference, reference_id, total_minor, currency, version
      FROM hotel_booking WHERE id = $1`),
    document: JSON.parse(document),
    history: await all('SELECT organization, mode, sequence, event, from_status, to_status, reason FROM booking_history WHERE booking_id = $1 ORDER BY sequence'),
    attempts: await all(`SELECT organization, mode, step, attempt_number, target, client_reference, outcome, send_count, reconcile_count,
      supplier_reference, evidence FROM remote_call_attempt WHERE booking_id = $1 ORDER BY last_sent_at, id`),
    outbox: (await all('SELECT organization, mode, event_type, product, payload FROM outbox WHERE booking_id = $1 ORDER BY created_at, id'))
      .map((row) => ({ ...row, payload: JSON.parse(row.payload) })),
    deliveries: await all('SELECT status FROM webhook_delivery WHERE event_id IN (SELECT id FROM outbox WHERE booking_id = $1)'),
    keys: await all('SELECT organization, mode, user_id, operation, refusal FROM idempotency_record WHERE resource_id = $1 ORDER BY operation'),
    jobs: await all('SELECT kind FROM job WHERE subject = $1'),
  };
  await tables.close();
  return { rows: blanked(rows), order: JSON.stringify(blanked(rows.document)) };
}

const LOG = `SELECT organization, mode, method, route, path, status, failure, user_id, booking_id, code FROM request_log
  WHERE request_id = $1`;
const BODIES = `SELECT body.request_bytes, body.request_body, body.response_bytes, body.response_body FROM request_log_body AS body
  JOIN request_log AS log ON log.organization = body.organization AND log.mode = body.mode AND log.id = body.id WHERE log.request_id = $1`;
const CALLS = `SELECT organization, mode, kind, supplier, capability, function, target, outcome, is_failure, detail, status,
  request_bytes, response_bytes FROM call_log WHERE request_id = $1 ORDER BY kind, capability, function, target`;

/** Returns the rows of the log of calls for some requests, once they are written. */
async function logOf(server, answers) {
  const tables = await open(server);
  const found = [];
  for (const { headers } of answers) {
    const id = headers.get('x-request-id');
    for (let turn = 0; turn < 50 && (await tables.all(LOG, [id])).length === 0; turn += 1) await pause(100);
    const [requests, bodies, calls] = [await tables.all(LOG, [id]), await tables.all(BODIES, [id]), await tables.all(CALLS, [id])];
    const parsed = bodies.map((row) => ({ ...row, request_body: JSON.parse(row.request_body), response_body: JSON.parse(row.response_body) }));
    found.push(blanked({ requests, bodies: parsed, calls }));
  }
  await tables.close();
  return found;
}

/** Books once, with nothing else running, and counts how many commits that takes. */
async function bookCounted(server) {
  const tables = await open(server);
  // The first booking caches the key and stores the hotel.
  let booked = await bookOnce(server);
  let commits = Infinity;
  for (let turn = 0; turn < 6; turn += 1) {
    // Recorded calls are written within 200 ms of the first, here between the turns.
    await pause(600);
    const before = await tables.commits();
    booked = await bookOnce(server);
    await pause(50);
    const after = await tables.commits();
    // One more commit stores the card. Some windows contain a batch of the log or the use of a key, so the smallest number counts.
    if (before.generation === after.generation) commits = Math.min(commits, after.count - before.count - 1);
  }
  await tables.close();
  assert.ok(Number.isFinite(commits), 'the commits of a booking cannot be counted');
  return { ...booked, commits };
}

export async function sameBooking(ours, theirs) {
  const [one, other] = [await bookCounted(ours), await bookCounted(theirs)];
  for (const step of ['card', 'prebooked', 'booked', 'read']) {
    assert.deepEqual(blanked(other[step].json), blanked(one[step].json), `${theirs.name}: the answer of ${step}`);
    assert.equal(JSON.stringify(blanked(other[step].json)), JSON.stringify(blanked(one[step].json)), 'the order of fields differs');
  }
  const [left, right] = [await rowsOf(ours, one.id), await rowsOf(theirs, other.id)];
  assert.deepEqual(right.rows, left.rows, `${theirs.name}: the rows of a booking`);
  assert.equal(right.order, left.order, `${theirs.name}: the order of fields of a booking's document`);
  assert.equal(other.commits, one.commits, `${theirs.name} commits ${other.commits} times a booking, ${ours.name} ${one.commits} times`);
  const answers = (side) => [side.offers, side.card, side.prebooked, side.booked, side.read];
  const [leftLog, rightLog] = [await logOf(ours, answers(one)), await logOf(theirs, answers(other))];
  assert.deepEqual(rightLog, leftLog, `${theirs.name}: the log of calls of a booking`);
  const logged = leftLog.reduce((sum, { requests, bodies, calls }) => sum + requests.length + bodies.length + calls.length, 0);
  return { commits: one.commits, logged };
}

/** Compares bookings that do not succeed, and answers to repeats. */
export async function sameEndings(ours, theirs) {
  const cases = [['OK', 'tok_declined'], ['OK', 'tok_insufficient_funds'], ['OK', 'tok_requires_action'], ['PRICE_UP', 'tok_visa'],
    ['PRICE_DOWN', 'tok_visa'], ['SOLD_OUT', 'tok_visa'], ['BOOK_REFUSED', 'tok_visa'], ['BOOK_500', 'tok_visa'], ['MANY', 'tok_mastercard']];
  for (const [hotel, token] of cases) {
    const ending = async (server) => {
      const brief = ({ status, json }) => ({
        status, code: json.code, booking: json.booking_status, payment: json.payment_status, offered: json.offered, current: json.current,
        data: json.data && blanked(json.data),
      });
      const { reference, instrument } = await bookable(server, hotel, token);
      const prebook = { 'x-idempotency-key': randomUUID() };
      const said = [];
      const ask = async (path, body, headers) => {
        const answer = await call(server, 'POST', path, body, headers);
        said.push(brief(answer));
        return answer.json;
      };
      const made = await ask('/v1/hotel/prebook', prebookBody(reference), prebook);
      await ask('/v1/hotel/prebook', prebookBody(reference), prebook);
      await ask('/v1/hotel/prebook', { ...prebookBody(reference), reference_id: 'another' }, prebook);
      if (made.data) {
        const path = `/v1/hotel/bookings/${made.data.id}/book`;
        await ask(path, { payment_instrument_id: instrument });
        await ask(path, { payment_instrument_id: 'inst_00000000000000000000000000000000' });
      }
      return said;
    };
    assert.deepEqual(await ending(theirs), await ending(ours), `${theirs.name}: the hotel ${hotel} with ${token}`);
  }
  return cases.length;
}

/** Copies a booking of Stopover to each Node gateway, and checks that all answer with the same bytes. */
export async function shareBooking(ours, nodes) {
  const { id } = await bookOnce(ours);
  const from = await open(ours);
  const [row] = await from.all('SELECT * FROM hotel_booking WHERE id = $1', [id]);
  await from.close();
  const columns = Object.keys(row);
  for (const node of nodes) {
    const tables = await open(node);
    const places = columns.map((_, place) => `$${place + 1}`).join(', ');
    await tables.all(`INSERT INTO hotel_booking (${columns.join(', ')}) VALUES (${places})`, Object.values(row));
    await tables.close();
  }
  const path = `/v1/hotel/bookings/${id}`;
  const { text } = await expect(200, ours, 'GET', path);
  for (const node of nodes) {
    const other = await expect(200, node, 'GET', path);
    assert.equal(other.text, text, `${node.name} answers other bytes of the same booking`);
    const strange = await call(node, 'GET', path, undefined, { 'x-user-id': 'somebody' });
    assert.equal(strange.status, 404, `${node.name} shows a booking to somebody else`);
  }
  return { path, bytes: Buffer.byteLength(text) };
}

const COUNTED = ['', 'POST /v1/payment-instruments', 'POST /v1/hotel/prebook', 'POST /v1/hotel/bookings/{id}/book', 'GET /v1/hotel/bookings/{id}',
  'SANDBOX_HOTELS', 'SANDBOX_PAYMENTS'];
/** Functions with which Stopover's workers look up the outcomes that the check left unknown on purpose. Node has no workers. */
const OF_WORKERS = ['hotel_booking.find', 'payment_processor.find'];
const STATISTICS_WITHIN_MS = 25_000;

async function statisticsOf(server) {
  const tables = await open(server);
  const places = COUNTED.map((_, place) => `$${place + 1}`).join(', ');
  const calls = await tables.all(`SELECT DISTINCT organization, mode, resolution, subject, name, operation FROM statistics WHERE name IN (${places})
    ORDER BY organization, mode, resolution, subject, name, operation`, COUNTED);
  const amounts = await tables.all(`SELECT organization, mode, currency, SUM(bookings) > 0 AS booked FROM booked_amount
    GROUP BY organization, mode, currency ORDER BY organization, mode, currency`);
  await tables.close();
  return { calls: calls.filter(({ operation }) => !OF_WORKERS.includes(operation)), amounts: amounts.map((row) => ({ ...row, booked: Boolean(row.booked) })) };
}

/** Compares the names of the statistics, which are written every 10 seconds. */
export async function sameStatistics(ours, nodes) {
  const until = Date.now() + STATISTICS_WITHIN_MS;
  for (;;) {
    await pause(1000);
    const one = await statisticsOf(ours);
    const others = await Promise.all(nodes.map(statisticsOf));
    try {
      assert.ok(one.calls.length > 0 && one.amounts.length > 0, `${ours.name} has no statistics`);
      others.forEach((other, place) => assert.deepEqual(other, one, `${nodes[place].name}: the names of the statistics`));
      return new Set(one.calls.map(({ name, operation }) => `${name} ${operation}`)).size;
    } catch (error) {
      if (Date.now() > until) throw error;
    }
  }
}
