import type { Tenant } from '../kernel/tenant.ts';
import type { WebhookEnvelope } from '../kernel/webhook-event.ts';
import type { Sql } from '../state/db/database.ts';
import type { StoredEvent } from '../state/events/event.ts';
import type { NewTask } from '../state/work/store.ts';
import { ENDPOINT } from './collections.ts';
import { endpointTable } from './endpoint-store.ts';
import { statusEvents, type WebhookDeliveryEvent } from './events.ts';
import { newWebhookId } from './model.ts';
import { type Announcement, announcementOf, isSent } from './sent-events.ts';
import { newWebhookSecret } from './signing.ts';
import { insertDeliveries, type NewDelivery, selectSubscriptionsOf } from './store.ts';

/**
 * Writes the webhooks of the document's section 6 for new events, in the transaction that records the events,
 * so that neither exists without the other. That transaction holds the tenant's lock, so the URL and the
 * optional events are the configured ones at that moment; earlier events are never sent. Each delivery has an
 * event of its own, after the announced events.
 */
export async function webhookOutbox(
  sql: Sql,
  tenant: Tenant,
  events: readonly StoredEvent[],
  now: Date,
): Promise<{ tasks: NewTask[]; events: WebhookDeliveryEvent[] }> {
  const announced = events.flatMap((event): Announced[] => {
    const announcement = announcementOf(event, tenant);
    return announcement ? [{ event, ...announcement }] : [];
  });
  if (announced.length === 0) return NOTHING;

  const [endpoint] = await endpointTable.load(sql, tenant, [ENDPOINT]);
  const deliveries = announced.flatMap((announcement): NewDelivery[] => {
    const { event, payload, callbackUrl, orderedBy } = announcement;
    const { event: name, ...own } = payload;
    const url = callbackUrl ?? (endpoint?.enabled ? endpoint.url : null);
    if (!url || !isSent(name, endpoint?.optionalEvents ?? [])) return [];
    const envelope = envelopeOf(announcement, tenant);
    return [
      {
        webhookId: envelope.id,
        eventVersion: event.version,
        resourceVersion: envelope.version,
        occurredAt: event.occurredAt,
        event: name,
        resource: orderedBy?.type ?? event.resource,
        resourceId: orderedBy?.id ?? event.resourceId,
        url,
        body: JSON.stringify({ event: name, ...envelope, ...own }),
        headers: null,
        status: 'pending',
        attempts: 0,
        failures: 0,
        nextAttemptAt: now,
        createdAt: now,
      },
    ];
  });
  if (deliveries.length === 0) return NOTHING;
  await orderBehindCycles(sql, tenant, deliveries);

  // A payment's callbackUrl needs no URL of the account, but it needs a secret that signs.
  if (!endpoint)
    await endpointTable.save(sql, tenant, [
      {
        ...{ url: null, enabled: true, secret: newWebhookSecret(), secretShown: false },
        ...{ previousSecrets: [], optionalEvents: [] },
      },
    ]);
  await insertDeliveries(sql, tenant, deliveries);
  return {
    tasks: deliveries.map(({ webhookId }) => ({ kind: 'webhook.deliver', key: webhookId, at: now })),
    events: deliveries.flatMap((delivery) => statusEvents(delivery, null)),
  };
}

type Announced = Announcement & { event: StoredEvent };

const NOTHING = { tasks: [], events: [] };

/** Orders the events of a cycle's payments after the subscription's own events, which say that the cycles are paid. */
async function orderBehindCycles(sql: Sql, tenant: Tenant, deliveries: NewDelivery[]): Promise<void> {
  const ofPayments = deliveries.filter(({ resource }) => resource === 'payment');
  if (ofPayments.length === 0) return;
  const cycles = await selectSubscriptionsOf(sql, tenant, [
    ...new Set(ofPayments.map(({ resourceId }) => resourceId)),
  ]);
  for (const delivery of ofPayments) {
    const subscriptionId = cycles.get(delivery.resourceId);
    if (subscriptionId !== undefined)
      Object.assign(delivery, { resource: 'subscription', resourceId: subscriptionId });
  }
}

/** The envelope of a body, by the new id of its delivery. */
function envelopeOf({ event, id }: Announced, { environment }: Tenant): WebhookEnvelope {
  return {
    id: newWebhookId(),
    occurredAt: event.occurredAt.toISOString(),
    version: versionOf(event),
    sandbox: environment === 'sandbox',
    resource: { type: event.resource, id: id ?? event.resourceId },
  };
}

/** The version of the resource, or, without one, the event's version in the log, which grows too. */
function versionOf({ snapshot, version }: StoredEvent): number {
  return 'version' in snapshot && typeof snapshot.version === 'number' ? snapshot.version : version;
}
