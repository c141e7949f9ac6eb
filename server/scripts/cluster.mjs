import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isReady, startBalancer } from './balancer.mjs';
import { ensureParts, RUNNABLE } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { endWithNpm, fail, isMain, root } from './progress.mjs';

const USAGE = `Usage: npm run cluster -- 3                       three instances on one PostgreSQL, behind a small balancer
       npm run cluster -- 3 --upstream URL    the same in front of the service at URL

For a try, on this machine alone: whatever npm start reads from the environment holds for each instance, PORT and
PUBLIC_URL for the balancer (http://localhost:4000). The instances share the PostgreSQL at DATABASE_URL; without it one is
started for the try, and its data end with it.

While it runs: r and Enter, or SIGHUP, restarts the instances one after the other, and starts those that have ended;
kill -9 one of them to see the others take over what it did. Ctrl-C ends all.
`;

/** Loading, migrating, and a busy machine. */
const START_MS = 60_000;
const LOOK_MS = 50;
/** What main.js gives itself, and a little more. */
const STOP_MS = 15_000;

/**
 * @typedef {object} Instance
 * @property {number} number from 1
 * @property {number} port
 * @property {import('node:child_process').ChildProcess} process as it lives now, or has lived last
 */

/**
 * Starts the instances, as they are built, and the balancer before them.
 *
 * @param {object} options
 * @param {number} options.count how many
 * @param {Record<string, string | undefined>} options.env of each, with the DATABASE_URL that they share
 * @param {number} [options.port] the balancer's; 0 for any that is free
 * @param {(line: string, from: { number: number, isError: boolean }) => void} [options.heard] gets what they print
 */
export async function startCluster({ count, env, port = 0, heard = () => undefined }) {
  const ports = await freePorts(count);
  const balancer = await startBalancer({ port, ports });
  const url = env.PUBLIC_URL || `http://localhost:${balancer.port}`;
  /** @type {Instance[]} */
  const instances = [];
  let closing = false;

  /** @param {number} number */
  function begin(number) {
    const its = fork(fileURLToPath(new URL('./instance.mjs', import.meta.url)), {
      cwd: root,
      execArgv: [],
      // Ctrl-C is for the cluster, which then ends them.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        NODE_ENV: 'production',
        // The balancer holds an instance before it is stopped.
        PSA_DRAIN_SECONDS: '0',
        ...env,
        PORT: String(ports[number - 1]),
        HOST: '127.0.0.1',
        PUBLIC_URL: url,
        // The balancer, which says who has come to it.
        PSA_TRUSTED_PROXIES: [env.PSA_TRUSTED_PROXIES, '127.0.0.1'].filter(Boolean).join(','),
      },
    });
    for (const stream of [its.stdout, its.stderr]) {
      if (!stream) continue;
      const isError = stream === its.stderr;
      createInterface({ input: stream }).on('line', (line) => heard(line, { number, isError }));
    }
    its.on('exit', (code, signal) => {
      if (!closing) heard(`ended: ${signal ?? code}`, { number, isError: true });
    });
    return its;
  }

  /** @param {Instance} instance @throws where it ends, or is not ready in time */
  async function whenReady({ number, port: its, process: child }) {
    const deadline = performance.now() + START_MS;
    while (!(await isReady(its))) {
      if (hasEnded(child)) throw new Error(`Instance ${number} did not start`);
      if (performance.now() > deadline) throw new Error(`Instance ${number} was not ready in time`);
      await wait(LOOK_MS);
    }
    balancer.release(its);
  }

  async function close() {
    closing = true;
    await balancer.close();
    await Promise.all(instances.map((instance) => stop(instance.process)));
  }

  /** @type {Promise<void>} */
  let restarted = Promise.resolve();
  async function restartAll() {
    for (const instance of instances) {
      if (closing) return;
      balancer.hold(instance.port);
      await stop(instance.process);
      instance.process = begin(instance.number);
      await whenReady(instance);
    }
  }

  try {
    // The first makes the tables and the account.
    for (const [index, its] of ports.entries()) {
      const instance = { number: index + 1, port: its, process: begin(index + 1) };
      instances.push(instance);
      if (index === 0) await whenReady(instance);
    }
    await Promise.all(instances.map(whenReady));
  } catch (error) {
    await close();
    throw error;
  }

  return {
    url,
    /** On which port the balancer listens. */
    port: balancer.port,
    instances: /** @type {readonly Instance[]} */ (instances),
    /** One after the other, each once the one before it is ready; whoever asks again meanwhile gets another round. */
    restart() {
      restarted = restarted.then(restartAll, restartAll);
      return restarted;
    },
    /** Resolves when the instances and the balancer have ended. */
    close,
  };
}

/** @param {import('node:child_process').ChildProcess} child */
function hasEnded({ exitCode, signalCode }) {
  return exitCode !== null || signalCode !== null;
}

/** Lets it end what it has begun; one that hangs is killed. @param {import('node:child_process').ChildProcess} child */
async function stop(child) {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const hangs = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(hangs);
}

/** Ports that nobody listens on, for an instance comes back at the same. @param {number} count */
async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map(
    (server) => /** @type {import('node:net').AddressInfo} */ (server.address()).port,
  );
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

/** @param {string[]} args @returns {{ count: number, upstream: string | undefined }} */
function readArguments(args) {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { upstream: { type: 'string' } },
      allowPositionals: true,
    });
    const [many = '3', ...others] = positionals;
    if (others.length === 0 && /^[1-9]$/.test(many))
      return { count: Number(many), upstream: values.upstream };
  } catch {
    // As below.
  }
  return fail('Say how many instances, from 1 to 9, as in npm run cluster -- 3; npm run cluster -- --help');
}

async function main() {
  const { count, upstream } = readArguments(process.argv.slice(2));
  const port = Number(process.env.PORT || 4000);
  endWithNpm();
  await ensureInstalled();
  await ensureParts([...RUNNABLE]);

  const postgres = process.env.DATABASE_URL ? null : await startOwnPostgres();
  const env = {
    ...process.env,
    DATABASE_URL: postgres?.url ?? process.env.DATABASE_URL,
    ...(upstream !== undefined && { PSA_UPSTREAM_URL: upstream }),
  };
  /** What the first instance tells of its keys; of the rest of their greetings nothing is new. @type {string[]} */
  const keys = [];
  /** @type {NonNullable<Parameters<typeof startCluster>[0]['heard']>} */
  const heard = (line, { number, isError }) => {
    if (isError) console.error(`[${number}] ${line}`);
    else if (/^ {2}(live|sandbox) +ps_\S+$/.test(line)) keys.push(line);
  };

  const cluster = await startCluster({ count, port, env, heard }).catch(async (error) => {
    await postgres?.stop();
    if (error.code === 'EADDRINUSE') fail(`Port ${port} is already in use: set PORT to another one`);
    fail(error.message);
  });
  console.log(greeting(cluster, { keys, demo: !env.PSA_UPSTREAM_URL, isOwn: postgres !== null }));

  let ending = false;
  const end = async () => {
    if (ending) return;
    ending = true;
    console.log('\nStopping…');
    await cluster.close();
    await postgres?.stop();
    process.exit();
  };
  const restart = () => {
    console.log('Restarting one after the other…');
    cluster.restart().then(
      () => console.log(`All are new: ${processes(cluster)}`),
      (error) => console.error(`✗ ${error.message}`),
    );
  };
  process.on('SIGINT', end).on('SIGTERM', end).on('SIGHUP', restart);
  createInterface({ input: process.stdin }).on('line', (line) => line.trim() === 'r' && restart());
}

/** A PostgreSQL of the development packages, which ends with this process. */
async function startOwnPostgres() {
  const { tsImport } = await import('tsx/esm/api');
  const { startPostgres } = await tsImport('../../test/support/postgres.ts', import.meta.url);
  return /** @type {import('../../test/support/postgres.ts').TestServer} */ (await startPostgres());
}

/** @typedef {Awaited<ReturnType<typeof startCluster>>} Cluster */

/** Where to click. @param {Cluster} cluster @param {{ keys: string[], demo: boolean, isOwn: boolean }} more */
function greeting(cluster, { keys, demo, isOwn }) {
  const { url, instances } = cluster;
  const pages = demo
    ? [`  Demo shop   ${url}/demo`, `  Dashboard   ${url}/demo/dashboard`, `  Simulator   ${url}/simulator`]
    : [];
  return [
    '',
    `PSA is running at ${url}, as ${instances.length} instances on one PostgreSQL`,
    '',
    ...pages,
    `  GraphQL     ${url}/graphql`,
    '',
    `Processes: ${processes(cluster)}`,
    ...(keys.length > 0 ? ['', 'The first account’s API keys, shown this once:', '', ...keys] : []),
    ...(isOwn
      ? ['', 'The PostgreSQL is for this try: its data end with it. Set DATABASE_URL to keep them.']
      : []),
    '',
    'r and Enter restarts them one after the other. Ctrl-C stops all.',
    '',
  ].join('\n');
}

/** @param {Pick<Cluster, 'instances'>} cluster */
function processes({ instances }) {
  return instances
    .map(({ number, port, process: its }) => `${number} (pid ${its.pid}, port ${port})`)
    .join(', ');
}

if (isMain(import.meta.url)) {
  if (process.argv.includes('--help') || process.argv.includes('-h')) process.stdout.write(USAGE);
  else await main();
}
