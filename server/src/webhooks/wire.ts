import { deliveryWebhooks } from '../catalogue/deliveries/wire.ts';
import type { WebhookBody } from '../kernel/webhook-body.ts';
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
import { OPTIONAL_WEBHOOK_EVENTS, type OptionalWebhookEvent, WEBHOOK_EVENTS } from './model.ts';

/** The body of each event, from its slice's wire: an event without one does not compile. */
const BODIES: Record<(typeof WEBHOOK_EVENTS)[number] | OptionalWebhookEvent, WebhookBody> = {
  ...cardPaymentWebhooks,
  ...paymentWebhooks,
  ...chargeWebhooks,
  ...refundWebhooks,
  ...returnWebhooks,
  ...payoutWebhooks,
  ...subaccountPayoutWebhooks,
  ...tokenWebhooks,
  ...subscriptionWebhooks,
  ...disputeWebhooks,
  ...deliveryWebhooks,
};

/** Every event that the server sends, as the description of the REST interface shows it. */
export const DESCRIBED_WEBHOOKS = [
  ...WEBHOOK_EVENTS.map((event) => ({ event, isOptional: false, ...BODIES[event] })),
  ...OPTIONAL_WEBHOOK_EVENTS.map((event) => ({ event, isOptional: true, ...BODIES[event] })),
];
