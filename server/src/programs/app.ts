import { createAdministration, findManagedAccount, findNamedAccount } from '../access/administration.ts';
import { tokens } from '../access/collections.ts';
import { createRecentCallers, type RecentCallers } from '../access/recent-callers.ts';
import { firstTenant, payoutSettingsOf, prepareToken, subaccountFeesOf } from '../access/service.ts';
import { createSessionService } from '../access/session-service.ts';
import { isLiveKey } from '../access/session-store.ts';
import type { ServicesFor } from '../api/graphql/services.ts';
import { createClientAddress } from '../api/http/client-address.ts';
import { createExportRoute } from '../api/http/exports/routes.ts';
import { iconRoute } from '../api/http/icon.ts';
import { assertAvailable } from '../api/http/listen.ts';
import { createHttpServer, type Deadlines } from '../api/http/server.ts';
import { widgetRoute } from '../api/http/widget-files.ts';
import { createDayCounts } from '../api/limits/day-counts.ts';
import { createExportLimits } from '../api/limits/exports.ts';
import { createFileSlots } from '../api/limits/open-slots.ts';
import { createRequestLimit } from '../api/limits/requests.ts';
import { createRootFieldLimits } from '../api/limits/root-fields.ts';
import { createStrangerLimits } from '../api/limits/strangers.ts';
import { createOpenSubscriptions } from '../api/limits/subscriptions.ts';
import { createContextFactory } from '../api/operations/caller-context.ts';
import { createPersistedDocuments } from '../api/operations/persisted-documents.ts';
import { graphqlRoute, startingRoute } from '../api/operations/route.ts';
import { readTrustedDocuments } from '../api/operations/trusted-manifest.ts';
import { createGraphQLSockets } from '../api/operations/websocket.ts';
import { createGraphQLServer } from '../api/operations/yoga.ts';
import { createStoreAdministration, createStoreService } from '../catalogue/store/service.ts';
import { type Clock, createOffsetClock, createShiftableClock, plusMs } from '../kernel/clock.ts';
import { createCursors } from '../kernel/cursor.ts';
import type { Behind } from '../kernel/records.ts';
import type { Requester } from '../kernel/requester.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import { createTokenAdministration } from '../money-in/card-payments/tokens/service.ts';
import { createLtcControls } from '../money-in/ltc/service.ts';
import { ltcPayments } from '../money-in/payments/collections.ts';
import { createBatchSending } from '../money-out/payouts/batch-sending.ts';
import { createPayoutBatches } from '../money-out/payouts/batch-service.ts';
import type { Bank } from '../rails/bank.ts';
import type { CommittedOfTenant } from '../state/commit/commit.ts';
import { createCommitter } from '../state/commit/committer.ts';
import type { Database, Sql } from '../state/db/database.ts';
import type { Log } from '../state/db/log.ts';
import { migrate, newestMigration } from '../state/db/migrate.ts';
import { openDatabase } from '../state/db/open.ts';
import type { StartingPglite } from '../state/db/pglite-backend.ts';
import { createRecords } from '../state/db/records.ts';
import { followDatabaseTime } from '../state/db/time.ts';
import { readAnnouncement, STREAM_CHANNEL } from '../state/events/announcement.ts';
import { createAnnouncer } from '../state/events/announcer.ts';
import { createCredentialWatch } from '../state/events/credential.ts';
import { createLogTailer } from '../state/events/log-tailer.ts';
import { createUpdates } from '../state/events/subscribe.ts';
import { SlowConsumerError } from '../state/events/subscription.ts';
import { createWorkQueue, type Lane, type WorkQueue } from '../state/work/queue.ts';
import { nextDue, selectBacklog } from '../state/work/store.ts';
import { createWebhookAdministration } from '../webhooks/administration.ts';
import { createWebhookEndpoints } from '../webhooks/endpoint-service.ts';
import { countEndpoints } from '../webhooks/endpoint-store.ts';
import { DELIVER, DELIVER_FURTHER } from '../webhooks/model.ts';
import { webhookOutbox } from '../webhooks/outbox.ts';
import { createSender } from '../webhooks/sender.ts';
import { createWebhookService } from '../webhooks/service.ts';
import { createWebhookTests } from '../webhooks/test-service.ts';
import type { Config } from './config/config.ts';
import { offeredActions } from './console/offered.ts';
import { createConsoleRoutes } from './console/routes.ts';
import { createDoubts } from './modes/doubts.ts';
import { createExports, snapshots } from './modes/parts.ts';
import type { UpstreamTuning } from './modes/remote.ts';
import type { EmbeddedServices, Runtime } from './modes/runtime.ts';
import { schema } from './modes/schema.ts';
import { createUpstreamCheck } from './modes/upstream-check.ts';
import { serveAdminSocket } from './ops/admin-socket.ts';
import { createArchiveSource } from './ops/archive/source.ts';
import { copyFolder } from './ops/backup.ts';
import { createErasureSteps } from './ops/erasure/steps.ts';
import { createFaultLog } from './ops/fault-log.ts';
import { createHealthRoutes } from './ops/health.ts';
import { createMetrics } from './ops/metrics.ts';
import { createMetricsRoutes } from './ops/metrics-route.ts';
import { createReadiness, type Readiness } from './ops/readiness.ts';
import { createFieldLog, createRequestLog } from './ops/request-log.ts';
import { startTraces } from './ops/traces.ts';
import { openRetention } from './retention/service.ts';
import { selectVerified } from './verify/store.ts';
import { createVerifier } from './verify/verifier.ts';

/** The number of listeners of a tenant that are served faster than other instances are notified. */
const FEW_LISTENERS = 20;

export interface App {
  readonly url: string;
  /** The port that the server listens on; behind a proxy, `url` has another one. */
  readonly port: number;
  readonly demo: boolean;
  readonly console: Config['console'];
  /** The keys of the first account, if this start created it; they are shown only once. */
  readonly firstKeys: { live: string; sandbox: string } | null;
  /** The mark of records that were set back, as it was at this start. */
  readonly behind: Behind | null;
  /** Whether nothing is removed because `PSA_KEEP` is not set, and the database had events before that variable. */
  readonly keepsOlder: boolean;
  readonly work: WorkQueue;
  readonly database: Database;
  /** Creates the services that the GraphQL layer calls. */
  readonly servicesFor: ServicesFor;
  /** The number of queries that the fast path has answered. */
  fastAnswers(): number;
  /** Operations of the embedded service that no client can call; null in remote mode. */
  readonly embedded: EmbeddedServices | null;
  /**
   * Reports that the server is not ready, and continues to serve until the proxies have noticed; then accepts
   * no more connections, and waits until the proxies have closed their idle ones. `close` follows.
   */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** The requester of exports, which say of all their rows alone whether they are another service's, and of the console. */
const MERCHANT: Requester = { priority: 'merchant', subject: null, onRead: () => undefined };

/** A proxy closes its idle connections within this time, if it is configured as in `server/docs/operate.md`. */
const PROXY_IDLE_MS = 2_500;

/** An account whose receivers hang at many hosts delays its own other webhooks only if it has more than 64 attempts under way. */
const WEBHOOK_POOL: Lane = {
  kinds: [DELIVER, DELIVER_FURTHER],
  ...{ slots: 200, slotsPerTenant: 8, slotsWhileFree: 64 },
};

/** Parts and limits that a test or a benchmark replaces. In production it is empty. */
export interface Testing {
  /** Opens the database; a test may return an open one. */
  open?: typeof openDatabase;
  /** Replaces the simulated bank, which keeps its records in the database of the server. */
  bank?: Bank;
  /** The time that a WebSocket client has for its first message. */
  initTimeoutMs?: number;
  /** The time that a WebSocket client has to answer the closing handshake. */
  closeTimeoutMs?: number;
  /** The times that an HTTP client has. */
  deadlines?: Partial<Deadlines>;
  /** The limit of requests a minute on `/v1` and at the console, in place of the document's, which fast tests and benchmarks exceed. */
  restLimit?: number | undefined;
  /** The limit of requests without a known credential, and of card forms, a minute from one network. */
  strangerLimit?: number | undefined;
  /** The number of answers to a query before it is compiled. */
  compileAfter?: number | undefined;
  upstreamTuning?: UpstreamTuning;
  /** Whether the gauges that the database is read for are watched; so by default. */
  readsGauges?: boolean;
  /** The folder of the migrations; a test of an upgrade has one of a later version. */
  migrations?: string | undefined;
}

/**
 * Starts the whole server: opens and migrates the database, and wires the configured mode: the embedded service, or a
 * facade in front of another. It listens only when it can answer, because a proxy sends requests to every open port; with
 * port 0 it listens at once, because nobody knows the port yet.
 * @throws the error that keeps it from running: of the address, the data folder, the database or a migration
 */
export async function createApp({
  config,
  clock: givenClock,
  log,
  onFatal,
  pglite,
  databaseTime,
  testing = {},
}: {
  config: Config;
  clock: Clock;
  log: Log;
  onFatal: (error: Error) => void;
  /** A PGlite that has started while this module was loaded. A server that has opened it closes it. */
  pglite?: StartingPglite | undefined;
  /** Reads the time that all instances share. Without it `clock` is not adjusted, and a test can move it. */
  databaseTime?: ((sql: Sql) => Promise<Date>) | undefined;
  testing?: Testing;
}): Promise<App> {
  const { open = openDatabase, initTimeoutMs, closeTimeoutMs, migrations } = testing;
  const documents = createPersistedDocuments({
    trusted: readTrustedDocuments(config.trustedDocuments.manifests),
    only: config.trustedDocuments.only,
  });
  const sharedClock = createOffsetClock(givenClock);
  const shiftable = config.demo && !config.upstream ? createShiftableClock(sharedClock) : null;
  const clock = shiftable ?? sharedClock;
  const metrics = createMetrics(clock);
  const fields = createFieldLog({ metrics, log, slowMs: config.logSlowMs });
  const logFault = createFaultLog({ log, clock: givenClock, onOutage: metrics.onOutage });
  const onFault = (fault: unknown) => logFault(fault, fields.operationOf(fault), 'an internal fault');
  const onRequest = createRequestLog({ metrics, clock: givenClock, log, slowMs: config.logSlowMs });
  const http = createHttpServer({
    onFault,
    onRequest(request, response) {
      // A facade in front of this server compares the times of resources with this date.
      if (shiftable && shiftable.offsetMs() > 0) response.setHeader('date', shiftable.now().toUTCString());
      return onRequest(request, response);
    },
    starting: [startingRoute()],
    deadlines: testing.deadlines,
  });
  const listensEarly = config.port === 0;
  // Checked before a first start creates keys that it could not show.
  if (!listensEarly) await assertAvailable(config.port, config.host);
  const port = listensEarly ? await http.listen(config.port, config.host) : config.port;
  const publicUrl = config.publicUrl ?? `http://localhost:${port}`;
  let draining = false;
  const closing: (() => Promise<unknown>)[] = [];
  // In reverse order of opening: the connections, then the work in flight, then the data.
  const close = async () => {
    for (const step of closing.splice(0).reverse()) await step();
  };

  try {
    if (config.traces) closing.push(await startTraces({ config: config.traces, clock: givenClock, log }));
    const knownMigration = newestMigration(migrations);
    let readiness: Readiness | undefined;
    const meter = { ...metrics, onRefusedWrite: () => void readiness?.isReady() };
    const database = await open({ ...config, clock, log, onFatal, pglite, meter, knownMigration });
    closing.push(() => database.close());
    const { takesWrites } = database;
    readiness = createReadiness({ takesWrites, clock: givenClock, log });
    closing.push(readiness.close);
    // PGlite runs in this process, so its time is the machine's.
    if (databaseTime && database.engine === 'postgres') {
      const readTime = () => databaseTime(database.sql);
      closing.push(await followDatabaseTime({ clock: sharedClock, base: givenClock, readTime, log }));
    }
    let callers: RecentCallers | undefined;
    const onAnnounced = (payload: string) => {
      const { key, mayHave } = readAnnouncement(payload);
      if (mayHave('credential')) callers?.revoked(key);
    };
    // Before the migration: LISTEN takes the lock that prevents a newer server's migration from dropping what
    // this server uses.
    closing.push(await database.listen(STREAM_CHANNEL, onAnnounced));
    await migrate(database, migrations);
    const records = createRecords({ database, clock, log });
    await records.behind();

    const tailer = createLogTailer({
      database,
      snapshots,
      clock,
      onError: onFault,
      onDelivered: ({ occurredAt }, listeners) =>
        metrics.onDelivered(clock.ms() - occurredAt.getTime(), listeners),
    });
    closing.push(() => tailer.close());
    const announcer = createAnnouncer({ database, clock, onError: onFault });
    closing.push(() => announcer.idle());
    let work: WorkQueue | undefined;
    const committer = createCommitter({
      database,
      clock,
      // In remote mode the upstream service sends the webhooks.
      ...(config.upstream ? {} : { outbox: webhookOutbox }),
      onGroup: metrics.onGroup,
      onCommit(committed) {
        const appended = committed.filter(({ events }) => events.length > 0);
        for (const { tenant, events } of appended)
          if (events.some(({ resource }) => resource === 'credential')) callers?.revoked(tenantKey(tenant));
        // The shorter step first: see FEW_LISTENERS.
        const later: CommittedOfTenant[] = [];
        for (const each of appended)
          if (tailer.listenerCount(each.tenant) > FEW_LISTENERS) later.push(each);
          else tailer.wake(each.tenant, each);
        announcer.announce(appended);
        for (const each of later) tailer.wake(each.tenant, each);
        for (const event of appended.flatMap(({ events }) => events))
          if (event.resource === 'delivery')
            metrics.onContent(event.kind === 'delivery.delivered' ? 'delivered' : 'out_of_stock');
        for (const each of committed.flatMap(({ ended }) => ended)) work?.ended(each);
        for (const task of committed.flatMap(({ tasks }) => tasks)) work?.wake(task);
      },
    });
    closing.push(() => committer.idle());

    const { service, keepsOlder, ...retention } = await openRetention({
      ...{ database, clock, onFault, keep: config.keep, onRemoved: metrics.onRemoved },
    });
    const base = {
      ...{ config, database, committer, clock, records, publicUrl, metrics, onFault },
      retention: service,
    };
    // The code of the other mode is not loaded.
    let runtime: Runtime;
    if (config.upstream) {
      const { createRemoteRuntime } = await import('./modes/remote.ts');
      const { upstreamTuning: tuning } = testing;
      runtime = await createRemoteRuntime({ ...base, upstreamConfig: config.upstream, tuning });
    } else {
      const { createEmbeddedRuntime } = await import('./modes/embedded.ts');
      const { bank } = testing;
      runtime = await createEmbeddedRuntime({
        ...base,
        shiftable,
        realClock: sharedClock,
        bank,
      });
    }
    closing.push(() => runtime.close());
    const payouts = () => runtime.servicesFor(MERCHANT).payouts;
    const payoutBatches = createPayoutBatches({
      ...{ database, committer, clock, payouts },
      settingsOf: config.upstream ? null : (tenant) => payoutSettingsOf(database.sql, tenant),
      newestGap: records.newestGap,
    });
    const batchSending = createBatchSending({
      ...{ database, committer, payouts, log, now: clock.now },
      isLiveKey: (keyId) => isLiveKey(database.sql, keyId),
      newestGap: records.newestGap,
      endsAfterRestore: config.upstream !== null,
    });
    work = createWorkQueue({
      database,
      clock,
      handlers: { ...runtime.tasks, ...retention.tasks, ...batchSending.tasks },
      pool: WEBHOOK_POOL,
      onError(error, task) {
        // A lease is a random UUID, which could be taken for a PIX key, and means nothing to a reader.
        const { lease: _, ...shown } = task ?? {};
        logFault(error, { task: task && shown }, 'task failed; it will be retried');
      },
      onTask: metrics.onTask,
    });

    const limits = createRootFieldLimits({ perKey: config.graphqlLimit, sql: database.sql, clock });
    closing.push(() => limits.release().catch(onFault));
    const strangers = createStrangerLimits({ sql: database.sql, clock, perMinute: testing.strangerLimit });
    closing.push(() => strangers.release().catch(onFault));
    const requestsOf = createDayCounts({ sql: database.sql, clock });
    closing.push(requestsOf.release);
    const takeRequest = createRequestLimit({
      ...{ sql: database.sql, clock, limit: testing.restLimit },
      count: requestsOf.count,
    });
    const openFile = createFileSlots();
    const addressOf = createClientAddress(config.trustedProxies);
    const cursorsFor = createCursors(runtime.cursorKey);
    callers = createRecentCallers({ access: runtime.access, strangers, clock });
    const updates = runtime.updates(createUpdates({ database, tailer, cursorsFor }));
    const watchCredential = createCredentialWatch({ access: runtime.access, tailer, clock, onFault });
    const exportLimits = createExportLimits({ sql: database.sql, clock });
    closing.push(() => exportLimits.release().catch(onFault));
    const contexts = createContextFactory({
      servicesFor: runtime.servicesFor,
      access: callers,
      updates,
      cursorsFor,
      watchCredential,
      clock,
      limits,
      subscriptionLimits: createOpenSubscriptions({ perTenant: config.subscriptionLimit }),
      publicUrl,
      upstream: runtime.upstream ?? undefined,
      onRootField: fields.onRootField,
      onSubscriber(transport, topic) {
        const onEnd = metrics.onSubscriber(transport, topic);
        return (failure) => onEnd(failure instanceof SlowConsumerError);
      },
    });
    const graphql = createGraphQLServer({
      schema,
      contexts,
      addressOf,
      documents,
      onFault,
      compileAfter: testing.compileAfter,
      graphiql: config.demo,
      fastPath: config.fastPath,
    });
    const sockets = createGraphQLSockets({
      server: http.server,
      graphql,
      contexts,
      addressOf,
      documents,
      onFault,
      initTimeoutMs,
      closeTimeoutMs,
    });

    // Only this process can open PGlite's folder, so the psa command sends it its operations and backups.
    const { dataDir } = config;
    if (database.engine === 'pglite' && dataDir !== 'memory') {
      const verifier = createVerifier({ database, clock: sharedClock, isFacade: config.upstream !== null });
      closing.push(
        await serveAdminSocket({
          dataDir,
          copyFiles: async () => database.copyFiles?.(copyFolder(dataDir).files),
          administration: {
            ...createAdministration({ database, committer, clock }),
            ...createTokenAdministration({
              ...{ database, committer, clock, credentials: tokens },
              behind: config.upstream ? records.behind : undefined,
            }),
            ...createLtcControls({ database, committer, family: ltcPayments }),
            ...createDoubts({ database, committer, clock }),
            ...createUpstreamCheck({ database, clock, upstreamConfig: config.upstream }),
            ...records,
            ...createStoreAdministration({
              store: createStoreService({ database, committer }),
              findAccount: (id) => findManagedAccount(database.sql, id),
            }),
            ...createWebhookAdministration({
              database,
              webhooks: createWebhookService({
                ...{ database, committer, clock },
                privateAddresses: config.webhookPrivateAddresses,
              }),
              endpoints: createWebhookEndpoints({
                ...{ database, committer, clock },
                privateAddresses: config.webhookPrivateAddresses,
              }),
              tests: createWebhookTests({
                ...{ database, clock },
                send: createSender({ clock, privateAddresses: config.webhookPrivateAddresses }),
              }),
              findAccount: (id) => findNamedAccount(database.sql, id),
            }),
            ...createArchiveSource({ database, clock }),
            ...verifier,
            ...createErasureSteps({ database, clock }),
          },
          log,
        }),
      );
      // Before the socket, which waits for what was asked.
      closing.push(async () => verifier.stop());
    }

    if (testing.readsGauges ?? true)
      closing.push(
        metrics.watch({
          info: { mode: config.upstream ? 'remote' : 'embedded', engine: database.engine },
          connections: () => database.connections(),
          unready: readiness.cause,
          behind: records.lastKnown,
          async backlog() {
            await records.behind();
            return selectBacklog(database.sql, clock.now());
          },
          verified: () => selectVerified(database.sql),
          endpoints: () => countEndpoints(database.sql),
        }),
      );
    const routes = await runtime.routes({
      nextDueAt: () => nextDue(database.sql, Object.keys(runtime.tasks)),
      callers,
      addressOf,
      strangers,
      takeRequest,
      openFile,
    });
    await tailer.start();
    // A task may wait for a service that does not answer, so it ends together with its requests.
    closing.push(() => Promise.all([work?.close(), runtime.close()]));
    // In front of another service the keys come from the configuration, and the fees are that service's.
    const consoleOfMode = {
      keys: config.upstream ? null : createAdministration({ database, committer, clock }),
      subaccountFees: config.upstream ? null : (tenant: Tenant) => subaccountFeesOf(database.sql, tenant),
    };
    const consoleOperations = () => {
      // Those of a facade are getters, which a spread does not copy.
      const services = runtime.servicesFor(MERCHANT);
      const { access, refunds, disputes, subscriptions, products, deliveries, subaccounts, payouts } =
        services;
      const { cardPayments, payments, charges } = services;
      const { webhooks, webhookEndpoints, webhookTests, webhookRedeliveries } = services;
      return {
        ...{ access, refunds, disputes, subscriptions, products, deliveries, subaccounts },
        ...{ cardPayments, payments, charges },
        ...{ webhooks, webhookEndpoints, webhookTests, webhookRedeliveries },
        ...{ payouts, payoutBatches },
        ...consoleOfMode,
        disputeFiles: runtime.embedded?.disputeFiles ?? null,
      };
    };
    http.serve([
      graphqlRoute(graphql),
      widgetRoute(),
      iconRoute(),
      ...createHealthRoutes({
        isReady: async () => !draining && (await readiness.isReady()),
        cause: readiness.cause,
        records,
        upstream: runtime.upstream ?? undefined,
      }),
      ...createMetricsRoutes(metrics.registry, runtime.upstreamMetrics),
      createExportRoute({
        createExports: () => createExports(runtime.servicesFor(MERCHANT)),
        isExact: !config.upstream,
        updatesCursor: updates.cursor,
        ...{ cursorsFor, access: callers, addressOf, watchCredential, limits: exportLimits, onFault },
        isFree: (caller) => documents.allows('nobody', caller),
      }),
      ...(config.console === 'off'
        ? []
        : createConsoleRoutes({
            open: config.console === 'open' ? await firstTenant(database.sql) : null,
            access: runtime.access,
            sessions: createSessionService({ database, committer, clock, prepare: prepareToken }),
            // Everybody who reaches an open console in front of another service would move real money.
            operations: config.console === 'open' && config.upstream ? null : consoleOperations,
            offered: offeredActions(config.upstream?.families ?? null),
            isFacade: Boolean(config.upstream),
            requestsToday: requestsOf.today,
            documents: { graphiql: config.demo, rest: !config.upstream },
            refusedKeys: () => runtime.upstream?.().refusedKeys ?? [],
            ...{ callers, addressOf, strangers, takeRequest, openFile, cursorsFor, clock, log, publicUrl },
          })),
      ...routes,
    ]);
    closing.push(() => Promise.all([sockets.close(), http.close()]));
    if (!listensEarly) await http.listen(config.port, config.host);
    work.start();
    closing.push(await retention.start());
    return {
      url: publicUrl,
      port,
      demo: config.demo,
      console: config.console,
      firstKeys: runtime.firstKeys,
      behind: records.lastKnown(),
      keepsOlder,
      work,
      database,
      servicesFor: runtime.servicesFor,
      fastAnswers: () => graphql.fastPath?.answers() ?? 0,
      embedded: runtime.embedded,
      async drain() {
        if (config.drainMs === 0) return;
        draining = true;
        http.endKeepAlive();
        await wait(givenClock, config.drainMs);
        await http.stopListening();
        await wait(givenClock, PROXY_IDLE_MS);
      },
      close,
    };
  } catch (error) {
    await close();
    await http.close();
    throw error;
  }
}

function wait(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.schedule(plusMs(clock.now(), ms), resolve);
  });
}
