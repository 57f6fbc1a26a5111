// Measures both gateways in turn, and prints one table and all numbers as JSON.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { check } from './check.mjs';
import { shareBooking } from './check-bookings.mjs';
import { SERVER, dropDatabases } from './databases.mjs';
import { bookable, call, fullPage, prebookBody, wire } from './requests.mjs';
import { cpuMs, forgetPeak, peakMb, scene, startNode, startSandbox, startStopover, startUpstream, stop, stopAll } from './servers.mjs';
import { transpile } from './transpile.mjs';

const run = promisify(execFile);
const number = (name, usual) => Number(process.env[name] ?? usual);
const words = (name, usual) => (process.env[name] ?? usual).split(',').map((word) => word.trim()).filter(Boolean);

const plan = {
  cases: words('CASES', '1,2,3'),
  databases: words('DATABASES', SERVER ? 'sqlite,postgres' : 'sqlite'),
  connections: words('CONNECTIONS', '1,8,64').map(Number),
  rounds: number('ROUNDS', 5),
  seconds: number('DURATION', 5),
  warmUp: number('WARMUP', 6),
  only: words('ONLY', ''),
  generator: process.env.LOAD ?? 'own',
};
const say = (text) => process.stderr.write(`${text}\n`);

// The sides, and the cases in which each takes part. `node` is one process, and the cluster has one for each core. Offers
// are measured with SQLite only, because such a request reads one row of each hotel and writes nothing.
const CORES = os.availableParallelism();
const CLUSTER = `node×${CORES}`;
const TITLES = { sqlite: 'SQLite', postgres: 'PostgreSQL' };
const SIDES = {
  sqlite: {
    stopover: { cases: ['1', '2', '3'] },
    node: { cases: ['1', '2', '3'] },
    [CLUSTER]: { cases: ['1', '2', '3'], workers: CORES },
    'node+component': { cases: ['1'], nuitee: 'component' },
    'node, a commit each': { cases: ['3'], grouped: false },
  },
  postgres: {
    stopover: { cases: ['2', '3'] },
    node: { cases: ['2', '3'] },
    [CLUSTER]: { cases: ['2', '3'], workers: CORES },
    'node, one by one': { cases: ['3'], pipelined: false },
  },
};
/** Returns the names of the sides that take part in a case. */
const sidesOf = (kind, which) => Object.entries(SIDES[kind])
  .filter(([side, { cases }]) => plan.cases.includes(which) && cases.includes(which) && (plan.only.length === 0 || plan.only.includes(side)))
  .map(([side]) => side);

async function main() {
  scene.loadAtStart = os.loadavg()[0];
  if (scene.loadAtStart > 0.5) say(`the machine is not quiet: its load average is ${scene.loadAtStart.toFixed(2)}`);
  for (const name of ['BIN', 'PLUGINS']) if (!process.env[name]) throw new Error(`${name} is not set: see README.md`);
  if (plan.databases.includes('postgres') && !SERVER) throw new Error('STOPOVER_TEST_POSTGRES does not name a PostgreSQL server: see README.md');
  scene.cipher = process.env.CIPHER ?? 'aes-256-gcm';
  scene.work = mkdtempSync(path.join(os.tmpdir(), 'peers-'));
  scene.load = path.join(scene.work, 'load');
  execFileSync('cc', ['-O2', '-o', scene.load, fileURLToPath(new URL('load.c', import.meta.url))]);
  scene.transpiled = path.join(scene.work, 'component');
  await transpile(path.join(scene.plugins, 'nuitee-hotels.wasm'), scene.transpiled);
  scene.upstream = await startUpstream();
  scene.sandbox = await startSandbox();
  const results = [];
  const checked = [];
  for (const kind of plan.databases) await compare(kind, results, checked);
  report(results, checked);
}

/** Starts both gateways on one kind of database, checks that they do the same, and measures them. */
async function compare(kind, results, checked) {
  const database = TITLES[kind];
  const servers = { stopover: await startStopover(kind) };
  const wanted = [...new Set(['1', '2', '3'].flatMap((which) => sidesOf(kind, which)))].filter((side) => side !== 'stopover');
  for (const side of wanted) servers[side] = await startNode(kind, side, SIDES[kind][side]);
  const nodes = wanted.map((side) => servers[side]);
  say(`checking that both sides do the same, on ${database}`);
  const found = await check(servers.stopover, nodes, { prices: sidesOf(kind, '1'), books: sidesOf(kind, '3') });
  const reading = nodes.filter((node) => sidesOf(kind, '2').includes(node.name));
  const shared = await shareBooking(servers.stopover, reading);
  if (reading.length > 0) found.push(`${reading.map((node) => node.name).join(', ')}: the same ${shared.bytes} bytes of the same booking`);
  for (const line of found) say(`  ${line}`);

  const sides = (which) => sidesOf(kind, which).map((side) => servers[side]);
  for (const [title, supplier] of [['1 offers, upstream at once', 'NUITEE'], ['1 offers, upstream after 20 ms', 'NUITEE_20MS']]) {
    const request = (server) => wire(server, 'POST', '/v1/hotel/offers', fullPage(supplier));
    results.push(...await measure(title, sides('1'), (server) => ['same', request(server)]));
  }
  results.push(...await measure(`2 GET booking, ${database}`, sides('2'), (server) => ['same', wire(server, 'GET', shared.path)]));
  found.push(...await measureBookings(`3 prebook + book, ${database}`, sides('3'), results));
  checked.push(...found.map((line) => `${database}: ${line}`));
  await Promise.all(Object.values(servers).map(stop));
}

/** Measures bookings, and checks that supplier and processor carried out each of them exactly once. */
async function measureBookings(title, servers, results) {
  if (servers.length === 0) return [];
  // The check left outcomes unknown on purpose. Stopover looks them up after 5 seconds, and captures.
  await new Promise((resolve) => setTimeout(resolve, 8000));
  const before = await effects();
  const measured = await measure(title, servers, async (server) => {
    const { reference, instrument } = await bookable(server);
    return ['book',
      wire(server, 'POST', '/v1/hotel/prebook', prebookBody(reference), { 'x-idempotency-key': 'pre-@KEY@' }),
      wire(server, 'POST', '/v1/hotel/bookings/@BOOKING@/book', { payment_instrument_id: instrument }, { 'x-idempotency-key': 'book-@KEY@' })];
  });
  results.push(...measured);
  const carriedOut = await effects();
  const booked = measured.reduce((sum, row) => sum + row.all, 0);
  for (const kind of ['booking', 'authorization', 'capture']) {
    const count = carriedOut[kind] - before[kind];
    if (count !== booked) throw new Error(`${booked} bookings were confirmed, and the sandbox carried out ${count} of kind ${kind}`);
  }
  return [`${booked} bookings were confirmed, and the sandbox carried out exactly as many bookings, authorizations and captures`];
}

/** Returns the median of sorted values. */
const middle = (sorted) => (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2;

/** Returns the number of effects that the sandbox carried out so far, by kind. */
async function effects() {
  const counts = {};
  for (const kind of ['booking', 'authorization', 'capture']) {
    counts[kind] = (await (await fetch(`${scene.sandbox.url}/control/ledger?kind=${kind}`)).json()).length;
  }
  return counts;
}

/** Measures every side at every number of connections, in turn. */
async function measure(title, servers, requestsOf) {
  const rows = [];
  const totals = new Map(servers.map((server) => [server.name, 0]));
  for (const server of servers) {
    say(`${title}: warming up ${server.name}`);
    const warm = await load(server, 8, plan.warmUp, await requestsOf(server));
    totals.set(server.name, warm.requests);
  }
  for (const connections of plan.connections) {
    const rounds = new Map(servers.map((server) => [server.name, []]));
    for (let round = 0; round < plan.rounds; round += 1) {
      // Another side begins in each round.
      const order = servers.map((_, place) => servers[(place + round) % servers.length]);
      for (const server of order) {
        const requests = await requestsOf(server);
        forgetPeak(server);
        const [before, othersBefore] = [cpuMs(server), [cpuMs(scene.upstream), cpuMs(scene.sandbox)]];
        const done = await load(server, connections, plan.seconds, requests);
        const used = cpuMs(server) - before;
        const [upstream, sandbox] = [scene.upstream, scene.sandbox].map((other, place) => (cpuMs(other) - othersBefore[place]) / done.requests);
        totals.set(server.name, totals.get(server.name) + done.requests);
        rounds.get(server.name).push({
          per_second: done.in_time / done.seconds, p50_ms: done.p50_us / 1000, p99_ms: done.p99_us / 1000,
          cpu_ms: used / done.requests, rss_mb: peakMb(server), requests: done.requests,
          others_cpu_ms: { generator: done.cpu_ms / done.requests, upstream, sandbox },
        });
        say(`${title}, ${connections} at once, round ${round + 1}, ${server.name}: ${(done.in_time / done.seconds).toFixed(1)} /s, CPU ${(used / done.requests).toFixed(3)} ms`);
      }
    }
    for (const server of servers) {
      const of = rounds.get(server.name);
      const median = (name) => middle(of.map((one) => one[name]).sort((left, right) => left - right));
      rows.push({
        case: title, connections, side: server.name, per_second: median('per_second'), p50_ms: median('p50_ms'), p99_ms: median('p99_ms'),
        cpu_ms: median('cpu_ms'), rss_mb: Math.max(...of.map((one) => one.rss_mb)), rounds: of, all: of.reduce((sum, one) => sum + one.requests, 0),
      });
    }
  }
  // Requests of the warm-up belong to no row. The first row of a side counts them.
  for (const server of servers) {
    const own = rows.filter((row) => row.side === server.name);
    own[0].all += totals.get(server.name) - own.reduce((sum, row) => sum + row.all, 0);
  }
  return rows;
}

/** Generates load. When it returns, all requests that were begun are answered. */
async function load(server, connections, seconds, [kind, ...requests]) {
  const { port } = new URL(server.url);
  if (plan.generator === 'wrk' && kind === 'same') return wrk(server, connections, seconds, requests[0]);
  const files = requests.map((text, place) => {
    const file = path.join(scene.work, `request-${place}`);
    writeFileSync(file, text);
    return file;
  });
  const { stdout } = await run(scene.load, [port, String(connections), String(seconds), kind, ...files], { maxBuffer: 1 << 20 });
  const done = JSON.parse(stdout);
  if (done.failed > 0) throw new Error(`${server.name}: ${done.failed} requests failed, one of them: ${done.failure}`);
  if (done.requests === 0) throw new Error(`${server.name}: nothing was answered`);
  return done;
}

/** Generates load with wrk, which ends in the middle of requests. It serves to compare the generators. */
async function wrk(server, connections, seconds, request) {
  const [head, body] = request.split('\r\n\r\n');
  const [first, ...lines] = head.split('\r\n');
  const [method, target] = first.split(' ');
  const script = path.join(scene.work, 'wrk.lua');
  const headers = lines.map((line) => line.split(': ')).filter(([name]) => !['host', 'content-length'].includes(name));
  writeFileSync(script, `wrk.method = "${method}"
${headers.map(([name, value]) => `wrk.headers["${name}"] = ${JSON.stringify(value)}`).join('\n')}
${body ? `wrk.body = [==[${body}]==]` : ''}
done = function(summary, latency)
  io.write(string.format("JSON {\\"requests\\":%d,\\"us\\":%d,\\"failed\\":%d,\\"p50_us\\":%d,\\"p99_us\\":%d}\\n", summary.requests, summary.duration,
    summary.errors.status + summary.errors.read + summary.errors.timeout, latency:percentile(50), latency:percentile(99)))
end
`);
  const { stdout } = await run('wrk', ['-t1', `-c${connections}`, `-d${Math.ceil(seconds)}s`, '--latency', '-s', script, server.url + target]);
  const done = JSON.parse(/^JSON (.*)$/m.exec(stdout)[1]);
  if (done.failed > 0) throw new Error(`${server.name}: ${done.failed} requests failed`);
  return { ...done, in_time: done.requests, seconds: done.us / 1e6, cpu_ms: NaN };
}

function report(results, checked) {
  const heads = ['case', 'at once', 'side', 'req/s', 'p50 ms', 'p99 ms', 'CPU ms/req', 'max RSS MB', 'req/s vs stopover', 'CPU vs stopover'];
  const show = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value >= 1 ? value.toFixed(2) : value.toFixed(3));
  const lines = results.map((row) => {
    const ours = results.find((other) => other.case === row.case && other.connections === row.connections && other.side === 'stopover');
    const against = (name) => (ours ? `${show(row[name] / ours[name])} ×` : '');
    return [row.case, String(row.connections), row.side, ...['per_second', 'p50_ms', 'p99_ms', 'cpu_ms', 'rss_mb'].map((name) => show(row[name])), against('per_second'), against('cpu_ms')];
  });
  const widths = heads.map((head, column) => Math.max(head.length, ...lines.map((line) => line[column].length)));
  const line = (cells) => `| ${cells.map((cell, column) => (column < 3 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))).join(' | ')} |`;
  const output = [line(heads), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...lines.map(line), ''];
  const about = {
    at: new Date().toISOString(),
    stopover: execFileSync(scene.binary, ['--version'], { encoding: 'utf8' }).trim(),
    node: process.version,
    node_flags: process.env.NODE_FLAGS ?? '',
    cipher: scene.cipher,
    cpu: os.cpus()[0]?.model.trim(),
    cores: CORES,
    memory_gib: Math.round(os.totalmem() / 2 ** 30),
    load_average_at_start: Math.round(scene.loadAtStart * 100) / 100,
    upstream_answer_bytes: scene.upstream.bytes,
    plan,
  };
  process.stdout.write(`${output.join('\n')}\n${JSON.stringify({ about, checked, results }, null, 2)}\n`);
}

let ending = null;

/** Stops all processes and drops all databases, once. */
function end() {
  ending ??= stopAll().then(dropDatabases).catch((error) => say(`something is left behind: ${error.message}`));
  return ending;
}

let failed = false;
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    interrupted = true;
    end().then(() => process.exit(130));
  });
}
try {
  await main();
} catch (error) {
  failed = true;
  if (!interrupted) say(error.stack);
  if (scene.work) say(`logs are in ${scene.work}`);
} finally {
  await end();
  if (scene.work && !failed && !process.env.KEEP) rmSync(scene.work, { recursive: true, force: true });
}
process.exit(interrupted ? 130 : failed ? 1 : 0);
