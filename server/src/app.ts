import { createAdministration } from './access/administration.ts';
import { tokens } from './access/collections.ts';
import { createRecentCallers, type RecentCallers } from './access/recent-callers.ts';
import { createTokenAdministration } from './card-payments/tokens/service.ts';
import { createCommitter } from './commit/commit.ts';
import type { Config } from './config.ts';
import type { Database, Sql } from './db/database.ts';
import type { Log } from './db/log.ts';
import { migrate, newestMigration } from './db/migrate.ts';
import { openDatabase } from './db/open.ts';
import { followDatabaseTime } from './db/time.ts';
import { widgetRoute } from './demo/routes.ts';
import { createCredentialWatch } from './events/credential.ts';
import { announcedTenant, announcement, createLogTailer, STREAM_CHANNEL } from './events/log-tailer.ts';
import { createUpdates } from './events/subscribe.ts';
import { SlowConsumerError } from './events/subscription.ts';
import { createContextFactory } from './graphql/caller-context.ts';
import type { ServicesFor } from './graphql/context.ts';
import { graphqlRoute } from './graphql/route.ts';
import { schema } from './graphql/schema.ts';
import { createGraphQLSockets } from './graphql/websocket.ts';
import { createGraphQLServer } from './graphql/yoga.ts';
import { createClientAddress } from './http/client-address.ts';
import { assertAvailable } from './http/listen.ts';
import { createHttpServer, type Deadlines } from './http/server.ts';
import { type Clock, createOffsetClock, createShiftableClock, plusMs } from './kernel/clock.ts';
import { createCursors } from './kernel/cursor.ts';
import { type Tenant, tenantKey } from './kernel/tenant.ts';
import { createRootFieldLimits } from './limits/root-fields.ts';
import { createStrangerLimits } from './limits/strangers.ts';
import { createOpenSubscriptions } from './limits/subscriptions.ts';
import { createDoubts } from './modes/doubts.ts';
import type { UpstreamTuning } from './modes/remote.ts';
import type { EmbeddedServices, Runtime } from './modes/runtime.ts';
import { snapshots } from './modes/snapshots.ts';
import { serveAdminSocket } from './ops/admin-socket.ts';
import { copyFolder } from './ops/backup.ts';
import { createFaultLog } from './ops/fault-log.ts';
import { createHealthRoutes } from './ops/health.ts';
import { createMetrics, createMetricsRoutes } from './ops/metrics.ts';
import { createFieldLog, createRequestLog } from './ops/request-log.ts';
import { startTraces } from './ops/traces.ts';
import type { Bank } from './rails/bank.ts';
import { webhookOutbox } from './webhooks/outbox.ts';
import { type ConcurrencyPool, createWorkQueue, type WorkQueue } from './work/queue.ts';
import { nextDue, selectBacklog } from './work/store.ts';

/** Up to this many listeners of a tenant are served in less time than the notification of other instances takes. */
const FEW = 20;

export interface App {
  readonly url: string;
  /** Where it listens, which `url` does not tell behind a proxy. */
  readonly port: number;
  readonly demo: boolean;
  /** The first account's keys, where this start has made it; they are shown this once. */
  readonly firstKeys: { live: string; sandbox: string } | null;
  readonly work: WorkQueue;
  readonly database: Database;
  /** The port that the GraphQL layer speaks to. */
  readonly servicesFor: ServicesFor;
  /** How many queries were answered in front of Yoga. */
  fastAnswers(): number;
  /** Operations that no client has; null in front of another service. */
  readonly embedded: EmbeddedServices | null;
  /**
   * Says that it is not ready, and serves on until its proxies have had time to hear that; then takes no more
   * connections, until proxies have let go of those that rest. `close` follows.
   */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** A proxy that keeps connections closes an idle one before this is over, as `server/docs/operate.md` sets it up. */
const LET_GO_MS = 2_500;

const WEBHOOK_POOL: ConcurrencyPool = { kinds: ['webhook.deliver'], slots: 200, slotsPerTenant: 8 };

/** Parts and limits that a test or a benchmark replaces. The server itself is started without any. */
export interface Testing {
  /** A database that is already open. */
  open?: typeof openDatabase;
  /** In place of the simulated one; a benchmark gives one that keeps no books in our database. */
  bank?: Bank;
  /** How long a WebSocket may take until its first message; a test does not wait that long. */
  initTimeoutMs?: number;
  /** And how long to answer when it is closed. */
  closeTimeoutMs?: number;
  /** How long an HTTP client may take. */
  deadlines?: Partial<Deadlines>;
  /** Requests a minute on `/v1`, in place of the document's: a test or a benchmark of what asks fast needs more. */
  restLimit?: number;
  /** Requests without a known credential, and card forms, a minute of one network. */
  strangerLimit?: number | undefined;
  /** How often a query is answered before it is compiled. */
  compileAfter?: number | undefined;
  upstreamTuning?: UpstreamTuning;
  /** A folder in place of this version's own: a test's next version. */
  migrations?: string | undefined;
}

/**
 * The whole server: opens the database, brings it up to date, and wires what the configuration asks for: the service
 * itself, or a facade in front of another. It listens when it can answer, for a proxy sends requests to whatever listens;
 * at once where the port is any that is free, which nobody knows yet.
 * @throws what keeps it from running: the address, the data folder, the database, a migration
 */
export async function createApp({
  config,
  clock: givenClock,
  log,
  onFatal,
  databaseTime,
  testing = {},
}: {
  config: Config;
  clock: Clock;
  log: Log;
  onFatal: (error: Error) => void;
  /** The time that all instances go by. Left out, `clock` goes by itself: a test moves it. */
  databaseTime?: ((sql: Sql) => Promise<Date>) | undefined;
  testing?: Testing;
}): Promise<App> {
  const { open = openDatabase, initTimeoutMs, closeTimeoutMs, migrations } = testing;
  const sharedClock = createOffsetClock(givenClock);
  const shiftable = config.demo && !config.upstream ? createShiftableClock(sharedClock) : null;
  const clock = shiftable ?? sharedClock;
  const metrics = createMetrics(clock);
  const fields = createFieldLog({ metrics, log, slowMs: config.logSlowMs });
  const logFault = createFaultLog({ log, clock: givenClock });
  const onFault = (fault: unknown) => logFault(fault, fields.operationOf(fault), 'an internal fault');
  const http = createHttpServer({
    onFault,
    onRequest: createRequestLog({ metrics, clock: givenClock, log, slowMs: config.logSlowMs }),
    deadlines: testing.deadlines,
  });
  const listensEarly = config.port === 0;
  // Before a first start makes keys that it would not get to show.
  if (!listensEarly) await assertAvailable(config.port, config.host);
  const port = listensEarly ? await http.listen(config.port, config.host) : config.port;
  const publicUrl = config.publicUrl ?? `http://localhost:${port}`;
  let draining = false;
  const closing: (() => Promise<unknown>)[] = [];
  // Last opened, first closed: who is connected, then the work under way, then the data.
  const close = async () => {
    for (const step of closing.splice(0).reverse()) await step();
  };

  try {
    if (config.traces) closing.push(await startTraces({ config: config.traces, clock: givenClock, log }));
    const knownMigration = newestMigration(migrations);
    const database = await open({ ...config, clock, log, onFatal, meter: metrics, knownMigration });
    closing.push(() => database.close());
    // PGlite has this machine's.
    if (databaseTime && database.engine === 'postgres') {
      const readTime = () => databaseTime(database.sql);
      closing.push(await followDatabaseTime({ clock: sharedClock, base: givenClock, readTime, log }));
    }
    let callers: RecentCallers | undefined;
    // Before the tables are looked at: from now on no newer version takes away what this one works on.
    closing.push(
      await database.listen(STREAM_CHANNEL, (payload) => callers?.changed(announcedTenant(payload))),
    );
    await migrate(database, migrations);

    const tailer = createLogTailer({
      database,
      snapshots,
      clock,
      onError: onFault,
      onDelivered: ({ occurredAt }, listeners) =>
        metrics.onDelivered(clock.ms() - occurredAt.getTime(), listeners),
    });
    closing.push(() => tailer.close());
    const announcer = createAnnouncer(database, onFault);
    closing.push(() => announcer.idle());
    let work: WorkQueue | undefined;
    const committer = createCommitter({
      database,
      clock,
      // In front of another service it is that service which announces.
      ...(config.upstream ? {} : { outbox: webhookOutbox }),
      onGroup: metrics.onGroup,
      onCommit(tenant, { tasks, ...appended }) {
        const last = appended.events.at(-1);
        if (last) {
          callers?.changed(tenantKey(tenant));
          // The shorter one first: few listeners take less time than the notification of the other instances.
          const few = tailer.listenerCount(tenant) <= FEW;
          if (few) tailer.wake(tenant, appended);
          announcer.announce(tenant, last.version);
          if (!few) tailer.wake(tenant, appended);
        }
        for (const task of tasks) work?.wake(task.at);
      },
    });
    closing.push(() => committer.idle());

    const base = { config, database, committer, clock, publicUrl, metrics, onFault };
    // The code of the other mode is not loaded.
    let runtime: Runtime;
    if (config.upstream) {
      const { createRemoteRuntime } = await import('./modes/remote.ts');
      const { upstreamTuning: tuning } = testing;
      runtime = await createRemoteRuntime({ ...base, upstreamConfig: config.upstream, tuning });
    } else {
      const { createEmbeddedRuntime } = await import('./modes/embedded.ts');
      const { bank, restLimit } = testing;
      runtime = await createEmbeddedRuntime({
        ...base,
        shiftable,
        realClock: sharedClock,
        bank,
        restLimit,
      });
    }
    closing.push(() => runtime.close());
    work = createWorkQueue({
      database,
      clock,
      handlers: runtime.tasks,
      pool: WEBHOOK_POOL,
      onError(error, task) {
        // A lease is a random UUID, as a PIX key may be, and says nothing to a reader.
        const { lease: _, ...shown } = task ?? {};
        logFault(error, { task: task && shown }, 'work failed; it will be done again');
      },
      onTask: metrics.onTask,
    });

    const limits = createRootFieldLimits({ perKey: config.graphqlLimit, sql: database.sql, clock });
    closing.push(() => limits.release().catch(onFault));
    const strangers = createStrangerLimits({ sql: database.sql, clock, perMinute: testing.strangerLimit });
    closing.push(() => strangers.release().catch(onFault));
    const addressOf = createClientAddress(config.trustedProxies);
    const cursorsFor = createCursors(runtime.cursorKey);
    callers = createRecentCallers({ access: runtime.access, strangers, clock });
    const contexts = createContextFactory({
      servicesFor: runtime.servicesFor,
      access: callers,
      updates: runtime.updates(createUpdates({ database, tailer, cursorsFor })),
      cursorsFor,
      watchCredential: createCredentialWatch({ access: runtime.access, tailer, clock, onFault }),
      clock,
      limits,
      subscriptionLimits: createOpenSubscriptions(config.subscriptionLimit),
      publicUrl,
      upstream: runtime.upstream ?? undefined,
      onRootField: fields.onRootField,
      onSubscriber(transport, topic) {
        const leave = metrics.onSubscriber(transport, topic);
        return (failure) => leave(failure instanceof SlowConsumerError);
      },
    });
    const graphql = createGraphQLServer({
      ...{ schema, contexts, addressOf, onFault, compileAfter: testing.compileAfter },
      graphiql: config.demo,
      fastPath: config.fastPath,
    });
    const sockets = createGraphQLSockets({
      server: http.server,
      graphql,
      contexts,
      addressOf,
      onFault,
      initTimeoutMs,
      closeTimeoutMs,
    });

    // Only this process has PGlite's folder; the psa command asks it to manage keys or to take a backup.
    const { dataDir } = config;
    if (database.engine === 'pglite' && dataDir !== 'memory')
      closing.push(
        await serveAdminSocket({
          dataDir,
          copyFiles: async () => database.copyFiles?.(copyFolder(dataDir).files),
          administration: {
            ...createAdministration({ database, committer, clock }),
            ...createTokenAdministration({ database, committer, clock, credentials: tokens }),
            ...createDoubts({ database, committer, clock }),
          },
          log,
        }),
      );

    closing.push(
      metrics.watch({
        info: { mode: config.upstream ? 'remote' : 'embedded', engine: database.engine },
        connections: () => database.connections(),
        backlog: () => selectBacklog(database.sql, clock.now()),
      }),
    );
    const routes = await runtime.routes({
      nextDueAt: () => nextDue(database.sql),
      ...{ callers, addressOf, strangers },
    });
    await tailer.start();
    closing.push(async () => work?.close());
    http.serve([
      graphqlRoute(graphql),
      widgetRoute(),
      ...createHealthRoutes({
        isReady: async () => !draining && (await database.takesWrites()),
        upstream: runtime.upstream ?? undefined,
      }),
      ...createMetricsRoutes(metrics.registry, runtime.upstreamMetrics),
      ...routes,
    ]);
    closing.push(() => Promise.all([sockets.close(), http.close()]));
    if (!listensEarly) await http.listen(config.port, config.host);
    work.start();
    return {
      url: publicUrl,
      port,
      demo: config.demo,
      firstKeys: runtime.firstKeys,
      work,
      database,
      servicesFor: runtime.servicesFor,
      fastAnswers: () => graphql.fastPath?.answers() ?? 0,
      embedded: runtime.embedded,
      async drain() {
        if (config.drainMs === 0) return;
        draining = true;
        await wait(givenClock, config.drainMs);
        await http.stopListening();
        await wait(givenClock, LET_GO_MS);
      },
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
  /** The newest version of each tenant. */
  const waiting = new Map<string, string>();
  let underWay: Promise<void> | null = null;
  async function announceAll() {
    while (waiting.size > 0) {
      const announcements = [...waiting.values()];
      waiting.clear();
      await database.notify(STREAM_CHANNEL, ...announcements).catch(onError);
    }
    underWay = null;
  }
  return {
    announce(tenant: Tenant, version: number) {
      waiting.set(tenantKey(tenant), announcement(tenant, version));
      underWay ??= announceAll();
    },
    /** Resolves when every notification has been sent. */
    idle: async () => underWay,
  };
}

function wait(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.schedule(plusMs(clock.now(), ms), resolve);
  });
}
