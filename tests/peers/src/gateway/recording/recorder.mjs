// Recording of API calls, of adapters' calls and of statistics, beside the path of the calls: entries wait in memory
// and are written in batches. The limits and the rows are Stopover's (decision 0082).
import { AsyncLocalStorage } from 'node:async_hooks';
import os from 'node:os';
import { newIdAt } from '../random.mjs';
import { Counters } from './counters.mjs';
import { redactBodies, redactSentence, redactTarget, redactUri } from './redact.mjs';

const QUEUE_ENTRIES_MAX = 8192;
/** Number of waiting entries from which minor calls, as successful reads, are left out. */
const QUEUE_ENTRIES_FOR_MINOR = 2048;
const MINOR_PER_SECOND = 200;
const MINOR_BURST = 2048;
const ANONYMOUS_PER_SECOND = 1;
const ANONYMOUS_BURST = 200;
const READ_BODIES_PER_SECOND = 20;
const READ_BODIES_BURST = 100;
const QUEUE_BODY_BYTES_MAX = 32 << 20;
const BATCH_MAX = 128;
const BATCH_INTERVAL_MS = 200;
const STATISTICS_INTERVAL_MS = 10_000;
const STATISTICS_PART_ROWS_MAX = 200;
const URI_CHARS_MAX = 2048;
/** Bodies above this length are not kept. */
export const BODY_BYTES_MAX = 64 << 10;

const BOOKING_ID = /^bkg_[A-Za-z0-9-]{1,64}$/;
const CLIENT_ERRORS = new Set(['refused', 'declined', 'invalid_signature', 'unsupported', 'canceled']);

const micros = (ms) => Math.round(ms * 1000);

/** The call to which the exchanges of an adapter belong: request, owner, supplier and capability. */
export const callScope = new AsyncLocalStorage();

/** A limiter with a rate and a burst. */
class Rate {
  constructor(perSecond, burst) {
    this.perSecond = perSecond;
    this.burst = burst;
    this.left = burst;
    this.at = performance.now();
  }

  take() {
    const now = performance.now();
    this.left = Math.min(this.burst, this.left + ((now - this.at) / 1000) * this.perSecond);
    this.at = now;
    if (this.left < 1) return false;
    this.left -= 1;
    return true;
  }
}

export class Recorder {
  queue = [];
  bodyBytes = 0;
  counters = new Counters();
  minor = new Rate(MINOR_PER_SECOND, MINOR_BURST);
  anonymous = new Rate(ANONYMOUS_PER_SECOND, ANONYMOUS_BURST);
  /** The bodies of successful reads. */
  readBodies = new Rate(READ_BODIES_PER_SECOND, READ_BODIES_BURST);
  host = os.hostname().slice(0, 64);
  timer = null;

  constructor(store, logger) {
    this.store = store;
    this.logger = logger;
    this.ticks = setInterval(() => this.#writeStatistics(Date.now()), STATISTICS_INTERVAL_MS);
    this.ticks.unref();
  }

  /** Records an API call that has ended. `bodies` is null for most successful reads. */
  request(entry) {
    const { owner, mode, method, route, status, ms, bodies } = entry;
    const us = micros(ms);
    const result = status >= 500 ? 'server_error' : status >= 400 ? 'client_error' : 'succeeded';
    const tenant = owner ?? { organization: '', mode };
    this.counters.countRequest(tenant, entry.at, method, route ?? 'unknown', us, result);
    const isRead = method === 'GET' || method === 'HEAD';
    const isMinor = bodies === null || (isRead && status < 500) || status === 429;
    if (!owner && !this.anonymous.take()) return;
    if (owner && isMinor && (this.queue.length >= QUEUE_ENTRIES_FOR_MINOR || !this.minor.take())) return;
    const bytes = (bodies?.request.text?.length ?? 0) + (bodies?.response.text?.length ?? 0);
    this.#enqueue({ kind: 'request', ...entry, us, uri: entry.uri.length > URI_CHARS_MAX ? entry.uri.split('?')[0] : entry.uri, bytes });
  }

  /** Records a call of an adapter that has ended. */
  call({ owner, requestId, supplier, capability, name }, startedAt, ms, outcome, detail) {
    const at = startedAt + Math.floor(ms);
    const isDone = outcome === 'done' || outcome === 'not_found';
    const result = isDone ? 'succeeded' : CLIENT_ERRORS.has(outcome) ? 'client_error' : 'server_error';
    const us = micros(ms);
    this.counters.countCall(owner, { supplier, operation: `${capability}.${name}`, at, us, result, outcome, requestId });
    this.#enqueue({
      kind: 'call', bytes: 0, at, row: {
        organization: owner.organization, mode: owner.mode, request_id: requestId, kind: 'plugin', supplier, capability, function: name, target: '',
        started_at: startedAt, duration_us: us, outcome, is_failure: result === 'server_error' ? 1 : 0,
        detail: detail === null ? null : redactSentence(detail), status: null, request_bytes: 0, response_bytes: 0,
      },
    });
  }

  /** Records an exchange of an adapter with its supplier. */
  exchange({ method, url, startedAt, ms, outcome, detail = null, status = null, requestBytes, responseBytes = 0 }) {
    const scope = callScope.getStore();
    if (!scope) return;
    const { owner, requestId, supplier, capability } = scope;
    this.#enqueue({
      kind: 'call', bytes: 0, at: startedAt + Math.floor(ms), row: {
        organization: owner.organization, mode: owner.mode, request_id: requestId, kind: 'http', supplier, capability, function: '',
        target: redactTarget(method, url), started_at: startedAt, duration_us: micros(ms), outcome, is_failure: outcome === 'completed' ? 0 : 1,
        detail: detail === null ? null : redactSentence(detail), status, request_bytes: requestBytes, response_bytes: responseBytes,
      },
    });
  }

  booked(tenant, at, amount) {
    this.counters.countBooking(tenant, at, amount);
  }

  #enqueue(entry) {
    if (this.queue.length >= QUEUE_ENTRIES_MAX || this.bodyBytes + entry.bytes > QUEUE_BODY_BYTES_MAX) return;
    this.bodyBytes += entry.bytes;
    this.queue.push(entry);
    this.timer ??= setTimeout(() => this.#writeBatch(), BATCH_INTERVAL_MS);
  }

  async #writeBatch() {
    const batch = this.queue.splice(0, BATCH_MAX);
    for (const { bytes } of batch) this.bodyBytes -= bytes;
    const requests = [];
    const bodies = [];
    const calls = [];
    for (const entry of batch) {
      if (entry.kind === 'call') {
        calls.push({ ...entry.row, id: newIdAt('cll_', entry.at) });
        continue;
      }
      const { row, body } = requestRows(entry, this.host);
      requests.push(row);
      if (body) bodies.push(body);
    }
    try {
      await this.store.commit((work) => {
        if (requests.length > 0) work.add('insertRequests', [JSON.stringify(requests)]);
        if (bodies.length > 0) work.add('insertBodies', [JSON.stringify(bodies)]);
        if (calls.length > 0) work.add('insertCalls', [JSON.stringify(calls)]);
      });
    } catch (error) {
      this.logger.warn({ err: error }, 'a part of the request log could not be stored; it is lost');
    }
    this.timer = this.queue.length > 0 ? setTimeout(() => this.#writeBatch(), BATCH_INTERVAL_MS) : null;
  }

  async #writeStatistics(now) {
    const taken = this.counters.take(now, this.host);
    const all = Object.entries(taken).flatMap(([kind, rows]) => rows.map((row) => [kind, row]));
    for (let begin = 0; begin < all.length; begin += STATISTICS_PART_ROWS_MAX) {
      const part = all.slice(begin, begin + STATISTICS_PART_ROWS_MAX);
      const of = (kind) => part.filter(([other]) => other === kind).map(([, row]) => row);
      const names = { statistics: 'addStatistics', amounts: 'addAmounts', remarkable: 'insertRemarkable' };
      try {
        await this.store.commit((work) => {
          for (const [kind, name] of Object.entries(names)) {
            const rows = of(kind);
            if (rows.length > 0) work.add(name, [JSON.stringify(rows)]);
          }
        });
      } catch (error) {
        this.logger.warn({ err: error }, 'statistics could not be stored; they are lost');
      }
    }
  }

  /** Stores all waiting entries and counters. */
  async finish() {
    clearInterval(this.ticks);
    clearTimeout(this.timer);
    while (this.queue.length > 0) {
      await this.#writeBatch();
      clearTimeout(this.timer);
    }
    await this.#writeStatistics(null);
  }
}

/** Returns the rows of an API call. Bodies are redacted here, when the batch is written. */
function requestRows(entry, host) {
  const { at, route, uri, status, bodies, owner } = entry;
  const scope = owner && route !== null ? owner : { organization: '', mode: owner?.mode ?? entry.mode, user: '' };
  const id = newIdAt('rql_', at);
  const path = redactUri(route, uri);
  let body = null;
  if (bodies) {
    const [request, response] = redactBodies(bodies.request.text, bodies.response.text, status >= 400 ? 'problem' : 'written');
    body = {
      organization: scope.organization, mode: scope.mode, id,
      request_bytes: bodies.request.bytes, request_body: request, response_bytes: bodies.response.bytes, response_body: response,
    };
  }
  // A read does not touch a booking.
  const isRead = (entry.method === 'GET' || entry.method === 'HEAD') && status < 400;
  return {
    body,
    row: {
      organization: scope.organization, mode: scope.mode, id, request_id: entry.requestId, at, method: entry.method, route: route ?? 'unknown',
      path, status, failure: status >= 400 ? Math.floor(status / 100) : null, duration_us: entry.us, key: entry.keyId, user: scope.user,
      booking: body && !isRead ? bookingIn(path) ?? bookingInResponse(body.response_body) : null, code: entry.code, host,
    },
  };
}

const bookingIn = (path) => path.split('?')[0].split('/').find((segment) => BOOKING_ID.test(segment)) ?? null;

/** Returns the booking that a response is about: the one that it names, or itself. */
function bookingInResponse(text) {
  if (text === null) return null;
  const value = JSON.parse(text);
  const data = value.data ?? value;
  return [data.booking_id, data.id].find((id) => BOOKING_ID.test(id)) ?? null;
}
