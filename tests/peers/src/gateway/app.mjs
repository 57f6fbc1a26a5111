// The routes of the HTTP API, and what every call has in common.
import { readFileSync } from 'node:fs';
import Fastify, { LogController } from 'fastify';
import * as booking from './booking.mjs';
import * as metrics from './metrics.mjs';
import { BODY_BYTES_MAX } from './recording/recorder.mjs';
import * as render from './render.mjs';
import { newRequestId } from './random.mjs';
import { priceHotels } from './offers.mjs';
import { Problem, invalid } from './problem.mjs';

const schemas = JSON.parse(readFileSync(new URL('schemas.json', import.meta.url), 'utf8'));
const NAME = /^[A-Za-z0-9._-]{1,128}$/;
const USER = /^[A-Za-z0-9._:@-]{1,128}$/;
const JSON_TYPE = 'application/json';
const NO_QUERY = { type: 'object', additionalProperties: false, properties: {} };
const BOOKING_ID = {
  type: 'object', required: ['id'], properties: { id: { type: 'string', maxLength: 128, pattern: '^bkg_[a-zA-Z0-9-]+$' } },
};

export function build(app, logger) {
  const server = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: 1 << 20,
    requestIdHeader: false,
    genReqId: ({ headers }) => (NAME.test(headers['x-request-id'] ?? '') ? headers['x-request-id'] : newRequestId()),
    ajv: { customOptions: { allErrors: true, coerceTypes: false, removeAdditional: false, useDefaults: true } },
  });
  server.removeContentTypeParser(['text/plain', JSON_TYPE]);
  // The text of a body is kept for the log of calls.
  const parseJson = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser(JSON_TYPE, { parseAs: 'string' }, (request, body, done) => {
    request.text = body;
    parseJson(request, body, done);
  });
  server.addSchema(schemas.country);
  server.addSchema(schemas.currency);
  server.decorateRequest('caller', null);
  server.decorateRequest('text', '');
  server.decorateReply('problemCode', null);
  server.decorateReply('text', '');
  server.setErrorHandler(answerError);
  server.setNotFoundHandler(() => {
    throw new Problem('not_found');
  });
  server.addHook('onRequest', (request, reply, done) => {
    try {
      const waits = identify(app, request, reply);
      if (waits) waits.then(() => done(), done);
      else done();
    } catch (error) {
      done(error);
    }
  });
  server.addHook('onResponse', (request, reply, done) => {
    record(app, request, reply);
    done();
  });

  const route = (method, url, scope, schema, handler) => server.route({
    method, url, schema: { querystring: NO_QUERY, ...schema }, config: { scope }, handler,
  });
  route('POST', '/v1/hotel/offers', 'read', { body: schemas.OffersRequest }, async (request, reply) => {
    const { supplier, data } = await priceHotels(app, request.caller, request.body);
    return answer(reply, 200, { data, meta: { supplier } });
  });
  route('GET', '/v1/hotel/bookings/:id', 'read', { params: BOOKING_ID }, (request, reply) => {
    const found = app.store.booking(request.caller.owner, request.params.id);
    return found instanceof Promise ? found.then((row) => answerBooking(reply, row)) : answerBooking(reply, found);
  });
  route('POST', '/v1/hotel/prebook', 'book', { body: schemas.PrebookRequest }, async (request, reply) => {
    const { status, data, supplier } = await booking.prebook(app, request.caller, idempotencyKey(request, true), request.body, request.log);
    return answer(reply, status, { data, meta: { supplier } });
  });
  route('POST', '/v1/hotel/bookings/:id/book', 'book', { params: BOOKING_ID, body: schemas.BookRequest }, async (request, reply) => {
    const key = idempotencyKey(request, false);
    const { status, data, supplier } = await booking.book(app, request.caller, key, request.params.id, request.body, request.log);
    return answer(reply, status, { data, meta: { supplier } });
  });
  route('POST', '/v1/payment-instruments', 'book', { body: schemas.InstrumentRequest }, async (request, reply) => {
    const { row, supplier } = await booking.addInstrument(app, request.caller, request.body);
    return answer(reply, 201, { data: render.instrument(row), meta: { supplier } });
  });
  return server;
}

function answerBooking(reply, found) {
  if (!found) throw new Problem('booking_not_found');
  return answer(reply, 200, { data: render.booking(found, true) });
}

function answer(reply, status, body) {
  if (body.meta) reply.header('x-supplier', body.meta.supplier);
  reply.text = JSON.stringify(body);
  return reply.code(status).header('content-type', JSON_TYPE).send(reply.text);
}

/** Identifies the caller, and checks its rights and its rate. Returns a promise if the key has to be looked up. */
function identify(app, request, reply) {
  const { headers } = request;
  reply.header('content-security-policy', 'default-src \'none\'; frame-ancestors \'none\'');
  reply.header('x-content-type-options', 'nosniff');
  reply.header('referrer-policy', 'no-referrer');
  reply.header('cache-control', 'no-store');
  reply.header('x-request-id', request.id);
  const key = headers['x-api-key'];
  if (key === undefined) {
    limit(app, reply, request.ip);
    throw new Problem('missing_api_key');
  }
  const found = app.keys.resolve(key, Date.now());
  if (found instanceof Promise) return found.then((known) => admit(app, request, reply, known));
  return admit(app, request, reply, found);
}

function admit(app, request, reply, { row, scopes }) {
  const { headers } = request;
  limit(app, reply, row.id);
  const named = headers['x-organization-id'];
  if (named !== undefined && named !== row.organization) throw new Problem('organization_mismatch');
  const user = headers['x-user-id'] ?? 'org';
  if (!USER.test(user)) throw invalid([{ pointer: '/x-user-id', code: 'pattern', detail: 'must have 1 to 128 of [A-Za-z0-9._:@-]' }], 'header');
  request.caller = { requestId: request.id, keyId: row.id, owner: { organization: row.organization, mode: row.mode, user } };
  const { scope } = request.routeOptions.config;
  if (scope && !scopes.has(scope)) throw new Problem('insufficient_scope', { detail: `the key lacks the scope \`${scope}\`` });
  const { accept } = headers;
  if (accept !== undefined && accept !== JSON_TYPE && accept !== '*/*' && !/(application\/json|application\/\*|\*\/\*)(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accept)) {
    throw new Problem('not_acceptable');
  }
}

function limit(app, reply, bucket) {
  const verdict = app.limiter.check(bucket);
  reply.header('ratelimit-policy', app.limiter.policy);
  reply.header('ratelimit', `"default";r=${verdict.remaining};t=${verdict.fullIn}`);
  if (verdict.retryAfter > 0) {
    reply.header('retry-after', verdict.retryAfter);
    throw new Problem('rate_limited');
  }
}

function idempotencyKey(request, required) {
  const key = request.headers['x-idempotency-key'];
  if (key === undefined && !required) return null;
  if (typeof key !== 'string' || !/^[ -~]{1,200}$/.test(key)) {
    throw invalid([{ pointer: '/x-idempotency-key', code: key === undefined ? 'required' : 'pattern', detail: 'must have 1 to 200 printable ASCII characters' }], 'header');
  }
  return key;
}

/** Writes the log line of a call, counts it, and records it. */
function record(app, request, reply) {
  const ms = reply.elapsedTime;
  const route = request.routeOptions.url ?? 'unknown';
  const status = reply.statusCode;
  const line = {
    method: request.method, route, status, ms: Math.round(ms * 1000) / 1000,
    organization: request.caller?.owner.organization, key: request.caller?.keyId, code: reply.problemCode ?? undefined,
  };
  if (status >= 500) request.log.error(line, 'request');
  else request.log.info(line, 'request');
  metrics.answered(request.method, route, status, ms);
  const { headers, method } = request;
  const isRead = method === 'GET' || method === 'HEAD';
  const isKept = !isRead || status >= 400 || app.recorder.readBodies.take();
  app.recorder.request({
    owner: request.caller?.owner ?? null, mode: headers['x-api-key']?.startsWith('sk_live_') ? 'live' : 'test', keyId: request.caller?.keyId ?? null,
    requestId: request.id, at: Date.now(), method, route: routeName(request.routeOptions.url), uri: request.url, status, ms, code: reply.problemCode,
    bodies: isKept ? { request: captured(request.text), response: captured(reply.text) } : null,
  });
}

const ROUTES = new Map();

/** Converts `/v1/hotel/bookings/:id` to `/v1/hotel/bookings/{id}`. Returns null if there is no route. */
function routeName(url) {
  if (url === undefined) return null;
  let name = ROUTES.get(url);
  if (!name) {
    name = url.replace(/:(\w+)/g, '{$1}');
    ROUTES.set(url, name);
  }
  return name;
}

/** Returns the length of a body, and its text if it is short enough to be kept. */
function captured(text) {
  const bytes = Buffer.byteLength(text);
  return { bytes, text: bytes > 0 && bytes <= BODY_BYTES_MAX ? text : null };
}

const OF_FASTIFY = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type', FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'validation_failed', FST_ERR_CTP_INVALID_JSON_BODY: 'malformed_json',
};

function answerError(error, request, reply) {
  let problem = error;
  if (error.validation) {
    problem = invalid(error.validation.map((one) => ({
      pointer: one.instancePath + [one.params.missingProperty ?? one.params.additionalProperty].filter(Boolean).map((name) => `/${name}`).join(''),
      code: one.keyword === 'additionalProperties' ? 'unknown_field' : one.keyword, detail: one.message,
    })), { body: 'body', querystring: 'query', params: 'path' }[error.validationContext] ?? 'header');
  } else if (!(error instanceof Problem)) {
    const code = OF_FASTIFY[error.code] ?? (error instanceof SyntaxError ? 'malformed_json' : 'internal_error');
    if (code === 'internal_error') request.log.error({ err: error }, 'failed');
    problem = new Problem(code);
  }
  reply.problemCode = problem.code;
  reply.text = problem.body(request.id);
  reply.code(problem.status).header('content-type', 'application/problem+json').send(reply.text);
}
