// The unit of work and the reads that both databases share.
import { readFileSync, readdirSync } from 'node:fs';
import { STATEMENTS } from './statements.mjs';

/** An error for a statement that changed other rows than expected. */
export class Conflict extends Error {}

/** Statements that are committed together, in order. */
export class Work {
  steps = [];
  /** Whether other gateway processes must look for due deliveries. */
  wakes = false;

  /** Adds a statement. With `conflict`, it must change exactly one row, or the whole work fails with that name. */
  add(name, args, conflict = null) {
    this.steps.push({ statement: STATEMENTS[name], args, conflict, second: false });
    return this;
  }

  /** Adds two statements of which exactly one changes exactly one row. */
  addPair(first, second, args, conflict) {
    this.steps.push({ statement: STATEMENTS[first], args, conflict: null, second: false });
    this.steps.push({ statement: STATEMENTS[second], args, conflict, second: true });
    return this;
  }
}

/** Throws if a statement changed other rows than expected. `before` is the number of rows that the previous statement changed. */
export function expect(step, changes, before) {
  if (step.conflict !== null && (step.second ? before : 0) + changes !== 1) throw new Conflict(step.conflict);
}

/** Returns Stopover's migrations for a database, in order. Both gateways have the same tables and indexes. */
export function migrations(dialect) {
  const folder = new URL(`../../../../../host/storage/migrations/${dialect}/`, import.meta.url);
  return readdirSync(folder).filter((name) => name.endsWith('.sql')).sort().map((name) => readFileSync(new URL(name, folder), 'utf8'));
}

const documentOf = (row) => (row ? JSON.parse(row.document) : null);

const LAST_USED_RESOLUTION_MS = 60_000;

/** Reads and writes that both databases have. Subclasses have `first`, `all`, `commit` and `close`. */
export class Store {
  apiKey(sha256) {
    return this.first('apiKey', [sha256]);
  }

  /** Records that a key is in use, at most once a minute. It is not awaited, because a missing record does no harm. */
  touchApiKey(key, now) {
    if (key.last_used_at !== null && now - key.last_used_at < LAST_USED_RESOLUTION_MS) return;
    const args = [key.organization, key.mode, key.id, now, now - LAST_USED_RESOLUTION_MS];
    this.commit((work) => work.add('touchApiKey', args)).catch(() => {});
  }

  /** Returns the stored hotels of a supplier by the supplier's ids. */
  async supplierHotels(mode, supplier, ids) {
    const rows = await this.all('hotels', [mode, supplier, JSON.stringify(ids)]);
    return new Map(rows.map((row) => [row.supplier_hotel_id, row]));
  }

  /** Returns a booking or null, or a promise of it if the database is not read at once. */
  booking(owner, id) {
    const row = this.first('booking', [owner.organization, owner.mode, id, owner.user]);
    return row instanceof Promise ? row.then(documentOf) : documentOf(row);
  }

  instrument(owner, id) {
    return this.first('instrument', [owner.organization, owner.mode, id, owner.user]);
  }

  idempotencyRecord(owner, operation, key) {
    return this.first('idempotencyRecord', [owner.organization, owner.mode, owner.user, operation, key]);
  }
}
