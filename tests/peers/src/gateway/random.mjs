// Identifiers and nonces, out of random bytes that are drawn many at once.
import { randomFillSync } from 'node:crypto';

const pool = Buffer.allocUnsafeSlow(8192);
let used = pool.length;

/** So many random bytes; valid until the next few thousand are drawn, so use or copy them at once. */
export function randomBytes(count) {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = pool.subarray(used, used + count);
  used += count;
  return bytes;
}

/** 128 bits as 32 hex digits, the first 48 of them the time (UUID version 7). */
function bits(at = Date.now()) {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(at, 0, 6);
  bytes[6] = 0x70 | (bytes[6] & 0x0f);
  bytes[8] = 0x80 | (bytes[8] & 0x3f);
  return bytes.hexSlice(0, 16);
}

/** `bkg_…` */
export const newId = (prefix) => prefix + bits();

/** An id that begins with another time than now. */
export const newIdAt = (prefix, at) => prefix + bits(at);

/** `req_` and a UUID. */
export function newRequestId() {
  const hex = bits();
  return `req_${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
