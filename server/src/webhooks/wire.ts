import { tokenWebhooks } from '../card-payments/tokens/wire.ts';
import { cardPaymentWebhooks } from '../card-payments/wire.ts';
import { chargeWebhooks } from '../charges/wire.ts';
import { deliveryWebhooks } from '../deliveries/wire.ts';
import { disputeWebhooks } from '../disputes/wire.ts';
import type { WebhookBody } from '../kernel/webhook-body.ts';
import { paymentWebhooks } from '../payments/wire.ts';
import { payoutWebhooks } from '../payouts/wire.ts';
import { refundWebhooks } from '../refunds/wire.ts';
import { returnWebhooks } from '../returns/wire.ts';
import { subaccountPayoutWebhooks } from '../subaccounts/wire.ts';
import { subscriptionWebhooks } from '../subscriptions/wire.ts';
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
