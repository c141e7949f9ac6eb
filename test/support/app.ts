import { type App, createApp, type Testing } from '../../server/src/programs/app.ts';
import { type Config, readConfig } from '../../server/src/programs/config/config.ts';
import type { EmbeddedServices } from '../../server/src/programs/modes/runtime.ts';
import { createLog } from '../../server/src/programs/ops/log.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import type { Log } from '../../server/src/state/db/log.ts';
import { createManualClock, type ManualClock } from './clock.ts';
import { openFreshDatabase } from './database.ts';
import { FAST_PATH } from './fast-path.ts';
import { createClient, type GraphQLClient } from './graphql.ts';
import { captureOutput } from './log-capture.ts';
import { createRestClient, type RestClient } from './rest.ts';
import { runsAll } from './scale.ts';
import { silent } from './templates.ts';

export const LIVE_KEY = 'ps_live_test0123456789abcdef';
export const TEST_KEY = 'ps_test_test0123456789abcdef';

/** A server in either mode. */
export interface TestServer extends App {
  readonly clock: ManualClock;
  /** A client with the first account's live key. */
  readonly live: GraphQLClient;
  readonly sandbox: GraphQLClient;
  /** Creates a client with any credential, or with none. */
  client(credential: string | null, headers?: Record<string, string>): GraphQLClient;
  /** Creates a client of the REST interface, by default with the first account's live key. */
  rest(credential?: string | null, baseUrl?: string): RestClient;
  /** The errors that the server logged; a test without a planned fault expects none. */
  readonly faults: unknown[];
}

/** A server in embedded mode: the payments service itself. */
export interface TestApp extends TestServer, EmbeddedServices {}

interface Options extends Omit<Testing, 'open'> {
  database?: Database;
  clock?: ManualClock;
  /** Variables in addition to those of every test; an empty text unsets one. */
  environment?: Record<string, string>;
  config?: Partial<Config>;
  /** The log, in place of the one that collects its errors in `faults`. */
  log?: Log;
  /** The time of the database, which the server's clock follows. */
  databaseTime?: () => Promise<Date>;
}

/** Starts a server in embedded mode, as `startServer` does. */
export async function startApp(options: Options = {}): Promise<TestApp> {
  const server = await startServer(options);
  if (!server.embedded) throw new Error('this server is a facade in front of another service');
  return { ...server, ...server.embedded };
}

/** Starts the whole server on a free port of 127.0.0.1, with a fresh database and a clock that the test moves. */
export async function startServer({
  database,
  clock = createManualClock(),
  environment = {},
  config = {},
  log,
  databaseTime,
  ...testing
}: Options = {}): Promise<TestServer> {
  const faults: unknown[] = [];
  const production = createLog({ write: (line) => captureOutput('log', line) });
  const collecting: Log = { ...silent, error: (fields, message) => faults.push({ ...fields, message }) };
  const read = readConfig({
    PORT: '0',
    PSA_DATA_DIR: 'memory',
    PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
    PSA_BOOTSTRAP_TEST_KEY: TEST_KEY,
    ...FAST_PATH,
    ...environment,
  });
  const keys = read.upstream?.keys ?? read.bootstrapKeys;
  const app = await createApp({
    config: { ...read, ...config },
    clock,
    log: both(production, log ?? collecting),
    onFatal: (error) => faults.push(error),
    databaseTime,
    testing: {
      // All requests of the tests come from one network, and many from one account, while the clock stands still.
      strangerLimit: 1_000_000,
      restLimit: 1_000_000,
      // A test waits for the turns of the event loop, which timers of the machine do not count as.
      upstreamTuning: { gatherMs: 0 },
      ...testing,
      open: async ({ meter }) => database ?? openFreshDatabase(clock, meter),
    },
  });
  const client: TestApp['client'] = (credential, headers) =>
    createClient(`${app.url}/graphql`, credential, headers);
  const rest: TestApp['rest'] = (credential = keys.live ?? null, baseUrl = app.url) =>
    createRestClient(baseUrl, credential);
  const close = async () => {
    await captureMetrics(app.port);
    await app.close();
  };
  return {
    ...app,
    clock,
    faults,
    client,
    rest,
    close,
    live: client(keys.live ?? null),
    sandbox: client(keys.sandbox ?? null),
  };
}

/** Combines two logs, the one of production and the test's own. */
function both(one: Log, other: Log): Log {
  const each =
    (level: keyof Log): Log[typeof level] =>
    (fields, message) => {
      one[level](fields, message);
      other[level](fields, message);
    };
  return { info: each('info'), warn: each('warn'), error: each('error') };
}

/** Fetching the metrics of a server takes as long as starting it. So `npm test` captures them for one server in six. */
const SERVERS_PER_CAPTURE = runsAll() ? 1 : 6;
/** The servers that have been closed, by the folder that their output is captured in. */
const closed = new Map<string, number>();

/** Captures a server's metrics. A server that a test has broken does not answer, and is not waited for. */
async function captureMetrics(port: number): Promise<void> {
  const folder = process.env.PSA_TEST_SAID;
  if (folder === undefined) return;
  const before = closed.get(folder) ?? 0;
  closed.set(folder, before + 1);
  if (before % SERVERS_PER_CAPTURE > 0) return;
  await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(1_000) })
    .then((answer) => answer.text())
    .then(
      (text) => captureOutput('metrics', text),
      () => undefined,
    );
}
