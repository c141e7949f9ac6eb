import type { Clock } from '../kernel/clock.ts';
import { createCoalescedReads } from '../kernel/coalesce.ts';
import { NotFoundError } from '../kernel/errors.ts';
import { withoutExtra } from '../kernel/list-range.ts';
import { tenantKey } from '../kernel/tenant.ts';
import { type Committer, put } from '../state/commit/commit.ts';
import type { Database } from '../state/db/database.ts';
import { selectAttempts, selectExchanges } from './attempt-store.ts';
import { deliveries, ENDPOINT, endpoints } from './collections.ts';
import { decideConfigure } from './endpoint-changes.ts';
import { endpointTable } from './endpoint-store.ts';
import { isFurther, parseChanges, settingsOf, urlsOf } from './endpoints.ts';
import { statusEvents } from './events.ts';
import { attemptAt, type WebhookService } from './model.ts';
import { parseOptionalEvents } from './sent-events.ts';
import { decideRedeliver } from './series.ts';
import { newWebhookSecret } from './signing.ts';
import { countDeliveries, deliveryTable, listDeliveries, selectPayloads } from './store.ts';

/** The webhook service on Postgres: every change is a command to the committer, every read one statement. */
export function createWebhookService({
  database,
  committer,
  clock,
  privateAddresses,
}: {
  database: Database;
  committer: Committer;
  clock: Pick<Clock, 'now'>;
  /** Whether the URL may lead to this machine and need not be https, for local development. */
  privateAddresses: boolean;
}): WebhookService {
  // Dashboards of one merchant ask for the same page at the same time.
  const sharedPages = createCoalescedReads<Awaited<ReturnType<typeof listDeliveries>>>();

  return {
    async configure(tenant, input) {
      const changes = parseChanges(input, privateAddresses);
      const optionalEvents = parseOptionalEvents(input.optionalEvents);
      const freshSecret = newWebhookSecret();
      return committer.change({
        tenant,
        read: (reader) => reader.load(endpoints, ENDPOINT),
        decide(state) {
          const { endpoint, secret } = decideConfigure(state.get(endpoints, ENDPOINT), {
            ...changes,
            ...{ optionalEvents, freshSecret, now: state.now },
          });
          return {
            outcome: { ...settingsOf(tenant, endpoint, state.now)!, secret },
            writes: { records: [put(endpoints, endpoint)] },
          };
        },
      });
    },

    async settings(tenant) {
      const [endpoint] = await endpointTable.load(database.sql, tenant, [ENDPOINT]);
      return settingsOf(tenant, endpoint ?? null, clock.now());
    },

    redeliver: (tenant, webhookId) =>
      committer.change({
        tenant,
        read: (reader) => Promise.all([reader.load(deliveries, webhookId), reader.load(endpoints, ENDPOINT)]),
        decide(state) {
          const found = state.get(deliveries, webhookId);
          if (!found) throw new NotFoundError('Webhook delivery not found');
          const { endpointId } = found;
          if (isFurther(endpointId) && !urlsOf(tenant, state.get(endpoints, ENDPOINT)).has(endpointId))
            throw new NotFoundError('The endpoint of this webhook delivery was deleted');
          const delivery = decideRedeliver(found, state.now);
          return {
            outcome: delivery,
            writes: {
              records: [put(deliveries, delivery)],
              events: statusEvents(delivery, found.status),
              tasks: [attemptAt(delivery, state.now)],
            },
          };
        },
      }),

    async findMany(tenant, webhookIds) {
      const rows = await deliveryTable.load(database.sql, tenant, [...new Set(webhookIds)]);
      const found = new Map(rows.map((delivery) => [delivery.webhookId, delivery]));
      return webhookIds.map((webhookId) => found.get(webhookId) ?? null);
    },

    findWithVersion: (tenant, webhookId) => deliveryTable.loadWithHead(database.sql, tenant, webhookId),

    async attemptsOf(tenant, webhookIds) {
      const rows = await selectAttempts(database.sql, tenant, [...new Set(webhookIds)]);
      return webhookIds.map((webhookId) => rows.filter((row) => row.webhookId === webhookId));
    },

    async exchangesOf(tenant, webhookIds) {
      const rows = await selectExchanges(database.sql, tenant, [...new Set(webhookIds)]);
      const ofDeliveries = Map.groupBy(rows, ({ webhookId }) => webhookId);
      return webhookIds.map(
        (webhookId) =>
          new Map(ofDeliveries.get(webhookId)?.map(({ number, exchange }) => [number, exchange] as const)),
      );
    },

    async payloadsOf(tenant, webhookIds) {
      const found = await selectPayloads(database.sql, tenant, [...new Set(webhookIds)]);
      return webhookIds.map((webhookId) => found.get(webhookId) ?? null);
    },

    async list(tenant, range) {
      const page = { ...range, limit: range.limit + 1 };
      const items = await sharedPages(`${tenantKey(tenant)} ${JSON.stringify(page)}`, () =>
        listDeliveries(database.sql, tenant, page),
      );
      return withoutExtra(items, range);
    },
    count: (tenant, filter) => countDeliveries(database.sql, tenant, filter),
  };
}
