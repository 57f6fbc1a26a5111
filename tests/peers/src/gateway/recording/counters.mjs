// Counters of calls by minute and by hour, booked amounts, and the slowest and failed calls of each minute.
import { CLASS_COLUMNS } from '../storage/statements.mjs';

const BOUNDS_US = [
  1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000,
];
const RESOLUTIONS = { minute: 60_000, hour: 3_600_000 };
const REMARKABLE_MAX = 3;
/** The organization of the rows with the sums of all organizations. */
const ALL = '*';

const floor = (at, ms) => at - (at % ms);

class CallStatistics {
  count = 0;
  client_errors = 0;
  server_errors = 0;
  duration_us_sum = 0;
  duration_us_max = 0;
  classes = new Array(CLASS_COLUMNS.length).fill(0);

  addCall(us, result) {
    this.count += 1;
    if (result === 'client_error') this.client_errors += 1;
    else if (result === 'server_error') this.server_errors += 1;
    this.duration_us_sum += us;
    if (us > this.duration_us_max) this.duration_us_max = us;
    let place = 0;
    while (place < BOUNDS_US.length && BOUNDS_US[place] < us) place += 1;
    this.classes[place] += 1;
  }

  add(other) {
    this.count += other.count;
    this.client_errors += other.client_errors;
    this.server_errors += other.server_errors;
    this.duration_us_sum += other.duration_us_sum;
    this.duration_us_max = Math.max(this.duration_us_max, other.duration_us_max);
    other.classes.forEach((count, place) => {
      this.classes[place] += count;
    });
  }

  columns() {
    const { classes, ...numbers } = this;
    CLASS_COLUMNS.forEach((column, place) => {
      numbers[column] = classes[place];
    });
    return numbers;
  }
}

/** Returns the value of a key. Creates it on first use. */
function entryOf(map, key, make) {
  let found = map.get(key);
  if (found === undefined) {
    found = make();
    map.set(key, found);
  }
  return found;
}

const keyOf = (...parts) => parts.join('\0');

/** Sorts rows by their keys, so that two gateway processes lock them in the same order. */
const inOrder = (map) => [...map].sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)).map(([, row]) => row);

export class Counters {
  /** Counters by minute, organization, mode, subject, name and operation. */
  calls = new Map();
  amounts = new Map();
  remarkable = new Map();

  countRequest({ organization, mode }, at, method, route, us, result) {
    this.#count(at, organization, mode, 'route', `${method} ${route}`, '', us, result);
  }

  /** Counts a call of an adapter, and keeps it if it is one of the slowest of its minute or one of the first that failed. */
  countCall({ organization, mode }, call) {
    const { supplier, operation, at, us, result, outcome, requestId } = call;
    this.#count(at, organization, mode, 'supplier', supplier, operation, us, result);
    const minute = floor(at, RESOLUTIONS.minute);
    const kept = entryOf(this.remarkable, keyOf(organization, mode, minute, supplier, operation), () => ({ minute, slow: [], failed: [] }));
    const row = (reason) => ({
      organization, mode, at: minute, supplier, operation, reason, request_id: requestId, duration_us: us, outcome,
    });
    if (result === 'server_error' && kept.failed.length < REMARKABLE_MAX) kept.failed.push(row('failed'));
    let faster = 0;
    while (faster < kept.slow.length && kept.slow[faster].duration_us >= us) faster += 1;
    if (faster < REMARKABLE_MAX) {
      kept.slow.splice(faster, 0, row('slow'));
      kept.slow.length = Math.min(kept.slow.length, REMARKABLE_MAX);
    }
  }

  countBooking({ organization, mode }, at, { minor, currency }) {
    const hour = floor(at, RESOLUTIONS.hour);
    for (const scope of [ALL, organization]) {
      const row = entryOf(this.amounts, keyOf(scope, mode, hour, currency), () => ({
        organization: scope, mode, at: hour, currency, bookings: 0, amount_minor: 0,
      }));
      row.bookings += 1;
      row.amount_minor += minor;
    }
  }

  #count(at, organization, mode, subject, name, operation, us, result) {
    const minute = floor(at, RESOLUTIONS.minute);
    const found = entryOf(this.calls, keyOf(minute, organization, mode, subject, name, operation), () => ({
      minute, organization, mode, subject, name, operation, statistics: new CallStatistics(),
    }));
    found.statistics.addCall(us, result);
  }

  /** Takes all counters, and the remarkable calls of the minutes before `now`; with `now` null, all of them. */
  take(now, host) {
    const { calls, amounts } = this;
    this.calls = new Map();
    this.amounts = new Map();
    const current = now === null ? Infinity : floor(now, RESOLUTIONS.minute);
    const ended = [...this.remarkable].filter(([, { minute }]) => minute < current);
    for (const [key] of ended) this.remarkable.delete(key);
    return {
      statistics: inOrder(sums(calls, host)),
      amounts: inOrder(amounts),
      remarkable: ended.flatMap(([, { slow, failed }]) => [...slow, ...failed]),
    };
  }
}

/** Adds counters up to rows by minute and by hour, for each organization and for all together, of each subject and of all calls. */
function sums(calls, host) {
  const rows = new Map();
  for (const { minute, organization, mode, subject, name, operation, statistics } of calls.values()) {
    const subjects = subject === 'route' ? [[subject, name, operation], ['total', '', '']] : [[subject, name, operation]];
    for (const scope of organization === '' ? [ALL] : [organization, ALL]) {
      for (const [resolution, ms] of Object.entries(RESOLUTIONS)) {
        for (const [about, own, how] of subjects) {
          const at = floor(minute, ms);
          const row = entryOf(rows, keyOf(scope, mode, resolution, about, at, own, how), () => ({
            organization: scope, mode, resolution, subject: about, at, name: own, operation: how, host, sum: new CallStatistics(),
          }));
          row.sum.add(statistics);
        }
      }
    }
  }
  for (const [key, { sum, ...columns }] of rows) rows.set(key, { ...columns, ...sum.columns() });
  return rows;
}
