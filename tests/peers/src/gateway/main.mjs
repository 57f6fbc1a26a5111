// Starts the gateway: `node main.mjs CONFIG.json`. The configuration:
//
//   { database, connections, cipher, master_key (base64), grouped, pipelined, workers, log, limits: {per_second, burst},
//     offer_ttl_s, processor, suppliers: [{id, kind, adapter, modes, hosts, credentials, settings, component?}] }
//
// If `workers` is above 1, that many processes share one port. The database must have its tables already.
import cluster from 'node:cluster';
import { createHash } from 'node:crypto';
import { openSync, readFileSync } from 'node:fs';
import pino from 'pino';
import { build } from './app.mjs';
import { byteClientOf, clientOf } from './client.mjs';
import { Keys } from './keys.mjs';
import { Limiter } from './limit.mjs';
import { Recorder } from './recording/recorder.mjs';
import { Sealer } from './seal.mjs';
import { openStore } from './storage/open.mjs';
import { lodge } from './adapter/lodge.mjs';
import { nuitee } from './adapter/nuitee.mjs';
import { tillway } from './adapter/tillway.mjs';

const config = JSON.parse(readFileSync(process.argv[2], 'utf8'));

if (config.workers > 1 && cluster.isPrimary) {
  let ready = 0;
  const pids = [];
  for (let number = 0; number < config.workers; number += 1) {
    const worker = cluster.fork();
    pids.push(worker.process.pid);
    worker.on('message', ({ address }) => {
      ready += 1;
      if (ready === config.workers) process.stdout.write(`ready ${address} ${pids.join(',')}\n`);
    });
    worker.on('exit', (code) => process.exit(code ?? 1));
  }
  process.on('SIGTERM', () => {
    for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGTERM');
  });
} else {
  await serve();
}

async function serve() {
  const store = openStore(config.database, config);
  // Lines are gathered and written without waiting, as pino's documentation advises for speed.
  const lines = pino.destination({ fd: openSync(config.log, 'a'), sync: false, minLength: 4096 });
  const logger = pino({ base: undefined, timestamp: pino.stdTimeFunctions.isoTime }, lines);
  const recorder = new Recorder(store, logger);
  const app = {
    store,
    recorder,
    keys: new Keys(store),
    limiter: new Limiter(config.limits.per_second, config.limits.burst),
    sealer: new Sealer('k1', Buffer.from(config.master_key, 'base64'), config.cipher),
    offerTtlMs: config.offer_ttl_s * 1000,
    processor: config.processor,
    suppliers: new Map(),
  };
  for (const supplier of config.suppliers) app.suppliers.set(supplier.id, await load(supplier, logger, recorder));
  const server = build(app, logger);
  const address = await server.listen({ host: '127.0.0.1', port: config.port ?? 0 });
  if (cluster.isWorker) process.send({ address });
  else process.stdout.write(`ready ${address}\n`);
  process.on('SIGTERM', async () => {
    await server.close();
    await recorder.finish();
    await store.close();
    lines.flushSync();
    process.exit(0);
  });
}

async function load(supplier, logger, recorder) {
  const send = clientOf(supplier, recorder);
  const adapters = {
    nuitee: () => nuitee(supplier, send, logger),
    lodge: () => lodge(supplier, send),
    tillway: () => tillway(supplier, send),
    component: async () => {
      const { component } = await import('./adapter/component.mjs');
      return component(supplier, byteClientOf(supplier, recorder), logger);
    },
  };
  const digest = createHash('sha256').update(supplier.adapter).digest('hex');
  return { ...supplier, digest, adapter: await adapters[supplier.adapter]() };
}
