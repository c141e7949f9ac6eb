import { setImmediate as turn } from 'node:timers/promises';
import type { AccountSettings } from '../../server/src/access/model.ts';
import type { PaymentsService } from '../../server/src/api/graphql/services.ts';
import type { Requester } from '../../server/src/kernel/requester.ts';
import type { Environment, Tenant } from '../../server/src/kernel/tenant.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { nextDue } from '../../server/src/state/work/store.ts';
import { addAccount, addKey } from './accounts.ts';
import { LIVE_KEY, startApp, startServer, TEST_KEY, type TestApp, type TestServer } from './app.ts';
import { createManualClock, type ManualClock } from './clock.ts';
import { openFreshDatabase } from './database.ts';
import { type FaultProxy, type Plan, startFaultProxy } from './fault-proxy.ts';
import { createClient, type GraphQLClient } from './graphql.ts';
import { type Statements, watchStatements } from './statements.ts';

/** A service behind facades. */
export interface Service {
  readonly app: TestApp;
  readonly clock: ManualClock;
  /** The statements of the service's database. */
  readonly statements: Statements;
}

type OpenDatabase = (clock: ManualClock) => Promise<Database>;

/** Starts a service. The caller closes its `app`. */
export async function startService({
  clock = createManualClock(),
  open = openFreshDatabase,
  environment = {},
}: {
  clock?: ManualClock;
  open?: OpenDatabase;
  environment?: Record<string, string>;
} = {}): Promise<Service> {
  const { database, statements } = watchStatements(await open(clock));
  const app = await startApp({ database, clock, environment });
  return { app, clock, statements };
}

/** A service and a facade in front of it, over real HTTP and with real webhooks, on one clock. */
export interface Pair {
  readonly clock: ManualClock;
  readonly service: TestApp;
  readonly facade: TestServer;
  /** The proxy between the two, for the facade's requests. Webhooks do not pass through it. */
  readonly proxy: FaultProxy;
  /** The merchant's API keys, the same on the service and the facade. */
  readonly keys: Readonly<Record<Environment, string>>;
  readonly webhookSecrets: Readonly<Record<Environment, string>>;
  /** The ids of the merchant's account on each of the two. */
  readonly accountIds: { readonly service: string; readonly facade: string };
  /** Returns the facade's services for one caller. */
  services(requester?: Partial<Requester>): PaymentsService;
  /**
   * Resolves when both only wait for the clock, or for an answer that a fault withholds: all requests and webhooks between
   * them have arrived and have been processed.
   */
  settled(): Promise<void>;
  /** Advances the clock by `ms`, and lets both run each task at its own instant. */
  pass(ms: number): Promise<void>;
  /** Starts another facade on the same database, which several must be able to open. It is closed with this pair. */
  another(): Promise<Pair>;
  /** Closes the facades, and the service if it was started with them. */
  close(): Promise<void>;
}

/** Starts a pair, which the caller closes. */
export async function startPair({
  service: ownService,
  account,
  plan,
  requestsPerMinute,
  open = openFreshDatabase,
  environment = {},
  ...options
}: {
  /** A running service; without it a new one is started. */
  service?: Service;
  /** The settings of a new merchant; without them the pair uses the service's first one. */
  account?: Partial<AccountSettings>;
  /** The faults that the facade's requests meet. */
  plan?: Plan;
  /** The facade's limit, in place of the document's. */
  requestsPerMinute?: number;
  /** Opens the facade's database. */
  open?: OpenDatabase;
  /** Variables in addition to those that the facade needs. */
  environment?: Record<string, string>;
  /** The environment of a new service. */
  clock?: ManualClock;
} = {}): Promise<Pair> {
  const service = ownService ?? (await startService(options));
  const { app, clock } = service;
  const keys = account ? await openMerchant(app, account) : { live: LIVE_KEY, sandbox: TEST_KEY };
  const asMerchant = {
    live: createClient(`${app.url}/graphql`, keys.live),
    sandbox: createClient(`${app.url}/graphql`, keys.sandbox),
  };
  // The facade has to know the secrets before it listens; its address is known only afterwards.
  const webhookSecrets = {
    live: await configureWebhook(asMerchant.live, 'http://127.0.0.1:9/not-yet'),
    sandbox: await configureWebhook(asMerchant.sandbox, 'http://127.0.0.1:9/not-yet'),
  };
  const proxy = await startFaultProxy({ target: app.url, clock, ...(plan && { plan }) });
  const facades: { server: TestServer; statements: Statements }[] = [];
  async function startFacade(): Promise<TestServer> {
    const { database, statements } = watchStatements(await open(clock));
    const server = await startServer({
      database,
      clock,
      environment: {
        PSA_BOOTSTRAP_LIVE_KEY: '',
        PSA_BOOTSTRAP_TEST_KEY: '',
        PSA_UPSTREAM_URL: proxy.url,
        PSA_UPSTREAM_LIVE_KEY: keys.live,
        PSA_UPSTREAM_TEST_KEY: keys.sandbox,
        PSA_UPSTREAM_WEBHOOK_SECRET: webhookSecrets.live,
        PSA_UPSTREAM_TEST_WEBHOOK_SECRET: webhookSecrets.sandbox,
        ...(requestsPerMinute && { PSA_UPSTREAM_LIMIT: String(requestsPerMinute) }),
        ...environment,
      },
    });
    facades.push({ server, statements });
    return server;
  }
  const first = await startFacade();
  const receivesAt = `http://127.0.0.1:${first.port}/webhooks/psa`;
  await configureWebhook(asMerchant.live, receivesAt);
  await configureWebhook(asMerchant.sandbox, receivesAt);

  async function settled(): Promise<void> {
    let arrivals: number;
    do {
      arrivals = proxy.arrivals.length;
      await app.work.settled();
      const before = service.statements.begun();
      await waitForQuiet();
      // A webhook in flight is visible only as work of the service, and was caused by statements that have begun here.
      if (service.statements.begun() !== before) await app.work.settled();
    } while (arrivals !== proxy.arrivals.length || !isQuiet());
  }

  const everywhere = () => [service, ...facades].map(({ statements }) => statements);
  const isQuiet = () => everywhere().every((statements) => statements.isIdle());

  async function waitForQuiet(): Promise<void> {
    let quietTurns = 0;
    for (let turns = 0; quietTurns < QUIET_TURNS; turns++) {
      if (turns > MAX_TURNS) throw new Error('the two never rest');
      // Idling is awaited, because turns of the event loop would take CPU time from the awaited processes.
      await Promise.all([proxy.idle(), ...everywhere().map((statements) => statements.idle())]);
      await turn();
      quietTurns = isQuiet() ? quietTurns + 1 : 0;
    }
  }

  async function pass(ms: number): Promise<void> {
    const until = clock.now().getTime() + ms;
    // Long steps let days pass quickly: timers such as a poller's run once in each. Tasks run at their own instants.
    const stepMs = Math.ceil(ms / MAX_STEPS);
    for (;;) {
      await settled();
      const now = clock.now().getTime();
      if (now >= until) return;
      const databases = [app, ...facades.map(({ server }) => server)].map(({ database }) => database);
      const due = await Promise.all(databases.map(({ sql }) => nextDue(sql)));
      const work = due.flatMap((at) => (at && at.getTime() > now ? [at.getTime()] : []));
      const next = Math.max(clock.nextAt()?.getTime() ?? until, now + stepMs);
      clock.jumpTo(new Date(Math.min(next, until, ...work)));
    }
  }

  async function close(): Promise<void> {
    for (const { server } of facades.splice(0)) await server.close();
    await proxy.close();
    if (!ownService) await app.close();
  }

  const accountIds = { service: await accountOf(app, keys.live), facade: await accountOf(first, keys.live) };
  const pairOf = (facade: TestServer): Pair => ({
    clock,
    service: app,
    facade,
    proxy,
    keys,
    webhookSecrets,
    accountIds,
    settled,
    pass,
    close,
    services: (requester) =>
      facade.servicesFor({ priority: 'merchant', subject: null, onRead: () => undefined, ...requester }),
    another: async () => pairOf(await startFacade()),
  });
  return pairOf(first);
}

/** The turns of the event loop after which a write to a socket has reached its reader. */
const QUIET_TURNS = 20;
const MAX_TURNS = 1_000_000;
const MAX_STEPS = 6;

async function openMerchant(app: TestApp, settings: Partial<AccountSettings>) {
  const accountId = await addAccount(app, settings);
  return {
    live: await addKey(app, { accountId }),
    sandbox: await addKey(app, { accountId, environment: 'sandbox' }),
  };
}

/** Configures a merchant's webhook. Returns its secret, which is shown only the first time. */
export async function configureWebhook(merchant: GraphQLClient, url: string): Promise<string> {
  const { configureWebhook: configured } = await merchant.request(
    `mutation ($url: Url!) {
      configureWebhook(input: { url: $url }) {
        ... on ConfigureWebhookSuccess { secret }
        ... on UserError { message }
      }
    }`,
    { url },
  );
  if (configured.message) throw new Error(configured.message);
  return configured.secret;
}

async function accountOf({ servicesFor }: TestServer, key: string): Promise<Tenant['accountId']> {
  const { access } = servicesFor({ priority: 'merchant', subject: null, onRead: () => undefined });
  return (await access.authenticate(`Bearer ${key}`)).tenant.accountId;
}
