import { createAdministration } from './access/administration.ts';
import { bootstrap, createAccessEngine, firstTenant } from './access/engine.ts';
import { accounts } from './access/records.ts';
import { createCardPaymentEngine } from './card-payments/engine.ts';
import type { CardPaymentService, HostedCheckout } from './card-payments/model.ts';
import { createCheckoutRoutes } from './card-payments/page/routes.ts';
import { cardPayments as cardPaymentRecords } from './card-payments/records.ts';
import { createCardPaymentRoutes } from './card-payments/routes.ts';
import { createSettlement } from './card-payments/settlement.ts';
import { createCommitter } from './commit/commit.ts';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import type { Log } from './db/log.ts';
import { migrate } from './db/migrate.ts';
import { openDatabase } from './db/open.ts';
import { createDemoRoutes, widgetRoute } from './demo/routes.ts';
import { createCredentialWatch } from './events/credential.ts';
import { createFollower, STREAM_CHANNEL } from './events/follow.ts';
import { createUpdates } from './events/subscribe.ts';
import { createContextFactory } from './graphql/caller-context.ts';
import { schema } from './graphql/schema.ts';
import { createGraphQLSockets } from './graphql/websocket.ts';
import { createGraphQLServer, graphqlRoute } from './graphql/yoga.ts';
import { createClientAddress } from './http/client-address.ts';
import { createDocsRoutes } from './http/docs.ts';
import { createRestRoutes } from './http/rest.ts';
import { createHttpServer } from './http/server.ts';
import { type Clock, createShiftableClock } from './kernel/clock.ts';
import { createCursors } from './kernel/cursor.ts';
import { tenantKey } from './kernel/tenant.ts';
import { createRequestLimit } from './limits/requests.ts';
import { createRootFieldLimits } from './limits/root-fields.ts';
import { serveControl } from './ops/control.ts';
import { createHealthRoutes } from './ops/health.ts';
import { createMetricsRoutes } from './ops/metrics.ts';
import { createPayoutEngine } from './payouts/engine.ts';
import { createPayoutRoutes } from './payouts/routes.ts';
import { createPayoutSettlement } from './payouts/settlement.ts';
import { createProductEngine } from './products/engine.ts';
import { products } from './products/records.ts';
import { createProductRoutes } from './products/routes.ts';
import type { Bank } from './rails/bank.ts';
import { createSimulatedAcquirer, TEST_CARDS } from './rails/simulated/acquirer.ts';
import { createSimulatedBank } from './rails/simulated/bank.ts';
import { resumeSimulatedClock } from './rails/simulated/clock.ts';
import { createSandboxEngine } from './sandbox/engine.ts';
import type { TestPaymentLevers } from './sandbox/model.ts';
import { createSandboxRoutes } from './sandbox/routes.ts';
import { createLevers } from './simulator/levers.ts';
import { createSimulatorRoutes } from './simulator/routes.ts';
import { selectAccountNames } from './simulator/store.ts';
import { createSubaccountEngine } from './subaccounts/engine.ts';
import type { SubaccountPayoutService, SubaccountService } from './subaccounts/model.ts';
import { createSubaccountRoutes } from './subaccounts/routes.ts';
import { createSubaccountSettlement } from './subaccounts/settlement.ts';
import { createWalletEngine, createWalletLevers } from './wallet/engine.ts';
import type { WalletLevers } from './wallet/model.ts';
import { createWalletRoutes } from './wallet/routes.ts';
import { createWebhookDelivery } from './webhooks/delivery.ts';
import { createWebhookEngine } from './webhooks/engine.ts';
import { webhookOutbox } from './webhooks/outbox.ts';
import { createSender } from './webhooks/sender.ts';
import { createWorkQueue, type PlacesApart, type WorkQueue } from './work/queue.ts';
import { nextDue } from './work/store.ts';

export interface App {
  readonly url: string;
  /** Where it listens, which `url` does not tell behind a proxy. */
  readonly port: number;
  readonly demo: boolean;
  /** The first account's keys, where this start has made it; they are shown this once. */
  readonly firstKeys: { live: string; sandbox: string } | null;
  readonly work: WorkQueue;
  readonly database: Database;
  readonly cardPayments: CardPaymentService & HostedCheckout;
  /** What no client can do: the simulator does it. */
  readonly levers: WalletLevers & TestPaymentLevers;
  readonly subaccounts: SubaccountService & SubaccountPayoutService;
  close(): Promise<void>;
}

const WEBHOOK_PLACES: PlacesApart = { kinds: ['webhook.deliver'], places: 200, placesOfTenant: 8 };

/**
 * The whole server: listens first (a port in use is known at once, and every request is told to come back), then
 * opens the database, brings it up to date, and wires the slices.
 * @throws what keeps it from running: the address, the data folder, the database, a migration
 */
export async function createApp({
  config,
  clock: givenClock,
  log,
  onFatal,
  open = openDatabase,
  bank: given,
  initTimeoutMs,
}: {
  config: Config;
  clock: Clock;
  log: Log;
  onFatal: (error: Error) => void;
  /** A test gives a database that is already there. */
  open?: typeof openDatabase;
  /** In place of the simulated one; a benchmark gives one that keeps no books in our database. */
  bank?: Bank;
  /** How long a WebSocket may take until its first message; a test does not wait that long. */
  initTimeoutMs?: number;
}): Promise<App> {
  // Beside the simulator alone, time can be put forward.
  const shiftable = config.demo ? createShiftableClock(givenClock) : null;
  const clock = shiftable ?? givenClock;
  const onFault = (fault: unknown) => log.error({ err: fault }, 'a fault of ours');
  const http = createHttpServer({ onFault });
  const port = await http.listen(config.port, config.host);
  const publicUrl = config.publicUrl ?? `http://localhost:${port}`;
  const closing: (() => Promise<unknown>)[] = [];
  // Last opened, first closed: who is connected, then the work under way, then the data.
  const close = async () => {
    for (const step of closing.splice(0).reverse()) await step();
  };

  try {
    const database = await open({ ...config, clock, log, onFatal });
    closing.push(() => database.close());
    await migrate(database);
    const simulatedClock = shiftable && (await resumeSimulatedClock({ database, clock: shiftable }));
    const { firstKeys, cursorKey } = await bootstrap({
      database,
      clock,
      name: config.demo ? 'Varanda' : 'Minha loja',
      keys: config.bootstrapKeys,
    });
    const cursorsFor = createCursors(cursorKey);

    const follower = createFollower({ database, clock, onError: onFault });
    closing.push(() => follower.close());
    const announcer = createAnnouncer(database, onFault);
    closing.push(() => announcer.idle());
    const committer = createCommitter({
      database,
      clock,
      outbox: webhookOutbox,
      onCommit(tenant, { events, tasks }) {
        for (const task of tasks) work.nudge(task.at);
        if (events === 0) return;
        follower.wake(tenant);
        announcer.announce(tenantKey(tenant));
      },
    });
    closing.push(() => committer.idle());

    const acquirer = createSimulatedAcquirer({ database, clock });
    const settlement = createSettlement({ database, committer, acquirer, accounts, onFault });
    const cardPayments = createCardPaymentEngine({ database, committer, accounts, products });
    const productEngine = createProductEngine({ database, committer });
    const access = createAccessEngine({ database, committer, products: productEngine, clock });
    const simulatedBank = createSimulatedBank({ database, clock });
    const bank = given ?? simulatedBank;
    const payouts = createPayoutEngine({ database, committer, accounts, bank, onFault });
    const subaccountSettlement = createSubaccountSettlement({
      database,
      committer,
      bank,
      accounts,
      clock,
      onFault,
    });
    const subaccounts = { ...createSubaccountEngine({ database, committer }), ...subaccountSettlement };
    const sandbox = createSandboxEngine({ database, committer });
    const privateAddresses = config.webhookPrivateAddresses;
    const webhooks = createWebhookEngine({ database, committer, privateAddresses });
    const delivery = createWebhookDelivery({
      database,
      committer,
      clock,
      outsideClock: givenClock,
      send: createSender({ clock, privateAddresses }),
    });
    const wallet = createWalletEngine({ database, onFault });
    const services = {
      access,
      cardPayments,
      payouts,
      products: productEngine,
      sandbox,
      subaccounts,
      wallet,
      webhooks,
    };
    const work = createWorkQueue({
      database,
      clock,
      handlers: {
        ...settlement.tasks,
        ...createPayoutSettlement({ database, committer, bank }).tasks,
        ...delivery.tasks,
        ...subaccountSettlement.tasks,
      },
      apart: WEBHOOK_PLACES,
      onError: (error, task) => log.error({ err: error, task }, 'work failed; it will be done again'),
    });

    const limits = createRootFieldLimits({ perKey: config.graphqlLimit, sql: database.sql, clock });
    const addressOf = createClientAddress(config.trustedProxies);
    const contexts = createContextFactory({
      services,
      access,
      updates: createUpdates({ database, follower, cursorsFor }),
      cursorsFor,
      watchCredential: createCredentialWatch({ access, follower, clock }),
      clock,
      limits,
      publicUrl,
    });
    const yoga = createGraphQLServer({ schema, contexts, addressOf, graphiql: config.demo, onFault });
    const sockets = createGraphQLSockets({
      server: http.server,
      yoga,
      contexts,
      addressOf,
      onFault,
      initTimeoutMs,
    });

    // Only this process has PGlite's folder; whoever manages keys beside it asks here.
    if (database.engine === 'pglite' && config.dataDir !== 'memory')
      closing.push(
        await serveControl({
          dataDir: config.dataDir,
          administration: createAdministration({ database, committer, clock }),
          log,
        }),
      );

    const operations = [
      ...createWalletRoutes({ wallet }),
      ...createPayoutRoutes({ payouts }),
      ...createCardPaymentRoutes({ cardPayments, publicUrl }),
      ...createProductRoutes({ products: productEngine }),
      ...createSandboxRoutes({ sandbox }),
      ...createSubaccountRoutes({ subaccounts }),
    ];

    const hostedPayments = { ...cardPayments, ...settlement };
    const levers = {
      ...createWalletLevers({ database, committer, cardPayments: cardPaymentRecords }),
      ...sandbox,
    };

    await follower.start();
    work.start();
    closing.push(() => work.close());
    http.serve([
      graphqlRoute(yoga),
      ...createCheckoutRoutes({ checkout: settlement, clock, publicUrl, testCards: TEST_CARDS }),
      ...createDocsRoutes({ operations, publicUrl }),
      ...createRestRoutes({
        operations,
        access,
        takeRequest: createRequestLimit({ sql: database.sql, clock }),
        clock,
        onFault,
      }),
      widgetRoute(),
      ...createHealthRoutes({ isReady: () => answers(database) }),
      ...createMetricsRoutes(),
      ...(config.demo
        ? createDemoRoutes({ tenant: await firstTenant(database.sql), access, payouts, clock, publicUrl })
        : []),
      ...(simulatedClock
        ? createSimulatorRoutes({
            publicUrl,
            levers: createLevers({
              bank: simulatedBank,
              payouts,
              subaccounts,
              cardPayments: hostedPayments,
              wallet: levers,
              testPayments: sandbox,
            }),
            wallet,
            clock: simulatedClock,
            nextDueAt: () => nextDue(database.sql),
            accounts: () => selectAccountNames(database.sql),
          })
        : []),
    ]);
    closing.push(() => Promise.all([sockets.close(), http.close()]));
    return {
      url: publicUrl,
      port,
      demo: config.demo,
      firstKeys,
      work,
      database,
      cardPayments: hostedPayments,
      levers,
      subaccounts,
      close,
    };
  } catch (error) {
    await close();
    await http.close();
    throw error;
  }
}

/**
 * One NOTIFY at a time: what is committed while one is under way, by whichever tenant, is covered by the next. Each is
 * a transaction with a flush of its own.
 */
function createAnnouncer(database: Database, onError: (error: unknown) => void) {
  const waiting = new Set<string>();
  let underWay: Promise<void> | null = null;
  async function announceAll() {
    while (waiting.size > 0) {
      const keys = [...waiting];
      waiting.clear();
      await database.notify(STREAM_CHANNEL, ...keys).catch(onError);
    }
    underWay = null;
  }
  return {
    announce(key: string) {
      waiting.add(key);
      underWay ??= announceAll();
    },
    /** Resolves when everything is told. */
    idle: async () => underWay,
  };
}

async function answers(database: Database): Promise<boolean> {
  return database.sql
    .selectFrom('account')
    .select('id')
    .limit(1)
    .execute()
    .then(
      () => true,
      () => false,
    );
}
