import { bootstrapRemote } from '../../access/administration.ts';
import { accounts, tokens } from '../../access/collections.ts';
import { createAccessService, createTokenMint, firstTenant, prepareToken } from '../../access/service.ts';
import type { Requester } from '../../kernel/requester.ts';
import type { Environment, Tenant } from '../../kernel/tenant.ts';
import type { MirroredResource } from '../../kernel/upstream-family.ts';
import { createRemoteCardPayments } from '../../money-in/card-payments/remote/service.ts';
import { createRemoteCheckoutTokens } from '../../money-in/card-payments/remote/token-service.ts';
import { createCheckoutTokenService } from '../../money-in/card-payments/tokens/service.ts';
import { selectMintedAt, selectPausedTokens } from '../../money-in/card-payments/tokens/store.ts';
import { createRemotePayments } from '../../money-in/payments/remote/service.ts';
import { createRequestsInDoubt } from '../../requests/remote/service.ts';
import type { Updates } from '../../state/events/subscribe.ts';
import { createBudget } from '../../upstream/budget/budget.ts';
import { createUpstream, type UpstreamTimeouts } from '../../upstream/client.ts';
import type { UpstreamDependencies } from '../../upstream/dependencies.ts';
import { createIntents } from '../../upstream/intents/coordinator.ts';
import type { RequestKind } from '../../upstream/intents/operations.ts';
import { createRequestKeys } from '../../upstream/intents/request-keys.ts';
import { selectAllUnresolved } from '../../upstream/intents/store.ts';
import { kindOf } from '../../upstream/intents/transitions.ts';
import type { Correction } from '../../upstream/mirror.ts';
import { createMirrorWriter } from '../../upstream/mirror-writer.ts';
import { createPoller, type Poller } from '../../upstream/poller.ts';
import { createReads } from '../../upstream/reads.ts';
import { redactionOf } from '../../upstream/secrets.ts';
import { createServiceClock } from '../../upstream/service-clock.ts';
import { createBulkRedelivery } from '../../webhooks/bulk-service.ts';
import { createWebhookDelivery } from '../../webhooks/delivery.ts';
import { createWebhookEndpoints } from '../../webhooks/endpoint-service.ts';
import { createHeldDelivery } from '../../webhooks/held-delivery.ts';
import { createReceiver, RECEIVE_PATH } from '../../webhooks/receive.ts';
import { createWebhookRedelivery } from '../../webhooks/redelivery.ts';
import {
  createRemoteEndpoints,
  createRemoteRedeliveries,
  createRemoteTests,
  createRemoteWebhooks,
} from '../../webhooks/remote/service.ts';
import { createSender } from '../../webhooks/sender.ts';
import { createWebhookService } from '../../webhooks/service.ts';
import { createWebhookTests } from '../../webhooks/test-service.ts';
import type { UpstreamConfig } from '../config/config.ts';
import { createDemoRoutes } from '../demo/routes.ts';
import { createUpstreamMetrics } from '../ops/upstream-metrics.ts';
import { createRemote, type Mirrored, MONEY_READERS } from './parts.ts';
import { createServicesFor } from './requester-services.ts';
import type { Runtime, RuntimeDependencies } from './runtime.ts';

/** Timeouts and waits that a test or a benchmark, which cannot wait for minutes, shortens. */
export interface UpstreamTuning {
  timeouts?: Partial<UpstreamTimeouts>;
  /** The largest difference between the clocks of two instances. */
  skewMs?: number;
  /** A factor of the waits between lookups of an unknown outcome. */
  pace?: number;
  /** The time in which what queries have seen gathers before it is written. */
  gatherMs?: number;
}

/**
 * Creates a facade of the service: the same port over HTTP, within its budget, with a mirror of the states
 * that the service has shown.
 */
export async function createRemoteRuntime({
  config,
  upstreamConfig,
  tuning: { timeouts, skewMs, pace, gatherMs } = {},
  database: ownDatabase,
  committer: ownCommitter,
  clock,
  records,
  retention,
  publicUrl,
  metrics,
  onFault,
}: RuntimeDependencies & {
  upstreamConfig: UpstreamConfig;
  tuning: UpstreamTuning | undefined;
}): Promise<Runtime> {
  const upstreamMetrics = createUpstreamMetrics();
  let createdPoller: Poller | null = null;
  const pollNow: UpstreamDependencies['pollNow'] = (tenant, resource) =>
    createdPoller?.pollNow(tenant, resource);
  const mirrorWriter = createMirrorWriter({
    database: ownDatabase,
    committer: ownCommitter,
    clock,
    gatherMs,
    onMoved: (tenant) => pollNow(tenant, 'wallet'),
    onCorrection(correction) {
      upstreamMetrics.onCorrection(correction.resource);
      onFault(new Error(describeCorrection(correction)));
    },
    onFault,
  });
  const { database, committer } = mirrorWriter;
  const { accountId, cursorKey } = await bootstrapRemote({
    database,
    committer,
    clock,
    upstream: upstreamConfig,
  });
  const tenantOf = (environment: Environment): Tenant => ({ accountId, environment });
  const { requestsPerMinute, windowMs } = upstreamConfig;
  const budget = createBudget({
    // A request does not wait for what others were shown.
    database: ownDatabase,
    clock,
    limit: requestsPerMinute,
    windowMs,
    accountKey: accountId,
    ...(skewMs === undefined ? {} : { skewMs }),
    onFault,
  });
  const { webhookSecrets } = upstreamConfig;
  const redaction = redactionOf(upstreamConfig);
  const serviceClock = createServiceClock(clock);
  const upstream = createUpstream({
    redaction,
    url: upstreamConfig.url,
    keys: upstreamConfig.keys,
    budget,
    clock,
    serviceClock,
    ...(timeouts ? { timeouts } : {}),
    onOutcome: upstreamMetrics.onOutcome,
    onTurn: upstreamMetrics.onTurn,
    onFault,
  });
  upstreamMetrics.watch(upstream);
  const requestKinds: Record<string, RequestKind> = {};
  const intents = createIntents({
    database,
    clock,
    committer,
    records,
    kinds: requestKinds,
    ...(pace === undefined ? {} : { pace }),
    onFault,
  });
  upstreamMetrics.watchDoubts(
    async () =>
      (await selectAllUnresolved(database.sql, 1_000)).map(({ intent }) => {
        const operation = kindOf(intent);
        // An operator must also see requests of kinds that only another version knows.
        const { movesMoney = false } = requestKinds[operation] ?? { movesMoney: true };
        return { operation, movesMoney, requestedAt: intent.createdAt };
      }),
    () => clock.now(),
  );
  const dependencies: UpstreamDependencies = {
    database,
    committer,
    mirrorWriter,
    records,
    clock,
    upstream,
    serviceClock,
    reads: createReads({ upstream, clock, onRead: upstreamMetrics.onRead }),
    intents,
    families: new Set(upstreamConfig.families),
    pollNow,
    onFault,
  };

  const remote: ReturnType<typeof createRemote> = createRemote({
    ...dependencies,
    moneyReaders: MONEY_READERS,
    readWallet: (tenant) => remote.slices.wallet.current(tenant, { priority: 'money' }),
  });
  const { products } = remote.slices;
  const privateAddresses = config.webhookPrivateAddresses;
  const hasManifest = config.trustedDocuments.manifests.length > 0;
  const receiving = {
    callbackUrl: publicUrl.startsWith('https://') ? publicUrl + RECEIVE_PATH : null,
    findProduct: (tenant: Tenant, id: string, requester: Requester) =>
      products.serviceFor(requester).find(tenant, id),
    privateAddresses,
  };
  const cardPayments: ReturnType<typeof createRemoteCardPayments> = createRemoteCardPayments({
    ...dependencies,
    ...receiving,
    refreshOther: (...started) => payments.refreshUnpaid(...started),
  });
  const payments = createRemotePayments({
    ...dependencies,
    ...receiving,
    refreshOther: cardPayments.refreshUnpaid,
  });
  // A webhook belongs to the first reader that recognizes it.
  const mirrored: Record<MirroredResource, Mirrored> = {
    card_payment: cardPayments,
    payment: payments,
    ...remote.mirrored,
  };
  for (const { requests } of [...Object.values<Partial<Mirrored>>(remote.slices), cardPayments, payments])
    Object.assign(requestKinds, requests);
  const poller = createPoller({ clock, slices: mirrored, onFault });
  createdPoller = poller;

  const webhooks = createRemoteWebhooks(
    createWebhookService({ database, committer, clock, privateAddresses }),
  );
  const webhookRedeliveries = createRemoteRedeliveries(createBulkRedelivery({ database, committer }));
  const redelivery = createWebhookRedelivery({ database, committer });
  const held = createHeldDelivery({ database, committer });
  const webhookEndpoints = createRemoteEndpoints(
    createWebhookEndpoints({ database, committer, clock, privateAddresses }),
    { receivesAt: publicUrl + RECEIVE_PATH },
  );
  const receiver = createReceiver({
    database,
    committer,
    clock,
    secrets: webhookSecrets,
    redaction,
    publicUrl,
    tenantOf: (environment) =>
      upstreamConfig.keys[environment] === undefined ? null : tenantOf(environment),
    claimReaders: Object.values(mirrored).flatMap(({ readWebhook = [] }) => readWebhook),
    refresh: (tenant, resource, reference) =>
      mirrored[resource].refresh(tenant, [reference], {
        priority: IS_MONEY.has(resource) ? 'money_read' : 'lookup',
      }),
    pollNow,
    lookUpSoon: intents.lookUpSoon,
    onFault,
  });
  const send = createSender({ clock, privateAddresses });
  const webhookTests = createRemoteTests(createWebhookTests({ database, clock, send }));
  const delivery = createWebhookDelivery({
    database,
    committer,
    clock,
    send,
    relaySecrets: upstreamConfig.webhookSecrets,
    onAttempt: metrics.onWebhook,
    onFault,
  });

  // This server's own credentials, which the service does not know: no caller waits for what another was shown.
  const access = createAccessService({
    database: ownDatabase,
    committer,
    clock,
    hasManifest,
    configuredKeys: upstreamConfig.keys,
  });
  const checkoutTokens = createRemoteCheckoutTokens(
    createCheckoutTokenService({
      database,
      committer,
      accounts,
      clock,
      privateAddresses,
      hasManifest,
      credentials: tokens,
      products: products.serviceFor({ priority: 'merchant', subject: null, onRead: () => undefined }),
      mint: createTokenMint({ database, clock }),
      prepare: prepareToken,
    }),
    {
      families: dependencies.families,
      records,
      mintedAt: (tokenId) => selectMintedAt(database.sql, tokenId),
      listPaused: (tenant, range, behind) =>
        selectPausedTokens(database.sql, { ...range, tenant, behind, now: clock.now() }),
    },
  );
  const requestsInDoubt = createRequestsInDoubt({ intents, kinds: requestKinds });
  const requestKeys = createRequestKeys({ intents, kinds: requestKinds });
  const servicesFor = createServicesFor({
    ...remote.factories,
    access: () => access,
    cardPayments: cardPayments.serviceFor,
    checkoutTokens: () => checkoutTokens,
    payments: payments.serviceFor,
    requestKeys: () => requestKeys,
    requests: () => requestsInDoubt,
    retention: () => retention,
    webhooks: () => webhooks,
    webhookEndpoints: () => webhookEndpoints,
    webhookRedeliveries: () => webhookRedeliveries,
    webhookTests: () => webhookTests,
  });

  return {
    access,
    servicesFor,
    tasks: {
      ...intents.tasks,
      ...receiver.tasks,
      ...delivery.tasks,
      ...redelivery.tasks,
      ...held.tasks,
      ...remote.slices.wallet.tasks,
    },
    updates: (updates) => withPolling(updates, poller, mirrored),
    async routes() {
      if (!config.demo) return receiver.routes;
      const tenant = await firstTenant(database.sql);
      return [
        ...receiver.routes,
        ...createDemoRoutes({
          ...{ tenant, checkoutTokens, clock, publicUrl },
          methods: dependencies.families.has('payments') ? ['card', 'pix'] : ['card'],
          isSimulated: false,
          hasConsole: config.console !== 'off',
        }),
      ];
    },
    upstream: () => upstream.state(),
    upstreamMetrics: upstreamMetrics.registry,
    firstKeys: null,
    cursorKey,
    embedded: null,
    async close() {
      intents.close();
      // A poll that waits for the service ends with the requests to it.
      await Promise.all([poller.close(), upstream.close()]);
      await mirrorWriter.close();
    },
  };
}

function describeCorrection({ resource, id, from, to }: Correction): string {
  return `The payments service has corrected ${resource} ${id} from ${from} to ${to}`;
}

/** The resources of the merchant's money, whose reads no payer's lookups delay. */
const IS_MONEY: ReadonlySet<MirroredResource> = new Set(['payout', 'subaccount_payout', 'wallet']);

/** Polls a mirrored resource while somebody follows it. */
function withPolling(updates: Updates, poller: Poller, mirrored: object): Updates {
  return {
    ...updates,
    subscribe(subscription) {
      const { tenant, topic, onEnd } = subscription;
      const { resource, resourceId = null, resources = resource ? [resource] : [] } = topic;
      const polled = resources.filter((each) => Object.hasOwn(mirrored, each)) as MirroredResource[];
      if (polled.length === 0) return updates.subscribe(subscription);
      const leave = polled.map((each) => poller.join(tenant, each, resourceId));
      return updates.subscribe({
        ...subscription,
        onEnd(failure) {
          for (const each of leave) each();
          onEnd?.(failure);
        },
      });
    },
  };
}
