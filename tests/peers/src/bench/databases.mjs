// The databases of both gateways: a file, or a database at the PostgreSQL server that STOPOVER_TEST_POSTGRES names. The
// checks read them by this file too.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import pg from 'pg';
// This import sets how 64-bit integers are read.
import '../gateway/storage/postgres.mjs';

const WAKEUP_CHANNEL = 'stopover_wakeup';
export const SERVER = process.env.STOPOVER_TEST_POSTGRES ?? '';

const created = [];

async function atServer(sql) {
  const client = new pg.Client({ connectionString: SERVER });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Creates an empty database. Returns its address as in the configuration of both gateways. */
export async function createDatabase(kind, folder, file) {
  if (kind === 'sqlite') return `sqlite:${path.join(folder, file)}`;
  const name = `peers_${randomBytes(6).toString('hex')}`;
  await atServer(`CREATE DATABASE ${name}`);
  created.push(name);
  const url = new URL(SERVER);
  url.pathname = `/${name}`;
  return url.href;
}

export async function dropDatabases() {
  for (const name of created.splice(0)) await atServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

/** Opens a server's database beside the server. Statements have `$1`, `$2` … */
export async function open(server) {
  const file = /^sqlite:(.*)$/.exec(server.database)?.[1];
  return file ? new SqliteTables(file) : PostgresTables.connect(server.database);
}

class SqliteTables {
  constructor(file) {
    this.file = file;
    this.db = new Database(file, { timeout: 10_000 });
  }

  async all(sql, args = []) {
    const order = [];
    const query = this.db.prepare(sql.replace(/\$(\d+)/g, (_, number) => {
      order.push(args[Number(number) - 1]);
      return '?';
    }));
    if (query.reader) return query.all(order);
    query.run(order);
    return [];
  }

  /** Counts the commits in the write-ahead log: frames of its current generation that end a transaction. */
  async commits() {
    const wal = readFileSync(`${this.file}-wal`);
    if (wal.length < 32) return { generation: '', count: 0 };
    const size = wal.readUInt32BE(8);
    const generation = wal.toString('hex', 16, 24);
    let count = 0;
    for (let at = 32; at + 24 + size <= wal.length && wal.toString('hex', at + 8, at + 16) === generation; at += 24 + size) {
      if (wal.readUInt32BE(at + 4) !== 0) count += 1;
    }
    return { generation, count };
  }

  async close() {
    this.db.close();
  }
}

class PostgresTables {
  static async connect(url) {
    const tables = new PostgresTables();
    tables.client = new pg.Client({ connectionString: url });
    tables.notified = 0;
    tables.client.on('notification', () => {
      tables.notified += 1;
    });
    await tables.client.connect();
    await tables.client.query(`LISTEN ${WAKEUP_CHANNEL}`);
    return tables;
  }

  async all(sql, args = []) {
    return (await this.client.query(sql, args)).rows;
  }

  /**
   * Counts the transactions of the whole server that wrote, by the next transaction id. A transaction gets its id with its
   * first write. Notifications to other gateway processes are transactions too, and are not counted.
   */
  async commits() {
    const [{ next }] = await this.all('SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS bigint) AS next');
    return { generation: '', count: next - this.notified };
  }

  async close() {
    await this.client.end();
  }
}
