import { createCoalescedReads } from '../kernel/coalesce.ts';
import { NotFoundError } from '../kernel/errors.ts';
import { withoutExtra } from '../kernel/list-range.ts';
import { tenantKey } from '../kernel/tenant.ts';
import { type Committer, put } from '../state/commit/commit.ts';
import type { Database } from '../state/db/database.ts';
import { deliveries, ENDPOINT, endpoints } from './collections.ts';
import { statusEvents } from './events.ts';
import {
  assertEndpointUrl,
  decideConfigure,
  decideRedeliver,
  parsePreviousSecretHours,
  type WebhookService,
} from './model.ts';
import { parseOptionalEvents } from './sent-events.ts';
import { newWebhookSecret } from './signing.ts';
import { countDeliveries, deliveryTable, listDeliveries, selectAttempts } from './store.ts';

/** The webhook service on Postgres: every change is a command to the committer, every read one statement. */
export function createWebhookService({
  database,
  committer,
  privateAddresses,
}: {
  database: Database;
  committer: Committer;
  /** Whether the URL may lead to this machine and need not be https, for local development. */
  privateAddresses: boolean;
}): WebhookService {
  // Dashboards of one merchant ask for the same page at the same time.
  const sharedPages = createCoalescedReads<Awaited<ReturnType<typeof listDeliveries>>>();

  return {
    async configure(tenant, { url, rotateSecret, previousSecretHours: hours, optionalEvents: events }) {
      assertEndpointUrl(url, privateAddresses);
      const optionalEvents = parseOptionalEvents(events);
      const previousSecretHours = parsePreviousSecretHours(hours);
      const freshSecret = newWebhookSecret();
      return committer.change({
        tenant,
        read: (reader) => reader.load(endpoints, ENDPOINT),
        decide(state) {
          const { endpoint, secret } = decideConfigure(state.get(endpoints, ENDPOINT), {
            url,
            rotateSecret: rotateSecret === true,
            previousSecretHours,
            freshSecret,
            optionalEvents,
            now: state.now,
          });
          return {
            outcome: {
              url,
              secret,
              optionalEvents: endpoint.optionalEvents,
              // An earlier secret may outlast the one that replaced it.
              previousSecretValidUntil: endpoint.previousSecrets.reduce<Date | null>(
                (latest, { until }) => (latest && latest > until ? latest : until),
                null,
              ),
            },
            writes: { records: [put(endpoints, endpoint)] },
          };
        },
      });
    },

    redeliver: (tenant, webhookId) =>
      committer.change({
        tenant,
        read: (reader) => reader.load(deliveries, webhookId),
        decide(state) {
          const found = state.get(deliveries, webhookId);
          if (!found) throw new NotFoundError('Webhook delivery not found');
          const delivery = decideRedeliver(found, state.now);
          return {
            outcome: delivery,
            writes: {
              records: [put(deliveries, delivery)],
              events: statusEvents(delivery, found.status),
              tasks: [{ kind: 'webhook.deliver', key: webhookId, at: state.now }],
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
