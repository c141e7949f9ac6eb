import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import type { WebhookEnvelope } from '../kernel/webhook-event.ts';
import type { Outbox } from '../state/commit/commit.ts';
import type { Sql } from '../state/db/database.ts';
import { byTenant, recordsOf, type TenantRecord } from '../state/db/each-tenant.ts';
import type { StoredEvent } from '../state/events/event.ts';
import { ENDPOINT } from './collections.ts';
import { endpointTable } from './endpoint-store.ts';
import { accountEndpointId, noEndpoints, selects, type WebhookEndpoint } from './endpoints.ts';
import { statusEvents } from './events.ts';
import { attemptAt, newWebhookId } from './model.ts';
import { type Announcement, announcementOf, isSent } from './sent-events.ts';
import { newWebhookSecret } from './signing.ts';
import { insertDeliveries, type NewDelivery, selectSubscriptionsOf } from './store.ts';

/**
 * Writes the webhooks of the document's section 6 for new events of tenants, in the transaction that records the events,
 * so that neither exists without the other. That transaction holds the tenants' locks, so the URLs and the optional events
 * are the configured ones at that moment; earlier events are never sent. Each delivery has an event of its own, after the
 * announced events.
 */
export const webhookOutbox: Outbox = async (sql, appended, now) => {
  const announced = appended.flatMap(({ tenant, events }) =>
    events.flatMap((event): Announced[] => {
      const announcement = announcementOf(event, tenant);
      return announcement ? [{ tenant, event, ...announcement }] : [];
    }),
  );
  if (announced.length === 0) return [];

  const tenants = byTenant(announced).map(([tenant]) => tenant);
  const found = await endpointTable.loadEach(
    sql,
    tenants.map((tenant) => ({ tenant, key: ENDPOINT })),
  );
  const endpoints = new Map(found.map(({ tenant, record }) => [tenantKey(tenant), record]));
  const deliveries = announced.flatMap((announcement): TenantRecord<NewDelivery>[] => {
    const { tenant, event, payload, id, orderedBy } = announcement;
    const { event: name, ...own } = payload;
    return recordsOf(
      tenant,
      targetsOf(announcement, endpoints.get(tenantKey(tenant))).map((target): NewDelivery => {
        const envelope = envelopeOf(announcement, tenant);
        return {
          webhookId: envelope.id,
          eventVersion: event.version,
          resourceVersion: envelope.version,
          occurredAt: event.occurredAt,
          event: name,
          resource: orderedBy?.type ?? event.resource,
          resourceId: orderedBy?.id ?? event.resourceId,
          subjectType: orderedBy ? event.resource : null,
          subjectId: orderedBy ? event.resourceId : (id ?? codeOf(payload)),
          endpointId: target.endpointId,
          url: target.url,
          body: JSON.stringify({ event: name, ...envelope, ...own }),
          headers: null,
          status: target.isHeld ? 'held' : 'pending',
          attempts: 0,
          failures: 0,
          nextAttemptAt: target.isHeld ? null : now,
          responseStatus: null,
          responseClass: null,
          createdAt: now,
        };
      }),
    );
  });
  if (deliveries.length === 0) return [];
  await orderBehindCycles(sql, deliveries);

  const ofTenants = byTenant(deliveries);
  // A payment's callbackUrl needs no URL of the account, but it needs a secret that signs.
  const withoutSecret = ofTenants.filter(([tenant]) => !endpoints.has(tenantKey(tenant)));
  if (withoutSecret.length > 0)
    await endpointTable.saveEach(
      sql,
      withoutSecret.flatMap(([tenant]) => recordsOf(tenant, [noEndpoints(newWebhookSecret())])),
    );
  await insertDeliveries(sql, deliveries);
  return ofTenants.map(([tenant, own]) => ({
    tenant,
    tasks: own.flatMap(({ record }) => (record.status === 'pending' ? [attemptAt(record, now)] : [])),
    events: own.flatMap(({ record }) => statusEvents(record, null)),
  }));
};

/** The code by which a merchant and the service call a payout; null if the event has none. */
function codeOf(payload: Announcement['payload']): string | null {
  return 'code' in payload && typeof payload.code === 'string' ? payload.code : null;
}

type Announced = Announcement & { tenant: Tenant; event: StoredEvent };

/** The addressees of an event: a payment's callbackUrl or the URL of the account, and each further endpoint that selects it. */
function targetsOf(
  { tenant, event: { resourceId }, callbackUrl, payload: { event } }: Announced,
  endpoint: WebhookEndpoint | undefined,
): { endpointId: string | null; url: string; isHeld: boolean }[] {
  const ofAccount = endpoint?.enabled ? endpoint.url : null;
  const url = callbackUrl ?? ofAccount;
  const first =
    url && isSent(event, endpoint?.optionalEvents ?? [])
      ? [{ endpointId: callbackUrl ? null : accountEndpointId(tenant), url, isHeld: false }]
      : [];
  const wanting =
    endpoint?.further.filter(
      // An endpoint that was disabled is no place to report that.
      (each) => selects(each, event) && each.endpointId !== resourceId,
    ) ?? [];
  return [
    ...first,
    ...wanting.map(({ endpointId, url: own, disabledAt }) => ({
      endpointId,
      url: own,
      isHeld: disabledAt !== null,
    })),
  ];
}

/** Orders the events of a cycle's payments after the subscription's own events, which say that the cycles are paid. */
async function orderBehindCycles(sql: Sql, deliveries: readonly TenantRecord<NewDelivery>[]): Promise<void> {
  const ofPayments = deliveries.filter(({ record }) => record.resource === 'payment');
  if (ofPayments.length === 0) return;
  const cycles = await selectSubscriptionsOf(
    sql,
    ofPayments.map(({ tenant, record }) => ({ tenant, key: record.resourceId })),
  );
  ofPayments.forEach(({ record }, index) => {
    const subscriptionId = cycles.get(index);
    if (subscriptionId === undefined) return;
    const subject = record.subjectType === null && { subjectType: 'payment', subjectId: record.resourceId };
    Object.assign(record, { resource: 'subscription', resourceId: subscriptionId, ...subject });
  });
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
