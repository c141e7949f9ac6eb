import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { endWithNpm } from '../bin/starting.mjs';
import { ensureParts, RUNNABLE } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { hasEnded, stop, whenServed } from './processes.mjs';
import { fail, isMain, root } from './progress.mjs';
import { installedProxies, startProxy } from './proxy.mjs';

const USAGE = `Usage: npm run cluster -- 3                  three instances on one PostgreSQL, behind Caddy or nginx
       npm run cluster -- 3 --proxy NAME     behind this one of caddy and nginx, or none; the default is one that is installed
       npm run cluster -- 3 --upstream URL   in front of the service at URL

For a try, on this machine alone. The proxy listens on PORT (4000) and the instances on the ports after it; each instance
reads the same variables as npm start. The instances share the PostgreSQL at DATABASE_URL; without it one is started for
the try, and its data end with it.

While it runs: r and Enter, or SIGHUP, restarts the instances one after the other, and starts those that have ended.
kill -9 one of them to see the others take over what it did. Ctrl-C ends all.
`;

/** The time to load and migrate on a busy machine. */
const START_MS = 60_000;
/** A little more than main.js takes at most to stop, without the time for draining. */
const STOP_MS = 15_000;
/** The default of PSA_DRAIN_SECONDS. */
const DRAIN_SECONDS = 3;

/**
 * @typedef {object} Instance
 * @property {number} number from 1
 * @property {string} url
 * @property {import('node:child_process').ChildProcess} process the running one, or the last one that has ended
 *
 * @typedef {{ noticeMs: number, close(): Promise<void> }} Proxy
 */

/**
 * Starts the instances, from the build, and the proxy in front of them.
 *
 * @param {object} options
 * @param {number} options.count
 * @param {Record<string, string | undefined>} options.env the environment of each instance, with the DATABASE_URL that they share
 * @param {number} [options.port] the port of the proxy; the instances use the ports after it. Without it any free ports are used
 * @param {(ports: import('./proxy.mjs').Ports) => Promise<Proxy>} [options.startProxy] without it no proxy is started
 * @param {(line: string, from: { number: number, isError: boolean }) => void} [options.onLine] receives each line of their output
 */
export async function startCluster({ count, env, port, startProxy, onLine = () => undefined }) {
  const [proxyPort = 0, ...ports] = await findPorts(count + 1, port);
  const url = env.PUBLIC_URL || `http://localhost:${startProxy ? proxyPort : ports[0]}`;
  const drainMs = startProxy ? Number(env.PSA_DRAIN_SECONDS || DRAIN_SECONDS) * 1_000 : 0;
  /** @type {Instance[]} */
  const instances = [];
  /** @type {Proxy | undefined} */
  let proxy;
  let closing = false;

  /** @param {number} number */
  function run(number) {
    const child = fork(fileURLToPath(new URL('./instance.mjs', import.meta.url)), {
      cwd: root,
      execArgv: [],
      // Only the cluster receives Ctrl-C, and then ends the instances.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        NODE_ENV: 'production',
        ...env,
        PSA_DRAIN_SECONDS: String(drainMs / 1_000),
        PORT: String(ports[number - 1]),
        HOST: '127.0.0.1',
        ...(startProxy && {
          PUBLIC_URL: url,
          PSA_TRUSTED_PROXIES: [env.PSA_TRUSTED_PROXIES, '127.0.0.1'].filter(Boolean).join(','),
        }),
      },
    });
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      const isError = stream === child.stderr;
      createInterface({ input: stream }).on('line', (line) => onLine(line, { number, isError }));
    }
    child.on('exit', (code, signal) => {
      if (!closing) onLine(`ended: ${signal ?? code}`, { number, isError: true });
    });
    return child;
  }

  /** @param {Instance} instance @throws if the instance ends, or is not ready in time */
  function whenReady({ number, url: address, process: child }) {
    return whenServed(child, `${address}/readyz`, START_MS).catch((error) => {
      throw new Error(`Instance ${number} did not start: ${error.message}`);
    });
  }

  async function close() {
    closing = true;
    // Not SIGTERM, after which an instance drains first.
    await Promise.all([proxy?.close(), ...instances.map((each) => stop(each.process, 'SIGINT', STOP_MS))]);
  }

  /** Starts the instances that have ended. */
  async function startEnded() {
    for (const instance of instances) {
      if (closing || !hasEnded(instance.process)) continue;
      instance.process = run(instance.number);
      await whenReady(instance);
    }
  }

  /** @type {Promise<void>} */
  let lastRestart = Promise.resolve();
  async function restartAll() {
    for (const instance of instances) {
      await stop(instance.process, 'SIGTERM', drainMs + STOP_MS);
      if (closing) return;
      instance.process = run(instance.number);
      await whenReady(instance);
      // Until the proxy notices this instance, the next one may be the only one that receives requests.
      await wait(proxy?.noticeMs ?? 0);
    }
  }

  try {
    for (const [index, each] of ports.entries()) {
      const number = index + 1;
      instances.push({ number, url: `http://localhost:${each}`, process: run(number) });
      // The first one creates the tables and the account.
      if (index === 0) await Promise.all(instances.map(whenReady));
    }
    await Promise.all(instances.map(whenReady));
    proxy = await startProxy?.({ port: proxyPort, ports });
  } catch (error) {
    await close();
    throw error;
  }

  return {
    /** The address of the proxy, or of the first instance if there is none. */
    url,
    instances: /** @type {readonly Instance[]} */ (instances),
    /** Restarts the instances one by one, each once the previous one is ready. A call during a restart follows it. */
    restart() {
      lastRestart = lastRestart.then(restartAll, restartAll);
      return lastRestart;
    },
    /** Starts the instances that have ended, after a restart that is under way. */
    revive() {
      lastRestart = lastRestart.then(startEnded, startEnded);
      return lastRestart;
    },
    /** Resolves when the instances and the proxy have ended. */
    close,
  };
}

/**
 * Finds free ports: consecutive ones from `first`, or any.
 *
 * @param {number} count @param {number} [first] @throws if one is in use
 */
async function findPorts(count, first) {
  const servers = Array.from({ length: count }, (_, index) =>
    createServer().listen(first ? first + index : 0, '127.0.0.1'),
  );
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map(
    (server) => /** @type {import('node:net').AddressInfo} */ (server.address()).port,
  );
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

/** @param {string[]} args */
function readArguments(args) {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { upstream: { type: 'string' }, proxy: { type: 'string' } },
      allowPositionals: true,
    });
    const [count = '3', ...others] = positionals;
    if (others.length === 0 && /^[1-9]$/.test(count)) return { ...values, count: Number(count) };
  } catch {
    // Refused below.
  }
  return fail('Say how many instances, from 1 to 9, as in npm run cluster -- 3; npm run cluster -- --help');
}

/** @param {string | undefined} requested @returns {import('./proxy.mjs').ProxyName | undefined} */
function chooseProxy(requested) {
  if (requested === 'none') return undefined;
  const installed = installedProxies();
  if (requested === undefined) return installed[0];
  return (
    installed.find((name) => name === requested) ??
    fail(`--proxy ${requested} is not installed: ${['none', ...installed].join(' or ')}`)
  );
}

/** The port of the proxy, which those of the instances follow; 0 for any. @param {number} count */
function readPort(count) {
  const port = Number(process.env.PORT || 4000);
  const last = 65_535 - count;
  if (Number.isInteger(port) && port >= 0 && port <= last) return port;
  return fail(`PORT must be a whole number from 0 to ${last}: the ports after it are those of the instances`);
}

async function main() {
  const { count, upstream, proxy: requestedProxy } = readArguments(process.argv.slice(2));
  const proxy = chooseProxy(requestedProxy);
  const port = readPort(count);
  endWithNpm();
  await ensureInstalled();
  await ensureParts([...RUNNABLE]);

  const postgres = process.env.DATABASE_URL ? null : await startOwnPostgres();
  const env = {
    ...process.env,
    DATABASE_URL: postgres?.url ?? process.env.DATABASE_URL,
    ...(upstream !== undefined && { PSA_UPSTREAM_URL: upstream }),
  };
  /** The lines of an instance's greeting that show the first account's keys. @type {string[]} */
  const keys = [];
  const cluster = await startCluster({
    count,
    env,
    port,
    ...(proxy && { startProxy: (ports) => startProxy(proxy, ports) }),
    onLine(line, { number, isError }) {
      if (isError) console.error(`[${number}] ${line}`);
      else if (/^ {2}(live|sandbox) +ps_\S+$/.test(line)) keys.push(line);
    },
  }).catch(async (error) => {
    await postgres?.stop();
    if (error.code === 'EADDRINUSE') fail(`Port ${error.port} is already in use: set PORT to another one`);
    fail(error.message);
  });
  console.log(greeting(cluster, { proxy, keys, demo: !env.PSA_UPSTREAM_URL, isOwn: postgres !== null }));

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
      () => console.log(['All have been restarted:', ...addresses(cluster)].join('\n')),
      (error) => console.error(`✗ ${error.message}`),
    );
  };
  process.on('SIGINT', end).on('SIGTERM', end).on('SIGHUP', restart);
  createInterface({ input: process.stdin }).on('line', (line) => line.trim() === 'r' && restart());
}

/** Starts a PostgreSQL of the development packages, which ends with this process. */
async function startOwnPostgres() {
  const { tsImport } = await import('tsx/esm/api');
  const { startPostgres } = await tsImport('../../test/support/postgres.ts', import.meta.url);
  return /** @type {import('../../test/support/postgres.ts').TestServer} */ (await startPostgres());
}

/** @typedef {Pick<Awaited<ReturnType<typeof startCluster>>, 'url' | 'instances'>} Cluster */

/** @param {Cluster} cluster @param {{ proxy: string | undefined, keys: string[], demo: boolean, isOwn: boolean }} details */
function greeting(cluster, { proxy, keys, demo, isOwn }) {
  const { url, instances } = cluster;
  const pages = demo ? [`  Demo shop   ${url}/demo`, `  Simulator   ${url}/simulator`] : [];
  return [
    '',
    proxy
      ? `PSA is running at ${url}, as ${instances.length} instances on one PostgreSQL behind ${proxy}`
      : `PSA is running as ${instances.length} instances on one PostgreSQL, without a proxy: install Caddy or nginx for one`,
    '',
    ...pages,
    `  GraphQL     ${url}/graphql`,
    '',
    'Instances:',
    ...addresses(cluster),
    ...(keys.length > 0 ? ['', 'The first account’s API keys, shown this once:', '', ...keys] : []),
    ...(isOwn
      ? ['', 'The PostgreSQL is for this try: its data end with it. Set DATABASE_URL to keep them.']
      : []),
    '',
    'r and Enter restarts them one after the other. Ctrl-C stops all.',
    '',
  ].join('\n');
}

/** @param {Cluster} cluster */
function addresses({ instances }) {
  return instances.map(({ number, url, process: { pid } }) => `  ${number}  ${url}  pid ${pid}`);
}

if (isMain(import.meta.url)) {
  if (process.argv.includes('--help') || process.argv.includes('-h')) process.stdout.write(USAGE);
  else await main();
}
