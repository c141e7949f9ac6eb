import { deliveryWebhook, deliveryWebhooks } from '../catalogue/deliveries/wire.ts';
import { ValidationError } from '../kernel/errors.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { nullMessage } from '../kernel/text.ts';
import type { SandboxName, WebhookEvent } from '../kernel/webhook-event.ts';
import { tokenWebhook, tokenWebhooks } from '../money-in/card-payments/tokens/wire.ts';
import { cardPaymentWebhook, cardPaymentWebhooks } from '../money-in/card-payments/wire.ts';
import { chargeWebhook, chargeWebhooks } from '../money-in/charges/wire.ts';
import { disputeWebhook, disputeWebhooks } from '../money-in/disputes/wire.ts';
import { paymentWebhook, paymentWebhooks } from '../money-in/payments/wire.ts';
import { refundWebhook, refundWebhooks } from '../money-in/refunds/wire.ts';
import { returnWebhook, returnWebhooks } from '../money-in/returns/wire.ts';
import { subscriptionWebhook, subscriptionWebhooks } from '../money-in/subscriptions/wire.ts';
import { payoutWebhook, payoutWebhooks } from '../money-out/payouts/wire.ts';
import { subaccountPayoutWebhook, subaccountPayoutWebhooks } from '../money-out/subaccounts/wire.ts';
import type { StoredEvent } from '../state/events/event.ts';
import { EVERY_EVENT } from './endpoints.ts';
import { webhookEndpointWebhook, webhookEndpointWebhooks } from './wire.ts';

/** Every event that the server sends, from its slice's wire. Its order is that of every list. */
export const EVENTS = {
  ...cardPaymentWebhooks,
  ...paymentWebhooks,
  ...chargeWebhooks,
  ...refundWebhooks,
  ...returnWebhooks,
  ...subscriptionWebhooks,
  ...payoutWebhooks,
  ...subaccountPayoutWebhooks,
  ...tokenWebhooks,
  ...disputeWebhooks,
  ...deliveryWebhooks,
  ...webhookEndpointWebhooks,
} satisfies Record<string, WebhookEvent>;

type Events = typeof EVENTS;
type EventName = keyof Events;

export type OptionalWebhookEvent = {
  [Name in EventName]: Events[Name]['optional'] extends string ? Name : never;
}[EventName];

/** The name of an event on the wire. */
export type SentName = EventName | SandboxName<EventName>;

export interface Announcement {
  /** The event's body. A name that no slice's wire describes does not compile. */
  payload: { event: SentName };
  /** The id by which a merchant knows the resource, if the log has another. */
  id?: string | null;
  /** The payment's own URL, which replaces the account's. */
  callbackUrl?: string | null;
  /**
   * The payment whose events this event must follow; omitted for an event that follows its own resource.
   * Without it a refund overtook its payment, whose first attempt had failed.
   */
  orderedBy?: { type: string; id: string } | null;
}

/** Builds the announcement of an event from its slice's wire format; null if no webhook reports it. */
export function announcementOf(event: StoredEvent, { environment }: Tenant): Announcement | null {
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
      return payload && { payload, id: payload.payoutId ?? payload.code };
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
    case 'webhook_endpoint':
      return { payload: webhookEndpointWebhook(event.snapshot) };
    case 'wallet':
    case 'subaccount':
    case 'webhook_delivery':
    case 'credential':
      return null;
  }
}

const NAMES = Object.keys(EVENTS) as EventName[];
const isOptional = (name: EventName): name is OptionalWebhookEvent => EVENTS[name].optional !== null;

/** The events that are sent to every account. */
export const WEBHOOK_EVENTS = NAMES.filter((name) => !isOptional(name));

/** The events that the document does not name. Each is sent to accounts that have opted into it. */
export const OPTIONAL_WEBHOOK_EVENTS = NAMES.filter(isOptional);

/** Every event as the description of the REST interface shows it. */
export const DESCRIBED_WEBHOOKS = [...WEBHOOK_EVENTS, ...OPTIONAL_WEBHOOK_EVENTS].map((event) => ({
  event,
  ...EVENTS[event],
}));

/**
 * Whether an event is sent: every event of the document, other events if the tenant has opted into them, and
 * no unlisted one.
 */
export function isSent(name: string, optedInto: readonly string[]): boolean {
  // A name of the sandbox stands for the same event.
  const event = name.replace('.test.', '.');
  if (!Object.hasOwn(EVENTS, event)) return false;
  return !isOptional(event as EventName) || optedInto.includes(event);
}

/** The optional events in a choice of events of a further endpoint. */
export function optionalAmong(chosen: readonly string[]): readonly OptionalWebhookEvent[] {
  return OPTIONAL_WEBHOOK_EVENTS.filter((event) => chosen.includes(EVERY_EVENT) || chosen.includes(event));
}

/**
 * Reads the events of a further endpoint by their names, without duplicates, or `*`; null if there is no choice.
 * @throws ValidationError (also for null, which may be a choice that was lost)
 */
export function parseEvents(events: readonly string[] | null | undefined): readonly string[] | null {
  if (events === undefined) return null;
  const refuse = (message: string) => new ValidationError([{ path: 'input.events', message }]);
  if (events === null) throw refuse(nullMessage('every event'));
  const chosen = events.map((event) =>
    event === EVERY_EVENT
      ? event
      : NAMES.find((name) => name === event || EVENTS[name].nameInSandbox === event),
  );
  if (chosen.length === 0) throw refuse(`must have an event, or "${EVERY_EVENT}" for all`);
  if (chosen.includes(undefined))
    throw refuse(`must be names of events in webhookEvents, or "${EVERY_EVENT}" for all`);
  return chosen.includes(EVERY_EVENT) ? [EVERY_EVENT] : NAMES.filter((name) => chosen.includes(name));
}

/** Reads a choice of events, without duplicates; null if there is none. @throws ValidationError */
export function parseOptionalEvents(
  events: readonly string[] | null | undefined,
): readonly OptionalWebhookEvent[] | null {
  if (events == null) return null;
  const unknown = events.find((event) => !OPTIONAL_WEBHOOK_EVENTS.some((each) => each === event));
  if (unknown !== undefined) {
    const message =
      unknown === 'unknown' ? 'UNKNOWN cannot be asked for' : 'has an event that is not an optional one';
    throw new ValidationError([{ path: 'input.optionalEvents', message }]);
  }
  return OPTIONAL_WEBHOOK_EVENTS.filter((event) => events.includes(event));
}

/** Lists names of events for a reader, those of one resource together: `refund.completed or .failed; charge.paid`. */
export function listEvents(names: readonly string[]): string {
  const kindsOf = new Map<string, string[]>();
  for (const name of names) {
    const [resource = '', kind = ''] = name.split('.');
    kindsOf.set(resource, [...(kindsOf.get(resource) ?? []), kind]);
  }
  return [...kindsOf]
    .map(([resource, kinds]) => {
      const last = kinds.length > 1 ? ` or .${kinds.at(-1)}` : '';
      return `${resource}.${kinds.slice(0, Math.max(1, kinds.length - 1)).join(', .')}${last}`;
    })
    .join('; ');
}
