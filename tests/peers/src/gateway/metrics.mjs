// Counters and histograms for operators. Stopover has the same.
import prom from 'prom-client';
import { callScope } from './recording/recorder.mjs';

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10, 30];
const requests = new prom.Counter({ name: 'gateway_http_requests_total', help: 'Requests answered', labelNames: ['method', 'route', 'status'] });
const seconds = new prom.Histogram({ name: 'gateway_http_request_duration_seconds', help: 'Time to an answer', labelNames: ['route'], buckets });
const calls = new prom.Counter({ name: 'gateway_supplier_calls_total', help: 'Calls of adapters', labelNames: ['supplier', 'operation', 'outcome'] });
const callSeconds = new prom.Histogram({ name: 'gateway_supplier_call_duration_seconds', help: 'Time of a call of an adapter', labelNames: ['supplier', 'operation'], buckets });
const exchanges = new prom.Counter({ name: 'gateway_supplier_exchanges_total', help: 'HTTP exchanges of adapters', labelNames: ['supplier', 'outcome'] });

/** Outcomes of calls that an adapter already reported as a problem of the API. */
const OUTCOMES = {
  supplier_unavailable: 'unavailable', supplier_timeout: 'timed_out', supplier_error: 'invalid_response', supplier_rejected: 'refused',
  rate_limited: 'rate_limited',
};

export function answered(method, route, status, ms) {
  requests.inc({ method, route, status });
  seconds.observe({ route }, ms / 1000);
}

/**
 * Runs a call of an adapter, counts it and records it. The second argument has the request and its owner. An error has the
 * outcome of the call in `outcome`.
 */
export async function counted(recorder, { owner, requestId }, supplier, capability, name, call) {
  const scope = { owner, requestId, supplier, capability, name };
  const start = performance.now();
  const startedAt = Date.now();
  let outcome = 'done';
  let detail = null;
  try {
    return await callScope.run(scope, call);
  } catch (error) {
    outcome = error.outcome ?? OUTCOMES[error.code] ?? 'unknown';
    detail = error.detail ?? error.message;
    throw error;
  } finally {
    const ms = performance.now() - start;
    calls.inc({ supplier, operation: capability, outcome });
    callSeconds.observe({ supplier, operation: capability }, ms / 1000);
    recorder.call(scope, startedAt, ms, outcome, detail);
  }
}

export const exchanged = (supplier, outcome) => exchanges.inc({ supplier, outcome });
