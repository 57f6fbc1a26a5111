// Prebook and book. There is one commit between two remote calls. It stores the outcome of the first call, the attempt
// of the second, the booking, its history, the events for subscribers, and the lease on the work. A booking has six
// commits:
//
//   prebook   1 intent, idempotency key, lease             → the supplier binds the offer
//             2 bound; the job is due at its expiry
//   book      3 intent, key, lease, attempt of `authorize` → the processor holds the amount
//             4 held, attempt of `book`                    → the supplier books
//             5 confirmed, attempt of `capture`            → the processor takes the amount
//             6 captured; the job is complete
import { hash } from 'node:crypto';
import * as render from './render.mjs';
import { Lost, NotSent } from './client.mjs';
import { Declined } from './adapter/tillway.mjs';
import { PURPOSE as OFFER } from './offers.mjs';
import { Problem, invalid } from './problem.mjs';
import { Refused } from './adapter/lodge.mjs';
import { counted } from './metrics.mjs';
import { toMajor } from './money.mjs';
import { newId } from './random.mjs';
import { Conflict } from './storage/work.mjs';
import { instant } from './time.mjs';

const JOB = 'hotel_booking';
const LEASE_MS = 15_000;
const FIRST_CHECK_MS = 5_000;
const INSTRUMENT = 'payment_instrument_token';

// ---- Requests ----

/** Writes JSON with the members of every object in order, so that equal requests have equal texts. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
}

const fingerprint = (id, body) => hash('sha256', `${id}\0${canonical(body)}`);
const requestDigest = (request) => hash('sha256', JSON.stringify(request));

/** Returns the guests of each room. Throws if they are not those for whom the offer was priced. */
function guestsOf(occupancies, rooms) {
  const errors = [];
  const other = (at, detail) => errors.push({ pointer: at, code: 'other_than_offered', detail });
  if (rooms.length !== occupancies.length) throw invalid([{ pointer: '/rooms', code: 'other_than_offered', detail: `there must be ${occupancies.length} rooms` }]);
  const guests = rooms.map((room, index) => {
    const at = `/rooms/${index}/guests`;
    const typed = room.guests.map((guest) => ({ ...guest, type: guest.type ?? 'ADULT' }));
    const leads = typed.filter((guest) => guest.is_lead);
    if (leads.length !== 1 || leads[0].type !== 'ADULT') errors.push({ pointer: at, code: 'one_adult_lead_required', detail: 'exactly one guest of a room, an adult, is its lead' });
    const children = typed.filter((guest) => guest.type === 'CHILD');
    const { adults, children: ages } = occupancies[index];
    if (typed.length - children.length !== adults) other(at, `the room was priced for ${adults} adults`);
    if (children.length !== 0 && children.length !== ages.length) other(at, `the room was priced for ${ages.length} children`);
    const unnamed = [...ages];
    for (const { age } of children.filter((guest) => guest.age !== undefined && guest.age !== null)) {
      const place = unnamed.indexOf(age);
      if (place < 0) other(at, `the room was not priced for a child of age ${age}`);
      else unnamed.splice(place, 1);
    }
    return typed.map((guest) => ({
      first_name: guest.first_name,
      last_name: guest.last_name,
      guest_type: guest.type === 'CHILD' ? 'child' : 'adult',
      is_lead: guest.is_lead ?? false,
      age: guest.type === 'CHILD' ? guest.age ?? unnamed.shift() ?? null : null,
    }));
  });
  if (errors.length > 0) throw invalid(errors);
  return guests;
}

// ---- Rows ----

/** Moves a booking to its next version, with the entry of its history. `reason` is evidence. */
function move(booking, event, change, { now, requestId, reason = null }) {
  const from = render.status(booking);
  const moved = { ...booking, ...change, version: booking.version + 1, updated_at: now };
  const history = { sequence: moved.version, event, from, to: render.status(moved), reason, requestId, at: now };
  return { booking: moved, history };
}

const tenantOf = (booking) => [booking.owner.tenant.organization, booking.owner.tenant.mode];

function addHistory(work, booking, { sequence, event, from, to, reason, requestId, at }) {
  work.add('insertHistory', [...tenantOf(booking), booking.id, sequence, event, from, to, reason, requestId, at], 'BookingHistorySequence');
}

function insertBooking(work, of) {
  const { hotel_id: hotelId, total } = of.details;
  work.add('insertBooking', [
    ...tenantOf(of), of.id, of.owner.user, render.status(of), of.supplier, of.supplier_reference, of.reference_id, hotelId,
    total.minor, total.currency, of.created_at, of.updated_at, of.version, JSON.stringify(of),
  ], 'BookingExists');
}

function updateBooking(work, of, readVersion) {
  const { hotel_id: hotelId, total } = of.details;
  work.add('updateBooking', [
    ...tenantOf(of), of.id, render.status(of), of.supplier_reference, hotelId, total.minor, total.currency, of.updated_at, of.version,
    JSON.stringify(of), readVersion,
  ], 'BookingVersion');
}

/** Stores an event, laid out as it will be signed, and a delivery for each subscription that wants it. */
function publish(work, booking, type, data) {
  const id = newId('evt_');
  const at = booking.updated_at;
  const payload = JSON.stringify({ id, type, created_at: instant(at), data });
  work.add('insertEvent', [...tenantOf(booking), id, type, 'hotel', booking.id, payload, at], 'EventExists');
  work.add('insertDeliveries', [...tenantOf(booking), `dlv_${id.slice(4)}-`, id, at, type, 'hotel']);
  work.wakes = true;
}

/** Returns the writes of a remote call: that of the attempt, which must be committed before the call is sent, and that of its outcome. */
function attempt(booking, step, target, clientReference, request) {
  const id = newId('att_');
  const digest = requestDigest(request);
  const tenant = tenantOf(booking);
  const record = (work, now) => work.add(
    'recordAttempt', [...tenant, id, booking.id, step, target.id, clientReference, target.digest, digest, now], 'AttemptExists',
  );
  const finish = (work, now, outcome, reference, evidence) => work.add('finishAttempt', [...tenant, id, outcome, now, reference, evidence], 'AttemptFinished');
  return { record, finish };
}

const leaseJob = (work, id, token, now) => work.add('leaseJob', [JOB, id, now, token, LEASE_MS], 'JobLeased');
const renewLease = (work, id, token) => work.add('renewLease', [JOB, id, token, LEASE_MS], 'LeaseLost');
const releaseJob = (work, id, token, dueAt) => work.add('releaseJob', [JOB, id, token, dueAt], 'LeaseLost');
const completeJob = (work, id, token) => work.addPair('rescheduleJob', 'deleteJob', [JOB, id, token], 'LeaseLost');

function insertKey(work, owner, operation, key, print, id, now) {
  work.add('insertIdempotencyKey', [owner.organization, owner.mode, owner.user, operation, key, print, id, now], 'IdempotencyKeyExists');
}

function say(log, booking, step, outcome, evidence) {
  log.info({ booking: booking.id, step, outcome, evidence }, 'step');
}

// ---- Prebook ----

export async function prebook(app, caller, key, body, log) {
  const { owner, requestId } = caller;
  const text = app.sealer.openText(OFFER, [owner.organization, owner.mode], body.offer_reference);
  if (text === null) throw new Problem('offer_invalid');
  const offer = JSON.parse(text);
  const guests = guestsOf(offer.stay.occupancies, body.rooms);
  const supplier = app.suppliers.get(offer.supplier);
  if (!supplier?.adapter.prebook) throw new Problem('supplier_operation_unsupported', { supplier: offer.supplier });
  const print = fingerprint('', body);
  if (offer.expires_at <= Date.now()) return await before(app, owner, key, print) ?? fail(new Problem('offer_expired'));

  const created = newBooking(owner, offer, body, guests);
  const token = newId('lease_');
  const started = move(created, 'prebook_started', { state: { state: 'prebook_in_progress', started_at: created.created_at } }, { now: created.created_at, requestId });
  let { booking } = started;
  try {
    await app.store.commit((work) => {
      const now = created.created_at;
      insertKey(work, owner, 'hotel_prebook', key, print, booking.id, now);
      addHistory(work, created, { sequence: 1, event: 'accepted', from: null, to: 'CREATED', reason: null, requestId, at: now });
      leaseJob(work, booking.id, token, now);
      insertBooking(work, booking);
      addHistory(work, booking, started.history);
    });
  } catch (error) {
    if (error instanceof Conflict && error.message === 'IdempotencyKeyExists') return before(app, owner, key, print);
    throw error;
  }

  let bound;
  try {
    bound = await counted(app.recorder, caller, supplier.id, 'hotel_booking', 'prebook', () => supplier.adapter.prebook({ clientReference: booking.id, supplierOffer: booking.supplier_offer }));
    if (bound.rooms.length !== booking.details.rooms.length || bound.currency !== booking.details.total.currency) throw new Lost('something else was bound');
    if (bound.total > booking.details.total.minor) {
      const shown = (minor) => ({ amount: toMajor(minor, bound.currency), currency: bound.currency });
      throw new Problem('offer_price_changed', { offered: shown(booking.details.total.minor), current: shown(bound.total), supplier: supplier.id });
    }
  } catch (error) {
    return endPrebook(app, booking, caller, key, token, error);
  }
  say(log, booking, 'prebook', 'done', 'bound');
  const now = Date.now();
  const expiresAt = Math.min(bound.expires_at ?? Infinity, now + app.offerTtlMs);
  const moved = move(booking, 'prebook_confirmed', {
    state: { state: 'ready_for_complete' },
    supplier_prebook: bound.supplier_prebook,
    offer_expires_at: expiresAt,
    details: {
      ...booking.details,
      hotel: bound.hotel,
      rooms: booking.details.rooms.map((room, at) => {
        const { total, ...found } = bound.rooms[at];
        return bindRoom(room, { ...found, total: { minor: total, currency: bound.currency } });
      }),
      total: { minor: bound.total, currency: bound.currency },
      policy: bound.policy,
      promotions: bound.promotions,
      loyalty: bound.loyalty,
    },
  }, { now, requestId, reason: 'bound' });
  const readVersion = booking.version;
  ({ booking } = moved);
  await app.store.commit((work) => {
    updateBooking(work, booking, readVersion);
    addHistory(work, booking, moved.history);
    publish(work, booking, 'hotel.booking.created', { booking: render.booking(booking, true) });
    releaseJob(work, booking.id, token, expiresAt);
  });
  return { status: 201, data: render.booking(booking, false), supplier: supplier.id };
}

const fail = (error) => {
  throw error;
};

/** Returns the result of an earlier call with this key, or null if there was none. */
async function before(app, owner, key, print) {
  const known = await app.store.idempotencyRecord(owner, 'hotel_prebook', key);
  if (!known) return null;
  if (known.fingerprint !== print) throw new Problem('idempotency_key_reused');
  if (known.refusal) {
    const { code, more } = JSON.parse(known.refusal);
    throw new Problem(code, more);
  }
  const booking = await app.store.booking(owner, known.resource_id);
  if (!booking || render.status(booking) === 'PREBOOK_IN_PROGRESS') throw new Problem('idempotency_in_progress');
  return { status: 200, data: render.booking(booking, false), supplier: booking.supplier };
}

/** Ends a prebook that failed, and stores the reason for repeats of the key. */
async function endPrebook(app, booking, caller, key, token, error) {
  const { owner, requestId } = caller;
  let problem = error;
  if (error instanceof Refused) {
    const code = { SOLD_OUT: 'offer_unavailable', RATE_EXPIRED: 'offer_expired', RATE_UNKNOWN: 'offer_expired' }[error.code] ?? 'supplier_rejected';
    problem = new Problem(code, { supplier: booking.supplier });
  } else if (error instanceof NotSent) {
    problem = new Problem('supplier_unavailable', { supplier: booking.supplier });
  } else if (!(error instanceof Problem)) {
    // The supplier may have bound the offer. The booking stays until its prebook times out, because nothing is owed yet.
    throw error instanceof Lost ? new Problem('supplier_error', { supplier: booking.supplier }) : error;
  }
  const now = Date.now();
  const failure = { code: 'prebook_failed', description: 'The supplier did not bind the offer.' };
  const moved = move(booking, 'prebook_refused', { state: { state: 'failed' }, failure }, { now, requestId, reason: problem.code });
  await app.store.commit((work) => {
    updateBooking(work, moved.booking, booking.version);
    addHistory(work, moved.booking, moved.history);
    completeJob(work, booking.id, token);
    const of = [owner.organization, owner.mode, owner.user, 'hotel_prebook', key];
    if (problem.code === 'supplier_unavailable') work.add('deleteIdempotencyKey', of);
    else work.add('storeRefusal', [...of, JSON.stringify({ code: problem.code, more: problem.more })], 'IdempotencyKeyNotFound');
  });
  throw problem;
}

/** Adds what the supplier bound to a room, with the fields in the order of the document. A room without details has no such field. */
function bindRoom(room, { name, board, board_name: boardName, total, due_at_property: due, policy, details }) {
  const { supplier_reference: reference, hotel_confirmation_code: code, canceled_at: canceled, guests, ...rest } = room;
  const bound = { ...rest, name, board, board_name: boardName, total, due_at_property: due, policy };
  if (details) bound.details = details;
  return { ...bound, supplier_reference: reference, hotel_confirmation_code: code, canceled_at: canceled, guests };
}

function newBooking(owner, offer, body, guests) {
  const now = Date.now();
  const { contact } = body;
  return {
    id: newId('bkg_'),
    owner: { tenant: { organization: owner.organization, mode: owner.mode }, user: owner.user },
    version: 1,
    supplier: offer.supplier,
    reference_id: body.reference_id ?? null,
    supplier_offer: offer.supplier_offer,
    supplier_prebook: null,
    supplier_reference: null,
    use_payment_sdk: body.use_payment_sdk ?? false,
    payment_collector: 'gateway',
    offer_expires_at: offer.expires_at,
    state: { state: 'created' },
    payments: [],
    failure: null,
    created_at: now,
    updated_at: now,
    confirmed_at: null,
    canceled_at: null,
    details: {
      hotel_id: offer.hotel_id,
      hotel: offer.hotel,
      stay: offer.stay,
      contact: { first_name: contact.first_name, last_name: contact.last_name, email: contact.email, phone: contact.phone },
      rooms: offer.rooms.map((room, at) => ({
        id: newId('room_'),
        name: room.name,
        board: room.board,
        board_name: room.board_name,
        adults: offer.stay.occupancies[at].adults,
        children: offer.stay.occupancies[at].children,
        total: room.total,
        due_at_property: null,
        policy: null,
        supplier_reference: null,
        hotel_confirmation_code: null,
        canceled_at: null,
        guests: guests[at].map((guest) => [newId('guest_'), guest]),
      })),
      total: offer.total,
      policy: null,
      promotions: [],
      loyalty: null,
      hotel_confirmation_code: null,
      hotel_remarks: null,
      cancellations: [],
    },
  };
}

// ---- Book ----

const pending = (now) => ({ call: 'pending', due_at: now, failed_attempts: 0 });
const sent = (now) => ({ call: 'sent', sent_at: now, failed_attempts: 0, reconcile_count: 0, reconcile_at: now + FIRST_CHECK_MS });
/** Changes the last payment, which is the only one in progress. */
const withPayment = (booking, change) => booking.payments.with(-1, { ...booking.payments.at(-1), ...change });

export async function book(app, caller, key, id, body, log) {
  const { owner, requestId } = caller;
  const found = await app.store.booking(owner, id);
  if (!found) throw new Problem('booking_not_found');
  const status = render.status(found);
  if (status === 'CONFIRMED') return { status: 200, data: render.booking(found, false), supplier: found.supplier };
  if (status === 'COMPLETE_IN_PROGRESS') throw new Problem('result_unknown', { booking_status: status, supplier: found.supplier });
  if (status === 'FAILED' && found.supplier_prebook) throw new Problem('supplier_rejected', { booking_status: status, supplier: found.supplier });
  if (status !== 'READY_FOR_COMPLETE' || found.offer_expires_at <= Date.now()) throw new Problem('booking_state_conflict', { booking_status: status });
  const instrument = await openInstrument(app, owner, body.payment_instrument_id);
  const supplier = app.suppliers.get(found.supplier);
  const processor = app.suppliers.get(instrument.processor);
  const token = newId('lease_');

  // Commit 3: the intent, and the attempt of `authorize`.
  let now = Date.now();
  const ordinal = found.payments.length + 1;
  const payment = {
    id: `pay_${id.slice(4)}-${ordinal}`, amount: found.details.total, method: { instrument: { id: instrument.id } }, processor: processor.id,
    processor_reference: null, card: instrument.card, state: { authorizing: pending(now) }, refunds: [], decline_reason: null, created_at: now,
  };
  const started = move(found, 'book_started', { state: { state: 'complete_in_progress', book: pending(now) }, payments: [...found.payments, payment] }, { now, requestId });
  let moved = move(started.booking, 'payment_sent', { payments: withPayment(started.booking, { state: { authorizing: sent(now) } }) }, { now, requestId });
  let { booking } = moved;
  const authorize = { clientReference: `${id}-authorize-${ordinal}-1`, amount: payment.amount };
  const authorizing = attempt(booking, 'authorize', processor, authorize.clientReference, authorize);
  try {
    await app.store.commit((work) => {
      updateBooking(work, booking, found.version);
      addHistory(work, booking, started.history);
      addHistory(work, booking, moved.history);
      authorizing.record(work, now);
      leaseJob(work, id, token, now);
      if (key) insertKey(work, owner, 'hotel_book', key, fingerprint(id, body), id, now);
    });
  } catch (error) {
    if (error instanceof Conflict) throw new Problem('idempotency_in_progress');
    throw error;
  }

  // The processor holds the amount.
  let held;
  try {
    held = await counted(app.recorder, caller, processor.id, 'payment_processor', 'authorize', () => processor.adapter.authorize({ ...authorize, token: instrument.token }));
  } catch (error) {
    return authorizeFailed(app, booking, authorizing, token, error, requestId, log);
  }
  say(log, booking, 'authorize', 'done', 'held');

  // Commit 4: the amount is held, and the attempt of `book`.
  now = Date.now();
  let before = booking.version;
  const authorized = move(booking, 'payment_authorized', {
    payments: withPayment(booking, { state: 'authorized', processor_reference: held.reference, card: held.card ?? payment.card }),
  }, { now, requestId, reason: 'held' });
  moved = move(authorized.booking, 'book_sent', { state: { state: 'complete_in_progress', book: sent(now) } }, { now, requestId });
  ({ booking } = moved);
  const request = {
    clientReference: id, supplierPrebook: booking.supplier_prebook, total: booking.details.total, contact: booking.details.contact,
    rooms: booking.details.rooms.map((room) => room.guests.map(([, guest]) => guest)),
  };
  const booked = attempt(booking, 'book', supplier, id, request);
  await app.store.commit((work) => {
    updateBooking(work, booking, before);
    addHistory(work, booking, authorized.history);
    addHistory(work, booking, moved.history);
    authorizing.finish(work, now, 'succeeded', held.reference, 'held');
    booked.record(work, now);
    renewLease(work, id, token);
  });

  // The supplier books.
  let state;
  try {
    state = await counted(app.recorder, caller, supplier.id, 'hotel_booking', 'book', () => supplier.adapter.book(request));
    if (state.state !== 'CONFIRMED') throw new Lost('not confirmed at once');
  } catch (error) {
    return bookFailed(app, booking, booked, processor, token, error, caller, log);
  }
  say(log, booking, 'book', 'done', 'confirmed');

  // Commit 5: the booking is confirmed, and the attempt of `capture`.
  now = Date.now();
  before = booking.version;
  const confirmed = move(booking, 'book_confirmed', {
    state: { state: 'booked', booked: 'confirmed', refresh: null },
    supplier_reference: state.supplier_reference,
    confirmed_at: now,
    details: {
      ...booking.details,
      rooms: booking.details.rooms.map((room, at) => {
        const own = state.rooms.find((other) => other.position === at);
        return own ? { ...room, supplier_reference: own.supplier_reference, hotel_confirmation_code: own.hotel_confirmation_code } : room;
      }),
      policy: state.policy ? withDetailsOf(state.policy, booking.details.policy) : booking.details.policy,
      hotel_confirmation_code: state.hotel_confirmation_code,
      hotel_remarks: state.remarks,
    },
  }, { now, requestId, reason: 'confirmed' });
  moved = move(confirmed.booking, 'payment_sent', { payments: withPayment(confirmed.booking, { state: { capturing: sent(now) } }) }, { now, requestId });
  ({ booking } = moved);
  const capture = { clientReference: `${id}-capture-${ordinal}-1`, processorReference: held.reference, amount: payment.amount };
  const capturing = attempt(booking, 'capture', processor, capture.clientReference, capture);
  await app.store.commit((work) => {
    updateBooking(work, booking, before);
    addHistory(work, booking, confirmed.history);
    publish(work, confirmed.booking, 'hotel.booking.confirmed', { booking: render.booking(confirmed.booking, true) });
    addHistory(work, booking, moved.history);
    booked.finish(work, now, 'succeeded', state.supplier_reference, 'confirmed');
    capturing.record(work, now);
    renewLease(work, id, token);
  });
  app.recorder.booked(booking.owner.tenant, now, booking.details.total);

  // The processor takes the amount. A failure does not undo the booking.
  let taken = null;
  try {
    taken = await counted(app.recorder, caller, processor.id, 'payment_processor', 'capture', () => processor.adapter.capture(capture));
  } catch (error) {
    say(log, booking, 'capture', 'unknown', error.message);
  }

  // Commit 6: the amount is captured, and the work is complete.
  now = Date.now();
  before = booking.version;
  if (!taken) {
    await app.store.commit((work) => {
      capturing.finish(work, now, 'unknown', null, 'capture failed');
      releaseJob(work, id, token, now + FIRST_CHECK_MS);
    });
    return { status: 200, data: render.booking(booking, false), supplier: booking.supplier };
  }
  say(log, booking, 'capture', 'done', 'captured');
  moved = move(booking, 'payment_captured', { payments: withPayment(booking, { state: 'captured' }) }, { now, requestId, reason: 'captured' });
  ({ booking } = moved);
  await app.store.commit((work) => {
    updateBooking(work, booking, before);
    addHistory(work, booking, moved.history);
    publish(work, booking, 'payment.captured', { payment: render.payment(booking.payments.at(-1), true), booking_id: id });
    capturing.finish(work, now, 'succeeded', taken.reference, 'captured');
    completeJob(work, id, token);
  });
  return { status: 200, data: render.booking(booking, false), supplier: booking.supplier };
}

/** Adds the details that a policy lacks from an earlier statement of the same terms. Not every answer has them. */
function withDetailsOf(policy, earlier) {
  const isSame = (one, other) => one.from === other.from && one.amount.minor === other.amount.minor && one.amount.currency === other.amount.currency;
  const penalties = policy.penalties.map((penalty) => ({ ...earlier.penalties.find((other) => isSame(penalty, other)), ...penalty }));
  const refundType = policy.refundable === earlier.refundable ? earlier.refund_type : undefined;
  return { ...policy, penalties, ...(refundType && { refund_type: refundType }) };
}

async function authorizeFailed(app, booking, authorizing, token, error, requestId, log) {
  const now = Date.now();
  const definite = error instanceof Declined || error instanceof NotSent;
  say(log, booking, 'authorize', definite ? 'refused' : 'unknown', error.message);
  if (!definite) return unknown(app, booking, authorizing, token, error, now);
  const decline = error instanceof Declined ? error.reason : null;
  const moved = move(booking, 'payment_declined', {
    state: { state: 'ready_for_complete' }, payments: withPayment(booking, { state: 'failed', decline_reason: decline }),
  }, { now, requestId, reason: error.message });
  await app.store.commit((work) => {
    updateBooking(work, moved.booking, booking.version);
    addHistory(work, moved.booking, moved.history);
    authorizing.finish(work, now, error instanceof Declined ? 'refused' : 'not_sent', null, error.message);
    releaseJob(work, booking.id, token, booking.offer_expires_at);
  });
  if (error instanceof NotSent) throw new Problem('supplier_unavailable', { supplier: booking.supplier });
  throw new Problem('payment_failed', {
    booking_status: 'READY_FOR_COMPLETE', payment_status: decline === 'authentication_required' ? 'REQUIRES_ACTION' : 'FAILED',
  });
}

async function bookFailed(app, booking, booked, processor, token, error, caller, log) {
  const { requestId } = caller;
  let now = Date.now();
  const definite = error instanceof Refused || error instanceof NotSent;
  say(log, booking, 'book', definite ? 'refused' : 'unknown', error.message);
  if (!definite) return unknown(app, booking, booked, token, error, now);
  const payment = booking.payments.at(-1);
  const failure = { code: 'book_failed', description: 'The supplier refused the booking.' };
  const refused = move(booking, 'book_refused', {
    state: { state: 'failed' }, failure, payments: withPayment(booking, { state: { voiding: sent(now) } }),
  }, { now, requestId, reason: error.message });
  const release = { clientReference: `${booking.id}-void-${booking.payments.length}-1`, processorReference: payment.processor_reference };
  const voiding = attempt(booking, 'void', processor, release.clientReference, release);
  await app.store.commit((work) => {
    updateBooking(work, refused.booking, booking.version);
    addHistory(work, refused.booking, refused.history);
    publish(work, refused.booking, 'hotel.booking.failed', { booking: render.booking(refused.booking, true) });
    booked.finish(work, now, error instanceof Refused ? 'refused' : 'not_sent', null, error.message);
    voiding.record(work, now);
    renewLease(work, booking.id, token);
  });
  try {
    await counted(app.recorder, caller, processor.id, 'payment_processor', 'void', () => processor.adapter.void(release));
  } catch (lost) {
    return unknown(app, refused.booking, voiding, token, lost, Date.now());
  }
  now = Date.now();
  const released = move(refused.booking, 'payment_voided', { payments: withPayment(refused.booking, { state: 'voided' }) }, { now, requestId, reason: 'voided' });
  await app.store.commit((work) => {
    updateBooking(work, released.booking, refused.booking.version);
    addHistory(work, released.booking, released.history);
    voiding.finish(work, now, 'succeeded', payment.processor_reference, 'voided');
    completeJob(work, booking.id, token);
  });
  throw new Problem('supplier_rejected', { booking_status: 'FAILED', supplier: booking.supplier });
}

/** Records that a call may have taken effect. It is never sent again. Stopover's workers look it up; there are none here. */
async function unknown(app, booking, recorded, token, error, now) {
  await app.store.commit((work) => {
    recorded.finish(work, now, 'unknown', null, error.message);
    releaseJob(work, booking.id, token, now + FIRST_CHECK_MS);
  });
  throw new Problem('result_unknown', { booking_status: render.status(booking), supplier: booking.supplier });
}

// ---- Instruments ----

export async function addInstrument(app, caller, body) {
  const { owner } = caller;
  const processor = app.suppliers.get(app.processor);
  const found = await counted(app.recorder, caller, processor.id, 'payment_processor', 'describe-instrument', () => processor.adapter.describe(body.token));
  if (!found) throw new Problem('payment_instrument_invalid');
  const row = { id: newId('inst_'), card: found.card ? JSON.stringify(found.card) : null, created_at: Date.now() };
  const sealed = app.sealer.seal(INSTRUMENT, [owner.organization, owner.mode, owner.user, row.id], found.token);
  const stored = [owner.organization, owner.mode, row.id, owner.user, processor.id, sealed, row.card, row.created_at];
  await app.store.commit((work) => work.add('insertInstrument', stored, 'InstrumentExists'));
  return { row, supplier: processor.id };
}

async function openInstrument(app, owner, id) {
  const row = id ? await app.store.instrument(owner, id) : null;
  const token = row && app.sealer.open(INSTRUMENT, [owner.organization, owner.mode, owner.user, id], row.sealed_token);
  if (!token) throw new Problem('payment_instrument_invalid');
  return { id, processor: row.processor, token, card: row.card ? JSON.parse(row.card) : null };
}
