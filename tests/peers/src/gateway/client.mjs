// The HTTP client of adapters. It reaches only granted hosts, and adds credentials that adapters do not see. It counts and
// records every exchange.
import { Agent, errors, request } from 'undici';
import { exchanged } from './metrics.mjs';

const agent = new Agent({ connections: 256, pipelining: 1, keepAliveTimeout: 60_000, connect: { noDelay: true } });
const ANSWER_BYTES_MAX = 16 << 20;

/** An error for a request that did not reach the supplier. */
export class NotSent extends Error {
  outcome = 'not_sent';
}

/** An error for a request that was sent, or may have been sent, and has no complete answer. */
export class Lost extends Error {
  outcome = 'unknown';
}

const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_INVALID_ARG']);
const TIMED_OUT = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** Returns the function with which an adapter sends: `send(method, url, {body, headers, timeoutMs})`. */
function sender(supplier, recorder, ownHeaders, readBody) {
  const granted = new Set(supplier.hosts);
  return async function send(method, address, { body, headers, timeoutMs = 30_000 } = {}) {
    const url = new URL(address);
    const exchange = { method, url, startedAt: Date.now(), requestBytes: body === undefined ? 0 : Buffer.byteLength(body) };
    const start = performance.now();
    const end = (outcome, more) => {
      exchanged(supplier.id, outcome);
      recorder.exchange({ ...exchange, ...more, ms: performance.now() - start, outcome });
    };
    if (!granted.has(url.origin)) {
      end('denied');
      throw new NotSent(`${url.origin} is not granted`);
    }
    try {
      const answer = await request(url, {
        method, headers: { ...ownHeaders(body), ...headers, ...supplier.credentials }, body, dispatcher: agent, headersTimeout: timeoutMs, bodyTimeout: timeoutMs,
      });
      if (Number(answer.headers['content-length'] ?? 0) > ANSWER_BYTES_MAX) {
        answer.body.destroy();
        end('too_large', { status: answer.statusCode });
        throw new Lost('the answer is too large');
      }
      const { length, ...read } = await readBody(answer.body);
      end('completed', { status: answer.statusCode, responseBytes: length });
      return { status: answer.statusCode, headers: answer.headers, ...read };
    } catch (error) {
      if (error instanceof Lost) throw error;
      const code = error.code ?? error.cause?.code;
      const isNotSent = NOT_SENT.has(code) || error instanceof errors.ConnectTimeoutError;
      end(isNotSent ? 'not_sent' : TIMED_OUT.has(code) ? 'timed_out' : 'connection_lost', { detail: error.message });
      throw isNotSent ? new NotSent(error.message) : new Lost(error.message);
    }
  };
}

const JSON_HEADERS = { accept: 'application/json' };
const JSON_BODY_HEADERS = { ...JSON_HEADERS, 'content-type': 'application/json' };

/** Returns the client of an adapter that exchanges JSON. An answer has its `text`. */
export const clientOf = (supplier, recorder) => sender(
  supplier, recorder, (body) => (body === undefined ? JSON_HEADERS : JSON_BODY_HEADERS),
  async (body) => {
    const bytes = Buffer.from(await body.arrayBuffer());
    return { text: bytes.toString('utf8'), length: bytes.length };
  },
);

/** Returns the client of an adapter that reads bytes. An answer has its `bytes`. */
export const byteClientOf = (supplier, recorder) => sender(supplier, recorder, () => undefined, async (body) => {
  const bytes = new Uint8Array(await body.arrayBuffer());
  return { bytes, length: bytes.length };
});
