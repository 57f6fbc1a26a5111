// PostgreSQL through pg, with a pool of connections in pipeline mode: the statements of a unit of work travel
// together, and after their results the commit, so that a commit takes two round trips. A unit of one statement
// needs no transaction and takes one.
import pg from 'pg';
import { STATEMENTS, render } from './statements.mjs';
import { Store, Work, expect, migrations } from './work.mjs';

const WAKEUP_CHANNEL = 'stopover_wakeup';
const WAKEUP_PAYLOAD = '2';
/** Minimum time between two notifications to other gateway processes, because each is a commit on the server. */
const WAKEUP_INTERVAL_MS = 50;
const INT8 = 20;

// All numbers of the tables fit into JavaScript's.
pg.types.setTypeParser(INT8, Number);

export class PostgresStore extends Store {
  constructor(url, { connections, pipelined = true }) {
    super();
    this.pool = new pg.Pool({ connectionString: url, max: connections, min: 0, idleTimeoutMillis: 0, pipeline: pipelined });
    // A connection that breaks while it is idle is replaced on its next use.
    this.pool.on('error', () => {});
    this.pipelined = pipelined;
    this.texts = new Map();
    this.wakeTimer = null;
  }

  async migrate() {
    const client = await this.pool.connect();
    try {
      for (const text of migrations('postgres')) await client.query(text);
    } finally {
      client.release();
    }
  }

  /** A named statement is prepared once on each connection. */
  #query(statement, values) {
    let text = this.texts.get(statement);
    if (!text) {
      text = render(statement.text, 'postgres');
      this.texts.set(statement, text);
    }
    return { name: statement.name, text, values };
  }

  async first(name, args) {
    return (await this.all(name, args))[0];
  }

  async all(name, args) {
    return (await this.pool.query(this.#query(STATEMENTS[name], args))).rows;
  }

  /** Commits the statements that `fill` adds. Resolves when they are committed, with the rows of a statement that returns some. */
  async commit(fill) {
    const work = new Work();
    fill(work);
    const rows = work.steps.length === 1 ? await this.#single(work.steps[0]) : await this.#transaction(work.steps);
    if (work.wakes) this.#wake();
    return rows;
  }

  async #single(step) {
    const { rowCount, rows } = await this.pool.query(this.#query(step.statement, step.args));
    expect(step, rowCount, 0);
    return rows;
  }

  async #transaction(steps) {
    const client = await this.pool.connect();
    try {
      const results = this.pipelined ? await this.#together(client, steps) : await this.#oneByOne(client, steps);
      let before = 0;
      let found;
      steps.forEach((step, place) => {
        const { rowCount, rows } = results[place];
        expect(step, rowCount, before);
        before = rowCount;
        if (rows.length > 0) found = rows;
      });
      await client.query('COMMIT');
      client.release();
      return found;
    } catch (error) {
      await client.query('ROLLBACK').then(() => client.release(), (lost) => client.release(lost));
      throw error;
    }
  }

  /** Sends all statements at once. After one that fails, the server refuses the rest. */
  async #together(client, steps) {
    const sent = [client.query('BEGIN'), ...steps.map((step) => client.query(this.#query(step.statement, step.args)))];
    const results = await Promise.allSettled(sent);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    return results.slice(1).map((result) => result.value);
  }

  async #oneByOne(client, steps) {
    await client.query('BEGIN');
    const results = [];
    for (const step of steps) results.push(await client.query(this.#query(step.statement, step.args)));
    return results;
  }

  /** Tells other gateway processes that deliveries may be due, as Stopover does. There is no other process here. */
  #wake() {
    if (this.wakeTimer) return;
    this.wakeTimer = setTimeout(() => {
      this.wakeTimer = null;
      this.pool.query('SELECT pg_notify($1, $2)', [WAKEUP_CHANNEL, WAKEUP_PAYLOAD]).catch(() => {});
    }, WAKEUP_INTERVAL_MS);
    this.wakeTimer.unref();
  }

  async close() {
    clearTimeout(this.wakeTimer);
    await this.pool.end();
  }
}
