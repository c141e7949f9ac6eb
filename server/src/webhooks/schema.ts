import { assertMay, assertUnrestrictedKey } from '../access/model.ts';
import { builder } from '../graphql/builder.ts';
import { callerOf } from '../graphql/context.ts';
import { addEntity } from '../graphql/federation.ts';
import { authorized, successType } from '../graphql/mutations.ts';
import { BOTH_WAYS, connectionArguments, readConnection, totalOf } from '../graphql/paging.ts';
import {
  NotFoundError,
  RateLimitError,
  UnavailableError,
  UpstreamError,
  ValidationError,
} from '../kernel/errors.ts';
import type { ConfiguredWebhook, OptionalWebhookEvent, WebhookAttempt, WebhookDelivery } from './model.ts';

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

export const WebhookDeliveryStatusEnum = builder.enumType('WebhookDeliveryStatus', {
  values: {
    PENDING: { value: 'pending', description: 'An attempt is still to come.' },
    DELIVERED: { value: 'delivered' },
    EXHAUSTED: { value: 'exhausted', description: 'All seven attempts have failed; it can be sent again.' },
  } as const,
});

const WebhookAttemptRef = builder.objectRef<WebhookAttempt>('WebhookAttempt').implement({
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime' }),
    responseStatus: t.exposeInt('responseStatus', { nullable: true, description: 'Null where none came.' }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why it failed, in words; null where it was delivered.',
    }),
    durationMs: t.exposeInt('durationMs'),
  }),
});

export const WebhookDeliveryRef = builder.objectRef<WebhookDelivery>('WebhookDelivery');

addEntity(WebhookDeliveryRef, 'webhookId');
builder.node(WebhookDeliveryRef, {
  id: { resolve: (delivery) => delivery.webhookId },
  loadOne: (webhookId, context) => {
    assertMay(callerOf(context), 'webhooks.read');
    return context.loaders.webhookDelivery.load(webhookId);
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'webhookId' in value,
  description: 'One event on its way to one URL.',
  fields: (t) => ({
    webhookId: t.exposeString('webhookId', {
      description: 'The X-Webhook-Id header: the same on every attempt.',
    }),
    event: t.exposeString('event', {
      description:
        'card_payment.paid; payment.paid; charge.paid; refund.completed or .failed; withdrawal.requested, .completed or .denied, in sandbox withdrawal.test.… ; subaccount.payout, at each change of status; checkout_token.paused. Where the account has opted into them: card_payment.expired, .failed or .refunded; payment.expired, .failed or .refunded; charge.expired, .failed or .refunded; withdrawal.processing; dispute.opened, .updated or .closed; delivery.delivered or .out_of_stock.',
    }),
    url: t.expose('url', { type: 'Url', description: 'As it was when the event happened.' }),
    status: t.field({ type: WebhookDeliveryStatusEnum, resolve: ({ status }) => status }),
    attempts: t.field({
      type: [WebhookAttemptRef],
      description: 'Oldest first; of many the last 50.',
      resolve: ({ webhookId }, _, context) => context.loaders.webhookAttempts.load(webhookId),
    }),
    nextAttemptAt: t.expose('nextAttemptAt', { type: 'DateTime', nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
});

const WebhookDeliveryConnection = builder.connectionObject(
  {
    type: WebhookDeliveryRef,
    name: 'WebhookDeliveryConnection',
    fields: (t) => ({
      totalCount: t.int({ resolve: totalOf }),
    }),
  },
  { name: 'WebhookDeliveryEdge' },
);

// ── Queries ─────────────────────────────────────────────────────────────────────────────────────

builder.queryField('webhookDeliveries', (t) =>
  t.field({
    type: WebhookDeliveryConnection,
    description: `Newest first. ${BOTH_WAYS}`,
    args: { ...connectionArguments(t.arg), status: t.arg({ type: [WebhookDeliveryStatusEnum] }) },
    resolve: async (_, args, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'webhooks.read');
      const status = args.status ?? undefined;
      const { webhooks } = context.services;
      return readConnection(context.listCursors('webhookDeliveries'), args, {
        list: (range) => webhooks.list(caller.tenant, { ...range, status }),
        node: ({ delivery }) => delivery,
        total: () => webhooks.count(caller.tenant, { status }),
      });
    },
  }),
);

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

const OptionalWebhookEventEnum = builder.enumType('OptionalWebhookEvent', {
  description:
    'An event that the payments service does not document. It is sent to accounts that have opted into it.',
  values: {
    CARD_PAYMENT_EXPIRED: {
      value: 'card_payment.expired',
      description:
        'card_payment.expired, also of a canceled payment. One that is paid late follows with card_payment.paid, one that is returned with card_payment.refunded.',
    },
    CARD_PAYMENT_FAILED: { value: 'card_payment.failed', description: 'card_payment.failed' },
    CARD_PAYMENT_REFUNDED: { value: 'card_payment.refunded', description: 'card_payment.refunded' },
    PAYMENT_EXPIRED: {
      value: 'payment.expired',
      description: 'payment.expired. One that is paid late follows with payment.paid.',
    },
    PAYMENT_FAILED: {
      value: 'payment.failed',
      description:
        'payment.failed: the bank refused it; by LTC, less than the amount came in time, or the order was paid by another payment.',
    },
    PAYMENT_REFUNDED: { value: 'payment.refunded', description: 'payment.refunded' },
    CHARGE_EXPIRED: {
      value: 'charge.expired',
      description: 'charge.expired. One that is paid late follows with charge.paid.',
    },
    CHARGE_FAILED: { value: 'charge.failed', description: 'charge.failed' },
    CHARGE_REFUNDED: { value: 'charge.refunded', description: 'charge.refunded' },
    SUBSCRIPTION_ACTIVATED: {
      value: 'subscription.activated',
      description: 'subscription.activated: the payer has authorised it, and paid its first cycle.',
    },
    SUBSCRIPTION_PAID: {
      value: 'subscription.paid',
      description: 'subscription.paid: a cycle was paid. No payment.paid is sent for its payment.',
    },
    SUBSCRIPTION_PAYMENT_FAILED: {
      value: 'subscription.payment_failed',
      description:
        'subscription.payment_failed: an attempt to debit a cycle has failed, or a cycle has ended without an attempt.',
    },
    SUBSCRIPTION_PAST_DUE: { value: 'subscription.past_due', description: 'subscription.past_due' },
    SUBSCRIPTION_CANCELED: { value: 'subscription.canceled', description: 'subscription.canceled' },
    SUBSCRIPTION_COMPLETED: {
      value: 'subscription.completed',
      description: 'subscription.completed: its last cycle has ended.',
    },
    SUBSCRIPTION_EXPIRED: {
      value: 'subscription.expired',
      description: 'subscription.expired: it was not authorised in time, or the bank gave no code.',
    },
    WITHDRAWAL_PROCESSING: {
      value: 'withdrawal.processing',
      description: 'withdrawal.processing, in sandbox withdrawal.test.processing: the money MAY have left.',
    },
    DISPUTE_OPENED: { value: 'dispute.opened', description: 'dispute.opened: its amount is blocked.' },
    DISPUTE_UPDATED: {
      value: 'dispute.updated',
      description: 'dispute.updated: evidence was submitted, or the time for it is over; the banks decide.',
    },
    DISPUTE_CLOSED: {
      value: 'dispute.closed',
      description: 'dispute.closed: won or lost, and once more where a lost one is forgiven.',
    },
    DELIVERY_DELIVERED: {
      value: 'delivery.delivered',
      description: 'delivery.delivered: a payment was given content of its product, which is not in it.',
    },
    DELIVERY_OUT_OF_STOCK: {
      value: 'delivery.out_of_stock',
      description:
        'delivery.out_of_stock: a payment waits for a code. delivery.delivered follows once there is one.',
    },
    UNKNOWN: {
      value: 'unknown',
      description: 'A value that this server does not know yet. Never accepted as input.',
    },
  } satisfies Record<string, { value: OptionalWebhookEvent | 'unknown'; description: string }>,
});

const ConfigureWebhookInput = builder.inputType('ConfigureWebhookInput', {
  fields: (t) => ({
    url: t.field({
      type: 'Url',
      required: true,
      description:
        'Public https URL, at most 500 characters. Events from now on go there; those before stay with the URL that they were written for.',
    }),
    rotateSecret: t.boolean({
      defaultValue: false,
      description:
        'A new secret signs from now on, retries of older deliveries included. The one before signs beside it for previousSecretHours.',
    }),
    previousSecretHours: t.int({
      description:
        '0 to 168: the hours from now after which no secret of before signs webhook-signature any more. Left out: 24 for the one that is replaced now, and no change for those before it. 0 ends them at once, also without rotateSecret. X-Webhook-Signature is by the new secret alone.',
    }),
    optionalEvents: t.field({
      type: [OptionalWebhookEventEnum],
      description:
        'Events that the payments service does not document, sent besides the documented ones. Left out: as it was, at first none. An empty list: none. Those of a card payment go to its own callbackUrl where it has one.',
    }),
  }),
});

const ConfigureWebhookSuccess = successType<ConfiguredWebhook>(
  'ConfigureWebhookSuccess',
  (t) => ({
    url: t.expose('url', { type: 'Url' }),
    secret: t.exposeString('secret', {
      nullable: true,
      description:
        'Shown once: with the first URL and with each rotateSecret. Null otherwise; it stays as it was.',
    }),
    previousSecretValidUntil: t.expose('previousSecretValidUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'The instant at which the last secret of before stops signing; null where none signs.',
    }),
    optionalEvents: t.field({
      type: [OptionalWebhookEventEnum],
      description: 'The optional events that are sent from now on.',
      resolve: ({ optionalEvents }) => optionalEvents,
    }),
  }),
  'Where events go from now on.',
);

const WebhookDeliverySuccess = successType<{ delivery: WebhookDelivery }>('WebhookDeliverySuccess', (t) => ({
  delivery: t.expose('delivery', { type: WebhookDeliveryRef }),
}));

builder.mutationFields((t) => ({
  configureWebhook: t.field({
    type: ConfigureWebhookSuccess,
    description: 'One URL and secret for each environment: the key’s.',
    args: { input: t.arg({ type: ConfigureWebhookInput, required: true }) },
    errors: { types: [ValidationError, UnavailableError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }) =>
      services.webhooks.configure(tenant, input),
    ),
  }),
  redeliverWebhook: t.field({
    type: WebhookDeliverySuccess,
    description:
      'Sends it again, to the same URL and under the same webhookId, with up to seven attempts; one that waits is due now.',
    args: { webhookId: t.arg.string({ required: true }) },
    errors: { types: [NotFoundError, RateLimitError, UnavailableError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { webhookId }, { services }) => ({
      delivery: await services.webhooks.redeliver(tenant, webhookId),
    })),
  }),
}));
