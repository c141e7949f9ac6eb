import { setFlagsFromString } from 'node:v8';
import closeWithGrace from 'close-with-grace';
import { ModeError } from '../access/mode.ts';
import { ManifestError } from '../api/operations/trusted-manifest.ts';
import { PSA_COMMAND } from '../kernel/assets.ts';
import { createSystemClock } from '../kernel/clock.ts';
import { BEHIND_IN_WORDS, type Behind } from '../kernel/records.ts';
import { isFilled } from '../state/db/data-folder.ts';
import { DataDirError, DataDirLockedError } from '../state/db/lock.ts';
import { MigrationError } from '../state/db/migration-error.ts';
import { type StartingPglite, startPglite } from '../state/db/pglite-backend.ts';
import type { App } from './app.ts';
import { type Config, ConfigError, readConfig, type UpstreamConfig } from './config/config.ts';
import { isLoopback } from './config/variables.ts';
import { describeDatabaseError, describeMissingDescriptors } from './ops/database-errors.ts';
import { createLog } from './ops/log.ts';

const log = createLog();

// A stop must not fail because nobody reads what it prints, as in `npm start | tee log` after Ctrl-C.
process.stdout.on('error', () => undefined);

let config: Config | undefined;

/** The longest stop, without the wait for proxies: a stop that takes longer hangs. */
const STOP_MS = 12_500;

async function main(): Promise<void> {
  config = readConfig();
  const pglite = await startDatabase(config);
  const [{ createApp }, { selectTime }] = await Promise.all([
    import('./app.ts'),
    import('../state/db/time.ts'),
  ]);
  const clock = createSystemClock();
  const options = { config, clock, log, databaseTime: selectTime, onFatal, pglite };
  const app = await createApp(options).catch(async (error: unknown) => {
    await (await pglite?.backend.catch(() => undefined))?.close();
    throw error;
  });
  // Pretenuring allocates objects that wait for the database in the old generation, where they keep their whole
  // request alive: a query in front of a service took 665 µs of CPU with it, 585 without. V8 rejects the code cache
  // under other flags than those of the build, so pretenuring is on until here.
  setFlagsFromString('--no-allocation-site-pretenuring');
  const delay = config.drainMs + STOP_MS;
  closeWithGrace({ delay, logger: false }, async ({ err, signal }) => {
    if (err) log.error({ err }, 'stopping after a fault');
    else process.stdout.write('\nStopping…\n');
    // Ctrl-C comes from a terminal: there is no proxy to drain for.
    if (signal === 'SIGTERM') await app.drain();
    await waitWithLimit(app.close());
  });
  process.stdout.write(
    [
      config.upstream ? remoteGreeting(app, config.upstream) : greeting(app),
      app.behind ? behindWarning(app.behind) : '',
      app.keepsOlder ? KEEPS_OLDER : '',
      unknownWarning(config.unknownVariables),
    ].join(''),
  );
}

/**
 * Starts PGlite in its worker, while this thread loads the server: each takes about half a second. A first start waits until
 * the server is sure that it can run, because a server that cannot run must leave no data.
 */
async function startDatabase({ databaseUrl, dataDir }: Config): Promise<StartingPglite | undefined> {
  if (databaseUrl || !isFilled(dataDir)) return undefined;
  return startPglite({ dataDir, onFatal });
}

function onFatal(error: Error): never {
  log.error({ err: error }, 'the database has failed; the server stops');
  process.exit(1);
}

/** The limit on closing, which is shorter than STOP_MS. What was acknowledged is committed already. */
const CLOSE_MS = 8_000;

/** Waits for the end of closing, or for CLOSE_MS: a database that does not answer must not keep the process. */
async function waitWithLimit(closing: Promise<void>): Promise<void> {
  const late = new Promise<'late'>((resolve) => setTimeout(resolve, CLOSE_MS, 'late').unref());
  if ((await Promise.race([closing, late])) === 'late')
    log.warn({}, 'ended before everything had been closed: something, perhaps the database, does not answer');
}

/** The greeting of an embedded server, with the addresses of its pages. */
function greeting({ url, demo, console, firstKeys }: App): string {
  const lines = ['', `PSA is running at ${url}`, ''];
  if (demo)
    lines.push(`  Demo shop   ${url}/demo`, `  Simulator   ${url}/simulator`, `  GraphiQL    ${url}/graphql`);
  else lines.push(`  GraphQL     ${url}/graphql`);
  if (console !== 'off') lines.push(`  Console     ${url}/console`);
  lines.push(`  REST        ${url}/v1/docs`);
  if (firstKeys)
    lines.push(
      '',
      'The first account’s API keys. They are stored hashed and shown this once:',
      '',
      `  live        ${firstKeys.live}`,
      `  sandbox     ${firstKeys.sandbox}`,
    );
  else lines.push('', `API keys: ${PSA_COMMAND} keys --help`);
  lines.push('', 'Ctrl-C stops it.', '');
  return `${lines.join('\n')}\n`;
}

/** The greeting of a server in front of a service. It shows no keys: the user has configured them. */
function remoteGreeting(
  { url, demo, console }: App,
  { url: service, keys, webhookSecrets }: UpstreamConfig,
): string {
  const lines = ['', `PSA is running at ${url}, in front of ${new URL(service).origin}`, ''];
  if (demo) lines.push(`  Demo shop   ${url}/demo`);
  if (console !== 'off') lines.push(`  Console     ${url}/console`);
  lines.push(
    `  GraphQL     ${url}/graphql`,
    `  Webhooks    ${url}/webhooks/psa: the service must send them there`,
    '',
    'Its API keys are those of your account at the service, as configured.',
  );
  const lacksSecrets = (['live', 'sandbox'] as const).some(
    (environment) => keys[environment] !== undefined && webhookSecrets[environment].length === 0,
  );
  if (lacksSecrets)
    lines.push(
      'Warning: without PSA_UPSTREAM_WEBHOOK_SECRET webhooks are refused; what has changed is learned by polling alone.',
    );
  else if (isLoopback(url) && !isLoopback(service))
    lines.push('Warning: the service cannot reach this address; set PUBLIC_URL to one that it can.');
  lines.push('', 'Ctrl-C stops it.', '');
  return `${lines.join('\n')}\n`;
}

/** The warning of a server whose database went back. */
function behindWarning({ since, cause }: Behind): string {
  return `Warning: what came after ${since.toISOString()} may be missing (${BEHIND_IN_WORDS[cause]}). See ${PSA_COMMAND} restored --help\n`;
}

/** The line of a server that keeps everything, as its database had events before there was PSA_KEEP. */
const KEEPS_OLDER =
  'Nothing is removed by its age, as this database is older than PSA_KEEP. Set it to begin: operate.md, Age\n';

/** The warning of variables that may be meant for this server; empty if there are none. */
function unknownWarning(names: readonly string[]): string {
  return names.length > 0
    ? `Warning: variables that are not known have no effect: ${names.join(', ')}\n`
    : '';
}

/** Explains in one line an error that the user can correct; null for any other, which is printed with its stack. */
function explain(error: unknown): string | null {
  const limit = describeMissingDescriptors(error);
  if (limit !== null) return limit;
  if (EXPLAINED.some((type) => error instanceof type)) return (error as Error).message;
  const { code, syscall, address, hostname, port } = error as Fault;
  if (code === 'EADDRINUSE')
    return `Port ${port} is already in use: stop what uses it, or set PORT to another one`;
  if (code === 'EACCES' && syscall === 'listen')
    return `Port ${port} needs rights that this user does not have: set PORT to one above 1023`;
  if (code === 'EADDRNOTAVAIL') return `HOST ${address} is not an address of this machine`;
  if (syscall === 'getaddrinfo' && hostname === config?.host)
    return `HOST ${hostname} is not an address of this machine`;
  return config ? describeDatabaseError(error, config) : null;
}

/** Errors whose message says what the user can do. */
const EXPLAINED = [ConfigError, DataDirError, DataDirLockedError, ManifestError, MigrationError, ModeError];

type Fault = NodeJS.ErrnoException & { address?: string; hostname?: string; port?: number };

main().catch((error: unknown) => {
  const line = explain(error);
  process.stderr.write(`${line ?? (error instanceof Error ? error.stack : String(error))}\n`);
  process.exitCode = 1;
  // Resources that were opened before the error must not keep the process.
  setTimeout(() => process.exit(1), 1_000).unref();
});
