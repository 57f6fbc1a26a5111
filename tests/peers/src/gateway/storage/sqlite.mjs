// SQLite through better-sqlite3: WAL, and every commit is on disk before it is reported.
//
// With `grouped`, all units of work that wait in a turn of the event loop share one transaction, with a savepoint
// each, and so one flush to disk, as in Stopover. Without it each has its own, as most programs would write it.
import Database from 'better-sqlite3';
import { STATEMENTS, render } from './statements.mjs';
import { Store, Work, expect, migrations } from './work.mjs';

const BATCH_MAX = 64;

export class SqliteStore extends Store {
  constructor(file, { grouped }) {
    super();
    const db = new Database(file, { timeout: 10_000 });
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    db.pragma('journal_size_limit = 67108864');
    this.db = db;
    this.grouped = grouped;
    this.queue = [];
    this.prepared = new Map();
    this.begin = db.prepare('BEGIN IMMEDIATE');
    this.end = db.prepare('COMMIT');
    this.undo = db.prepare('ROLLBACK');
    this.savepoint = db.prepare('SAVEPOINT work');
    this.release = db.prepare('RELEASE work');
    this.back = db.prepare('ROLLBACK TO work');
  }

  migrate() {
    for (const text of migrations('sqlite')) this.db.exec(text);
  }

  /** `$n` may occur several times and in any order; SQLite's driver binds by position. */
  #prepare(statement) {
    let found = this.prepared.get(statement);
    if (!found) {
      const order = [];
      const text = render(statement.text, 'sqlite').replace(/\$(\d+)/g, (_, number) => {
        order.push(Number(number) - 1);
        return '?';
      });
      const query = this.db.prepare(text);
      const isInOrder = order.every((number, place) => number === place);
      const ordered = isInOrder ? (args) => args : (args) => order.map((place) => args[place]);
      const run = query.reader ? (args) => ({ rows: query.all(ordered(args)) }) : (args) => query.run(ordered(args));
      found = { run, first: (args) => query.get(ordered(args)) };
      this.prepared.set(statement, found);
    }
    return found;
  }

  #execute(statement, args) {
    return this.#prepare(statement).run(args);
  }

  first(name, args) {
    return this.#prepare(STATEMENTS[name]).first(args);
  }

  all(name, args) {
    return this.#execute(STATEMENTS[name], args).rows;
  }

  /** Commits the statements that `fill` adds. Resolves when they are on disk, with the rows of a statement that returns some. */
  commit(fill) {
    const work = new Work();
    fill(work);
    return new Promise((resolve, reject) => {
      if (!this.grouped) {
        try {
          resolve(this.#alone(work));
        } catch (error) {
          reject(error);
        }
        return;
      }
      if (this.queue.push({ work, resolve, reject }) === 1) setImmediate(() => this.#flush());
    });
  }

  #run(work) {
    let before = 0;
    let rows;
    for (const step of work.steps) {
      const done = this.#execute(step.statement, step.args);
      if (done.rows) ({ rows } = done);
      expect(step, done.changes, before);
      before = done.changes;
    }
    return rows;
  }

  #alone(work) {
    this.begin.run();
    try {
      const rows = this.#run(work);
      this.end.run();
      return rows;
    } catch (error) {
      if (this.db.inTransaction) this.undo.run();
      throw error;
    }
  }

  #flush() {
    const batch = this.queue.splice(0, BATCH_MAX);
    if (this.queue.length > 0) setImmediate(() => this.#flush());
    const replies = [];
    try {
      this.begin.run();
      for (const { work, resolve, reject } of batch) {
        this.savepoint.run();
        try {
          const rows = this.#run(work);
          this.release.run();
          replies.push(() => resolve(rows));
        } catch (error) {
          this.back.run();
          this.release.run();
          replies.push(() => reject(error));
        }
      }
      this.end.run();
    } catch (error) {
      if (this.db.inTransaction) this.undo.run();
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const reply of replies) reply();
  }

  async close() {
    this.db.close();
  }
}
