// API keys: their form and their owners. Only digests are stored. A key is cached for three seconds, so that a revoked key
// stops working within that time.
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Problem } from './problem.mjs';

const KNOWN_MS = 3000;
const KNOWN_MAX = 10_000;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FORM = /^sk_(?:test|live)_[A-Za-z0-9]{38}$/;
const CHECKSUM_CHARS = 6;

function checksum(text) {
  let rest = crc32(text);
  let characters = '';
  for (let place = 0; place < CHECKSUM_CHARS; place += 1) {
    characters = BASE62[rest % 62] + characters;
    rest = Math.floor(rest / 62);
  }
  return characters;
}

export function isWellFormed(key) {
  return FORM.test(key) && checksum(key.slice(0, -CHECKSUM_CHARS)) === key.slice(-CHECKSUM_CHARS);
}

export const digest = (key) => hash('sha256', key, 'buffer');

export class Keys {
  constructor(store) {
    this.store = store;
    this.known = new Map();
  }

  /** Returns the owner and the scopes of a key, or a promise of them if the key is not cached. */
  resolve(key, now) {
    if (!isWellFormed(key)) throw new Problem('invalid_api_key');
    const sha256 = hash('sha256', key);
    const found = this.known.get(sha256);
    return found && found.until > now ? this.#checked(found, key, now) : this.#lookUp(sha256, key, now);
  }

  #checked(found, key, now) {
    const { row } = found;
    const good = row.revoked_at === null && (row.expires_at === null || now < row.expires_at) && key.startsWith(`sk_${row.mode}_`);
    if (!good) throw new Problem('invalid_api_key');
    return found;
  }

  async #lookUp(sha256, key, now) {
    const row = await this.store.apiKey(Buffer.from(sha256, 'hex'));
    if (!row) throw new Problem('invalid_api_key');
    if (row.revoked_at === null) this.store.touchApiKey(row, now);
    const found = { row, scopes: new Set(JSON.parse(row.scopes)), until: now + KNOWN_MS };
    if (this.known.size >= KNOWN_MAX) this.known.clear();
    this.known.set(sha256, found);
    return this.#checked(found, key, now);
  }
}
