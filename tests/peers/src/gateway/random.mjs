// Identifiers and nonces. Random bytes are drawn in blocks.
import { randomFillSync } from 'node:crypto';

const pool = Buffer.allocUnsafeSlow(8192);
let used = pool.length;

/** Returns random bytes. They are valid until the next block is drawn, so use or copy them at once. */
export function randomBytes(count) {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = pool.subarray(used, used + count);
  used += count;
  return bytes;
}

/** Returns 128 bits as 32 hex digits. The first 48 bits are the time (UUID version 7). */
function bits(at = Date.now()) {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(at, 0, 6);
  bytes[6] = 0x70 | (bytes[6] & 0x0f);
  bytes[8] = 0x80 | (bytes[8] & 0x3f);
  return bytes.hexSlice(0, 16);
}

/** Returns an id such as `bkg_…`. */
export const newId = (prefix) => prefix + bits();

/** Returns an id that begins with the given time. */
export const newIdAt = (prefix, at) => prefix + bits(at);

/** Returns `req_` and a UUID. */
export function newRequestId() {
  const hex = bits();
  return `req_${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
