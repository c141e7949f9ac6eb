import { deliveryWebhook } from '../catalogue/deliveries/wire.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { tokenWebhook } from '../money-in/card-payments/tokens/wire.ts';
import { cardPaymentWebhook } from '../money-in/card-payments/wire.ts';
import { chargeWebhook } from '../money-in/charges/wire.ts';
import { disputeWebhook } from '../money-in/disputes/wire.ts';
import { paymentWebhook } from '../money-in/payments/wire.ts';
import { refundWebhook } from '../money-in/refunds/wire.ts';
import { returnWebhook } from '../money-in/returns/wire.ts';
import { subscriptionWebhook } from '../money-in/subscriptions/wire.ts';
import { payoutWebhook } from '../money-out/payouts/wire.ts';
import { subaccountPayoutWebhook } from '../money-out/subaccounts/wire.ts';
import type { Sql } from '../state/db/database.ts';
import type { StoredEvent } from '../state/events/event.ts';
import type { NewTask } from '../state/work/store.ts';
import { saveEndpoint, selectEndpoint } from './endpoint-store.ts';
import { statusEvents, type WebhookDeliveryEvent } from './events.ts';
import { newWebhookId } from './model.ts';
import { isSent, type SentName } from './sent-events.ts';
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
  const announced = events.flatMap((event) => {
    const announcement = announcementOf(event, tenant);
    return announcement ? [{ event, ...announcement }] : [];
  });
  if (announced.length === 0) return NOTHING;

  const endpoint = await selectEndpoint(sql, tenant);
  const deliveries = announced.flatMap(({ event, payload, callbackUrl, orderedBy }): NewDelivery[] => {
    const name = payload.event;
    const url = callbackUrl ?? endpoint?.url;
    if (!url || !isSent(name, endpoint?.optionalEvents ?? [])) return [];
    return [
      {
        webhookId: newWebhookId(),
        eventVersion: event.version,
        resourceVersion: versionOf(event),
        occurredAt: event.occurredAt,
        event: name,
        resource: orderedBy?.type ?? event.resource,
        resourceId: orderedBy?.id ?? event.resourceId,
        url,
        body: JSON.stringify(payload),
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
    await saveEndpoint(sql, tenant, {
      url: null,
      secret: newWebhookSecret(),
      secretShown: false,
      previousSecrets: [],
      optionalEvents: [],
    });
  await insertDeliveries(sql, tenant, deliveries);
  return {
    tasks: deliveries.map(({ webhookId }) => ({ kind: 'webhook.deliver', key: webhookId, at: now })),
    events: deliveries.flatMap((delivery) => statusEvents(delivery, null)),
  };
}

const NOTHING = { tasks: [], events: [] };

/**
 * Orders the events of payments by a subscription's cycles behind the subscription's own events, which say
 * that the cycles are paid.
 */
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

/** The version of the resource, or, without one, the event's version in the log, which grows too. */
function versionOf({ snapshot, version }: StoredEvent): number {
  return 'version' in snapshot && typeof snapshot.version === 'number' ? snapshot.version : version;
}

interface Announcement {
  /** The event's body. A name that no slice's wire describes does not compile. */
  payload: { event: SentName };
  /** The payment's own URL, which replaces the account's. */
  callbackUrl?: string | null;
  /**
   * The payment whose events this event must follow; omitted for an event that follows its own resource.
   * Without it a refund overtook its payment, whose first attempt had failed.
   */
  orderedBy?: { type: string; id: string } | null;
}

/** Builds the announcement of an event from its slice's wire format; null if no webhook reports it. */
function announcementOf(event: StoredEvent, { environment }: Tenant): Announcement | null {
  switch (event.resource) {
    case 'card_payment': {
      const payload = cardPaymentWebhook(event.snapshot, event.previousStatus);
      return payload && { payload, callbackUrl: event.snapshot.callbackUrl };
    }
    case 'payment': {
      const payload = paymentWebhook(event.snapshot, event.previousStatus, environment);
      return payload && { payload, callbackUrl: event.snapshot.callbackUrl };
    }
    case 'charge': {
      const payload = chargeWebhook(event.snapshot, event.previousStatus, environment);
      return payload && { payload };
    }
    case 'payout': {
      const payload = payoutWebhook(event.snapshot, environment);
      return payload && { payload };
    }
    case 'subaccount_payout': {
      const payload = subaccountPayoutWebhook(event.snapshot);
      return payload && { payload };
    }
    case 'checkout_token': {
      const payload = tokenWebhook(event.snapshot);
      return payload && { payload };
    }
    case 'refund': {
      const payload = refundWebhook(event.snapshot, environment);
      const { callbackUrl, resource } = event.snapshot;
      return payload && { payload, callbackUrl, orderedBy: resource };
    }
    case 'return': {
      const payload = returnWebhook(event.snapshot, environment);
      const { callbackUrl, resource } = event.snapshot;
      return { payload, callbackUrl, orderedBy: resource };
    }
    case 'delivery': {
      const payload = deliveryWebhook(event.kind, event.snapshot, environment);
      // A stock has one event for each sale. Events of different buyers do not wait for each other.
      const { callbackUrl, resource } = event.snapshot;
      return { payload, callbackUrl, orderedBy: resource };
    }
    case 'subscription': {
      const payload = subscriptionWebhook(event.kind, event.snapshot, environment);
      return payload && { payload };
    }
    case 'dispute': {
      const payload = disputeWebhook(event.snapshot, event.previousStatus);
      return payload && { payload, orderedBy: event.snapshot.resource };
    }
    case 'wallet':
    case 'subaccount':
    case 'webhook_delivery':
    case 'credential':
      return null;
  }
}
