// Outbound HTTP of adapters: only to hosts that they were granted, with credentials that they never see. Every
// exchange is counted and recorded.
import { Agent, errors, request } from 'undici';
import { exchanged } from './metrics.mjs';

const agent = new Agent({ connections: 256, pipelining: 1, keepAliveTimeout: 60_000, connect: { noDelay: true } });
const ANSWER_BYTES_MAX = 16 << 20;

/** Nothing reached the supplier. */
export class NotSent extends Error {}
/** The request was sent, or may have been, and no whole answer came. */
export class Lost extends Error {}

const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_INVALID_ARG']);
const TIMED_OUT = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** What an adapter of a configured supplier sends with: `send(method, url, {body, headers, timeoutMs})`. */
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

/** For adapters that exchange JSON; an answer has its `text`. */
export const clientOf = (supplier, recorder) => sender(
  supplier, recorder, (body) => (body === undefined ? JSON_HEADERS : JSON_BODY_HEADERS),
  async (body) => {
    const bytes = Buffer.from(await body.arrayBuffer());
    return { text: bytes.toString('utf8'), length: bytes.length };
  },
);

/** For adapters that read bytes themselves; an answer has its `bytes`. */
export const byteClientOf = (supplier, recorder) => sender(supplier, recorder, () => undefined, async (body) => {
  const bytes = new Uint8Array(await body.arrayBuffer());
  return { bytes, length: bytes.length };
});
