// Opens the store of a configured database: `sqlite:PATH` or `postgres://…`.
import { PostgresStore } from './postgres.mjs';
import { SqliteStore } from './sqlite.mjs';

export function openStore(database, { grouped = false, pipelined = true, connections = 1 } = {}) {
  if (database.startsWith('sqlite:')) return new SqliteStore(database.slice('sqlite:'.length), { grouped });
  return new PostgresStore(database, { connections, pipelined });
}
