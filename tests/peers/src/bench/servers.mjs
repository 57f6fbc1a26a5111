// The processes: both gateways, their upstream and the sandbox. Each is stopped by its id.
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { newId } from '../gateway/random.mjs';
import { openStore } from '../gateway/storage/open.mjs';
import { createDatabase } from './databases.mjs';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const running = new Set();

/** Maximum number of connections to PostgreSQL of each side, which is Stopover's default. */
const CONNECTIONS = 10;

/** The paths and values that all parts of a run share. */
export const scene = {
  binary: process.env.BIN,
  plugins: process.env.PLUGINS,
  masterKey: randomBytes(32).toString('base64'),
};

const LODGE = { 'x-lodge-key': 'lodge-sandbox-hotels' };
const TILLWAY = { 'tillway-key': 'tillway-sandbox-payments' };

/** Starts a process and waits for the line that says that it is ready. */
async function start(name, folder, command, args, { env = {}, ready = /^ready\b/m } = {}) {
  mkdirSync(folder, { recursive: true });
  const log = openSync(path.join(folder, 'stderr.log'), 'a');
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', log], env: { ...process.env, ...env } });
  running.add(child);
  let said = '';
  child.once('exit', () => running.delete(child));
  await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${name} was not ready in 3 minutes; see its log in ${folder}`)), 180_000);
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}; see its log in ${folder}\n${said}`)));
    child.once('error', reject);
    child.stdout.on('data', (chunk) => {
      said += chunk;
      if (ready.test(said)) {
        clearTimeout(late);
        resolve();
      }
    });
  });
  child.removeAllListeners('exit');
  child.once('exit', () => running.delete(child));
  return { name, child, said: () => said, pids: [child.pid], folder };
}

export async function stop(server) {
  const { child } = server;
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const dead = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await once(child, 'exit');
  clearTimeout(dead);
}

export const stopAll = () => Promise.all([...running].map((child) => stop({ child })));

export async function startUpstream() {
  const server = await start('upstream', path.join(scene.work, 'upstream'), process.execPath, [here('../mock/upstream.mjs')]);
  const [, url, bytes] = /^ready (\S+) (\d+)/m.exec(server.said());
  return { ...server, url, bytes: Number(bytes) };
}

export async function startSandbox() {
  const folder = path.join(scene.work, 'sandbox');
  const server = await start('sandbox', folder, scene.binary, ['sandbox', '--data-dir', folder, '--listen', '127.0.0.1:0'], { ready: /^sandbox +http/m });
  return { ...server, url: /^sandbox +(\S+)/m.exec(server.said())[1] };
}

/** Starts Stopover with the same suppliers as the other side, and no others. `kind` is that of the database. */
export async function startStopover(kind) {
  const { upstream, sandbox } = scene;
  const folder = path.join(scene.work, kind, 'stopover');
  mkdirSync(folder, { recursive: true });
  const list = (entries) => entries.map((entry) => `[[suppliers]]\nmodes = ["test"]\n${entry}\n`).join('\n');
  const nuitee = (id, delay) => `id = "${id}"
kind = "hotel"
component = "nuitee-hotels.wasm"
settings = { data_url = "${upstream.url}/${delay}", book_url = "${upstream.url}/${delay}" }
hosts = ["${upstream.url}"]`;
  const ofSandbox = (id, kind, component, [header, value]) => `id = "${id}"
kind = "${kind}"
component = "${component}"
settings = { base_url = "${sandbox.url}" }
hosts = [{ host = "${sandbox.url}", private = true }]
credentials = [{ host = "${sandbox.url.slice(7)}", header = "${header}", value = "${value}" }]`;
  const file = path.join(folder, 'bench.toml');
  const database = await createDatabase(kind, folder, 'stopover.sqlite3');
  writeFileSync(file, `master_key = "${scene.masterKey}"
database = "${database}"

[limits]
requests_per_s = 1000000
burst = 1000000

${list([
    nuitee('NUITEE', 0),
    nuitee('NUITEE_20MS', 20),
    ofSandbox('SANDBOX_HOTELS', 'hotel', 'fake-hotels.wasm', Object.entries(LODGE)[0]),
    ofSandbox('SANDBOX_PAYMENTS', 'payment', 'fake-payments.wasm', Object.entries(TILLWAY)[0]),
  ])}`);
  const args = ['serve', '--data-dir', folder, '--config', file, '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0',
    '--dashboard-listen', '127.0.0.1:0', '--plugins-dir', scene.plugins];
  // The first start compiles the plugins. The measured process starts with compiled code, as in production.
  const launch = () => start('stopover', folder, scene.binary, args, { env: { RUST_BACKTRACE: '0' } });
  await stop(await launch());
  const server = await launch();
  const made = spawnSync(scene.binary, ['keys', 'create', '--organization', 'demo', '--mode', 'test', '--data-dir', folder, '--config', file], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`no key: ${made.stderr}`);
  scene.key = made.stdout.trim();
  return { ...server, url: /^api +(\S+)/m.exec(server.said())[1], database };
}

/** Starts a Node gateway. Its database has the API key that Stopover created. */
export async function startNode(kind, name, { workers = 1, grouped = true, pipelined = true, nuitee = 'nuitee' } = {}) {
  const { upstream, sandbox } = scene;
  const folder = path.join(scene.work, kind, name);
  mkdirSync(folder, { recursive: true });
  const database = await createDatabase(kind, folder, 'node.sqlite3');
  const supplier = (id, adapter, host, credentials, settings) => ({ id, adapter, modes: ['test'], hosts: [host], credentials, settings, transpiled: scene.transpiled });
  const ofUpstream = (id, delay) => supplier(id, nuitee, upstream.url, {}, { data_url: `${upstream.url}/${delay}`, book_url: `${upstream.url}/${delay}` });
  const config = {
    database,
    connections: Math.ceil(CONNECTIONS / workers),
    log: path.join(folder, 'log'),
    cipher: scene.cipher,
    master_key: scene.masterKey,
    grouped,
    pipelined,
    workers,
    limits: { per_second: 1_000_000, burst: 1_000_000 },
    offer_ttl_s: 1800,
    processor: 'SANDBOX_PAYMENTS',
    suppliers: [
      ofUpstream('NUITEE', 0),
      ofUpstream('NUITEE_20MS', 20),
      supplier('SANDBOX_HOTELS', 'lodge', sandbox.url, LODGE, { base_url: sandbox.url }),
      supplier('SANDBOX_PAYMENTS', 'tillway', sandbox.url, TILLWAY, { base_url: sandbox.url }),
    ],
  };
  const file = path.join(folder, 'config.json');
  writeFileSync(file, JSON.stringify(config, null, 2));
  const store = openStore(database);
  await store.migrate();
  const sha256 = createHash('sha256').update(scene.key).digest();
  const maskedKey = `${scene.key.slice(0, 8)}…${scene.key.slice(-4)}`;
  await store.commit((work) => work.add('insertApiKey', ['demo', 'test', newId('key_'), '', '["read","book","webhooks"]', maskedKey, sha256, Date.now()]));
  await store.close();
  const flags = (process.env.NODE_FLAGS ?? '').split(' ').filter(Boolean);
  const server = await start(name, folder, process.execPath, [...flags, here('../gateway/main.mjs'), file], { env: { NODE_ENV: 'production' } });
  const [, url, workerPids] = /^ready (\S+)(?: (\S+))?/m.exec(server.said());
  const pids = [...server.pids, ...(workerPids ? workerPids.split(',').map(Number) : [])];
  return { ...server, url, pids, database };
}

// ---- Numbers of the kernel ----

const TICK_MS = 10;

/** Returns the processor time so far of all processes of a server, in milliseconds. */
export function cpuMs(server) {
  let ticks = 0;
  for (const pid of server.pids) {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * TICK_MS;
}

/** Resets the peak of memory. Where that is not allowed, the peak is that of the whole life of the process. */
export function forgetPeak(server) {
  for (const pid of server.pids) {
    try {
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
    } catch {
      // The peak stays.
    }
  }
}

/** Returns the peak of resident memory of all processes of a server, in MB. */
export function peakMb(server) {
  let kib = 0;
  for (const pid of server.pids) kib += Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
  return (kib * 1024) / 1e6;
}
