import { type App, createApp, type Testing } from '../../server/src/app.ts';
import { type Config, readConfig } from '../../server/src/config.ts';
import type { Database } from '../../server/src/db/database.ts';
import type { Log } from '../../server/src/db/log.ts';
import type { EmbeddedServices } from '../../server/src/modes/runtime.ts';
import { createLog } from '../../server/src/ops/log.ts';
import { createManualClock, type ManualClock } from './clock.ts';
import { openFreshDatabase } from './database.ts';
import { FAST_PATH } from './fast-path.ts';
import { createClient, type GraphQLClient } from './graphql.ts';
import { said } from './log-capture.ts';
import { createRestClient, type RestClient } from './rest.ts';
import { silent } from './templates.ts';

export const LIVE_KEY = 'ps_live_test0123456789abcdef';
export const TEST_KEY = 'ps_test_test0123456789abcdef';

/** A server in either mode. */
export interface TestServer extends App {
  readonly clock: ManualClock;
  /** With the first account's live key. */
  readonly live: GraphQLClient;
  readonly sandbox: GraphQLClient;
  /** With any credential, or with none. */
  client(credential: string | null, headers?: Record<string, string>): GraphQLClient;
  /** The REST interface, with the first account's live key unless another is given. */
  rest(credential?: string | null, baseUrl?: string): RestClient;
  /** Faults that the server logged; a test that ends well has none. */
  readonly faults: unknown[];
}

/** The service itself. */
export interface TestApp extends TestServer, EmbeddedServices {}

interface Options extends Omit<Testing, 'open'> {
  database?: Database;
  clock?: ManualClock;
  /** Set beside what every test sets; an empty text unsets that. */
  environment?: Record<string, string>;
  config?: Partial<Config>;
  /** In place of the one whose errors are `faults`. */
  log?: Log;
  /** The database's time, which its clock is to follow. */
  databaseTime?: () => Promise<Date>;
}

/** The service itself, as `startServer` starts it. */
export async function startApp(options: Options = {}): Promise<TestApp> {
  const server = await startServer(options);
  if (!server.embedded) throw new Error('this one stands in front of another service');
  return { ...server, ...server.embedded };
}

/** The whole server on a free port of 127.0.0.1, over a fresh database, with a clock that the test moves. */
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
  const loud = createLog({ write: (line) => said('log', line) });
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
    log: both(loud, log ?? collecting),
    onFatal: (error) => faults.push(error),
    databaseTime,
    testing: {
      // All tests come from one network.
      strangerLimit: 1_000_000,
      ...testing,
      open: async ({ meter }) => database ?? openFreshDatabase(clock, meter),
    },
  });
  const client: TestApp['client'] = (credential, headers) =>
    createClient(`${app.url}/graphql`, credential, headers);
  const rest: TestApp['rest'] = (credential = keys.live ?? null, baseUrl = app.url) =>
    createRestClient(baseUrl, credential);
  const close = async () => {
    await saidByMetrics(app.port);
    await app.close();
  };
  return {
    ...app,
    ...{ clock, faults, client, rest, close },
    live: client(keys.live ?? null),
    sandbox: client(keys.sandbox ?? null),
  };
}

/** As it is in production, and as the test wants it. */
function both(one: Log, other: Log): Log {
  const each =
    (level: keyof Log): Log[typeof level] =>
    (fields, message) => {
      one[level](fields, message);
      other[level](fields, message);
    };
  return { info: each('info'), warn: each('warn'), error: each('error') };
}

/** A server that a test has broken does not tell, and is not waited for. */
async function saidByMetrics(port: number): Promise<void> {
  if (process.env.PSA_TEST_SAID === undefined) return;
  await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(1_000) })
    .then((answer) => answer.text())
    .then(
      (text) => said('metrics', text),
      () => undefined,
    );
}
