import { deliveryWebhooks } from '../catalogue/deliveries/wire.ts';
import { ValidationError } from '../kernel/errors.ts';
import type { SandboxName, WebhookEvent } from '../kernel/webhook-event.ts';
import { tokenWebhooks } from '../money-in/card-payments/tokens/wire.ts';
import { cardPaymentWebhooks } from '../money-in/card-payments/wire.ts';
import { chargeWebhooks } from '../money-in/charges/wire.ts';
import { disputeWebhooks } from '../money-in/disputes/wire.ts';
import { paymentWebhooks } from '../money-in/payments/wire.ts';
import { refundWebhooks } from '../money-in/refunds/wire.ts';
import { returnWebhooks } from '../money-in/returns/wire.ts';
import { subscriptionWebhooks } from '../money-in/subscriptions/wire.ts';
import { payoutWebhooks } from '../money-out/payouts/wire.ts';
import { subaccountPayoutWebhooks } from '../money-out/subaccounts/wire.ts';

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
} satisfies Record<string, WebhookEvent>;

type Events = typeof EVENTS;
type EventName = keyof Events;

export type OptionalWebhookEvent = {
  [Name in EventName]: Events[Name]['optional'] extends string ? Name : never;
}[EventName];

/** The name of an event on the wire. */
export type SentName = EventName | SandboxName<EventName>;

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

/** Reads a choice of events, without duplicates; null if there is none. @throws ValidationError */
export function parseOptionalEvents(
  events: readonly string[] | null | undefined,
): readonly OptionalWebhookEvent[] | null {
  if (events == null) return null;
  if (events.includes('unknown'))
    throw new ValidationError([{ path: 'input.optionalEvents', message: 'UNKNOWN cannot be asked for' }]);
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
