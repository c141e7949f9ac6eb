import { setImmediate as turn } from 'node:timers/promises';
import type { Database } from '../../server/src/db/database.ts';
import type { PaymentsService } from '../../server/src/graphql/context.ts';
import type { Asker } from '../../server/src/kernel/asker.ts';
import type { Environment, Tenant } from '../../server/src/kernel/tenant.ts';
import { LIVE_KEY, startApp, startServer, TEST_KEY, type TestApp, type TestServer } from './app.ts';
import { createManualClock, type ManualClock } from './clock.ts';
import { openFreshPglite } from './database.ts';
import { type FaultProxy, type Plan, startFaultProxy } from './fault-proxy.ts';
import { watchStatements } from './statements.ts';

/** The service itself and a facade in front of it, over real HTTP and with real webhooks, by one clock. */
export interface Pair {
  readonly clock: ManualClock;
  readonly service: TestApp;
  readonly facade: TestServer;
  /** Between the two: what the facade asks, and what becomes of it. Webhooks do not come through here. */
  readonly proxy: FaultProxy;
  readonly webhookSecrets: Record<Environment, string>;
  /** The merchant as the facade knows it, and as the service does. */
  tenants(environment?: Environment): Promise<{ facade: Tenant; service: Tenant }>;
  /** The port in front of the service, as one caller has it. */
  services(asker?: Partial<Asker>): PaymentsService;
  /**
   * Resolves when neither does anything any more but wait for the clock, or for an answer that a fault withholds:
   * requests and webhooks between them have come and had their consequences.
   */
  settled(): Promise<void>;
  /** Moves the clock on, stopping wherever something is due, and lets both do it. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Ends with whoever started it. */
export async function startPair({
  clock = createManualClock(),
  plan,
  /** Requests a minute that the service takes, and those that the facade makes. */
  restLimit,
  requestsPerMinute,
  open = () => openFreshPglite(clock),
  service: serviceEnvironment = {},
  facade: facadeEnvironment = {},
}: {
  clock?: ManualClock;
  /** What becomes of the facade's requests. */
  plan?: Plan;
  restLimit?: number;
  requestsPerMinute?: number;
  /** A database of its own for each of the two. */
  open?: () => Promise<Database>;
  /** The environment of each beside what it needs. */
  service?: Record<string, string>;
  facade?: Record<string, string>;
} = {}): Promise<Pair> {
  const databases = (await Promise.all([open(), open()])).map(watchStatements);
  const [forService, forFacade] = databases.map(({ database }) => database) as [Database, Database];
  const service = await startApp({
    database: forService,
    clock,
    environment: serviceEnvironment,
    ...(restLimit && { restLimit }),
  });
  const proxy = await startFaultProxy({ target: service.url, clock, ...(plan && { plan }) });
  // Where they go is known when the facade listens; what they are signed with, it has to know before.
  const webhookSecrets = {
    live: await configureWebhook(service, 'live', 'http://127.0.0.1:9/not-yet'),
    sandbox: await configureWebhook(service, 'sandbox', 'http://127.0.0.1:9/not-yet'),
  };
  const facade = await startServer({
    database: forFacade,
    clock,
    environment: {
      PSA_BOOTSTRAP_LIVE_KEY: '',
      PSA_BOOTSTRAP_TEST_KEY: '',
      PSA_UPSTREAM_URL: proxy.url,
      PSA_UPSTREAM_LIVE_KEY: LIVE_KEY,
      PSA_UPSTREAM_TEST_KEY: TEST_KEY,
      PSA_UPSTREAM_WEBHOOK_SECRET: Object.values(webhookSecrets).join(','),
      ...(requestsPerMinute && { PSA_UPSTREAM_LIMIT: String(requestsPerMinute) }),
      ...facadeEnvironment,
    },
  });
  const receivesAt = `http://127.0.0.1:${facade.port}/webhooks/psa`;
  await configureWebhook(service, 'live', receivesAt);
  await configureWebhook(service, 'sandbox', receivesAt);

  async function settled(): Promise<void> {
    let quietTurns = 0;
    while (quietTurns < QUIET_TURNS) {
      const before = proxy.arrivals.length;
      await Promise.all([proxy.idle(), service.work.settled()]);
      await turn();
      const isQuiet = before === proxy.arrivals.length && databases.every(({ isIdle }) => isIdle());
      quietTurns = isQuiet ? quietTurns + 1 : 0;
    }
  }

  return {
    clock,
    service,
    facade,
    proxy,
    webhookSecrets,
    async tenants(environment = 'live') {
      const [ofFacade, ofService] = await Promise.all([forFacade, forService].map(accountOf));
      return {
        facade: { accountId: ofFacade!, environment },
        service: { accountId: ofService!, environment },
      };
    },
    services: (asker) =>
      facade.servicesFor({ rank: 'person', subject: null, saw: () => undefined, ...asker }),
    settled,
    async pass(ms) {
      const until = clock.now().getTime() + ms;
      // Days are not made of seconds: what is due within one step is done together.
      const stepMs = Math.ceil(ms / MOST_STEPS);
      for (;;) {
        await settled();
        const now = clock.now().getTime();
        if (now >= until) return;
        const next = Math.max(clock.nextAt()?.getTime() ?? until, now + stepMs);
        clock.moveTo(new Date(Math.min(next, until)));
      }
    },
    async close() {
      await facade.close();
      await proxy.close();
      await service.close();
    },
  };
}

/** Between a socket that is written to and whoever reads it lie a few turns of the loop. */
const QUIET_TURNS = 20;
const MOST_STEPS = 300;

async function configureWebhook(app: TestApp, environment: Environment, url: string): Promise<string> {
  const { configureWebhook: configured } = await app[environment].request(
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

/** The first, which is the merchant's. */
async function accountOf({ sql }: Database): Promise<string> {
  const account = await sql
    .selectFrom('account')
    .select('id')
    .orderBy('created_at')
    .executeTakeFirstOrThrow();
  return account.id;
}
