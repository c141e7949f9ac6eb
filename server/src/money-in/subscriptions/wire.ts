import { z } from 'zod';
import { instant } from '../../kernel/instant.ts';
import { cents } from '../../kernel/money.ts';
import { withMaskedTaxId } from '../../kernel/tax-id.ts';
import type { Environment } from '../../kernel/tenant.ts';
import { answeredWord } from '../../kernel/text.ts';
import { nameIn, type WebhookEvent, webhookEvent } from '../../kernel/webhook-event.ts';
import { txidOf } from '../pix/model.ts';
import { RETURN_CAUSES } from '../receiving/model.ts';
import { answeredLanguage } from '../receiving/wire.ts';
import { INTERVALS } from './calendar.ts';
import {
  CANCEL_REASONS,
  CYCLE_STATUSES,
  isAuthorisable,
  type StoredSubscription,
  SUBSCRIPTION_STATUSES,
  type SubscriptionCycle,
  type SubscriptionNews,
  type SubscriptionSnapshot,
} from './model.ts';

// ── A subscription in the REST interface (the document's 2.5) ───────────────────────────────────

/** The number of cycles in an answer. */
export const SHOWN_CYCLES = 12;

const cycleWire = z.object({
  number: z.number().int().meta({ description: '1, 2, 3, …' }),
  dueAt: instant.nullable().meta({ description: '00:00 of its day in São Paulo' }),
  status: answeredWord(CYCLE_STATUSES),
  amountCents: cents,
  attempts: z.number().int().meta({ description: 'Of 4: when due, and three more in the seven days after' }),
  nextAttemptAt: instant.nullable(),
  paymentId: z
    .string()
    .nullable()
    .meta({ description: 'The payment that it has made, which is refunded as any; null until it is paid' }),
  paidAt: instant.nullable(),
  failureReason: z
    .string()
    .nullable()
    .meta({ description: 'The reason of the last failed attempt; null once it is paid' }),
});

export const subscriptionWire = z
  .object({
    subscriptionId: z.string().meta({
      description: 'psa_sub_ and 32 hex digits',
      examples: ['psa_sub_0c7d1a5be2f94a3d8e6b7f100c7d1a5b'],
    }),
    status: answeredWord(SUBSCRIPTION_STATUSES),
    amountCents: cents.meta({ description: 'The amount of each cycle' }),
    currency: z.literal('BRL'),
    interval: answeredWord(INTERVALS),
    endsAfterCycles: z.number().int().nullable().meta({ description: 'Null: until it is canceled' }),
    description: z.string().nullable(),
    customer: z
      .object({ name: z.string(), email: z.string(), externalId: z.string(), taxId: z.string() })
      .partial()
      .nullable(),
    metadata: z.string().nullable().meta({ description: 'The string given at creation, byte for byte' }),
    checkoutUrl: z.string().meta({ format: 'uri', description: 'The page where the payer authorizes it' }),
    successUrl: z.string().nullable(),
    cancelUrl: z.string().nullable(),
    language: answeredLanguage,
    pixCopyPaste: z.string().nullable().meta({
      description:
        'PIX Copia e Cola: authorizes the subscription and pays its first cycle; null once it no longer can',
    }),
    txid: z.string().meta({ description: 'The bank’s identifier of the code' }),
    nextDueAt: instant.nullable().meta({ description: 'Null where no further cycle is to come' }),
    cancelReason: answeredWord(CANCEL_REASONS).nullable(),
    canceledAt: instant.nullable(),
    createdAt: instant,
    expiresAt: instant.meta({ description: 'The end of the time for the authorization, 24 hours' }),
    cycles: z.array(cycleWire).meta({ description: `Newest first, at most ${SHOWN_CYCLES}` }),
    returnedCredits: z
      .array(
        z.object({
          endToEndId: z.string(),
          amountCents: cents,
          cause: answeredWord(RETURN_CAUSES),
          receivedAt: instant,
          returnedAt: instant.nullable(),
        }),
      )
      .meta({ description: 'Money that came for it and is sent back; of many the last 20, oldest first' }),
  })
  .meta({ id: 'Subscription' });

/** Encodes a subscription. `publicUrl` is the address of this server in the payer's browser. */
export function subscriptionToWire(
  subscription: StoredSubscription,
  cycles: readonly SubscriptionCycle[],
  publicUrl: string,
): z.output<typeof subscriptionWire> {
  return {
    ...subscription,
    customer: withMaskedTaxId(subscription.customer),
    currency: 'BRL',
    checkoutUrl: `${publicUrl}/checkout/${subscription.subscriptionId}`,
    pixCopyPaste: isAuthorisable(subscription) ? subscription.brCode : null,
    txid: txidOf(subscription.subscriptionId),
    cycles: cycles.map(cycleToWire) as z.output<typeof subscriptionWire>['cycles'],
    returnedCredits: subscription.returnedCredits.map((credit) => ({ ...credit })),
  };
}

function cycleToWire({
  number,
  dueAt,
  status,
  amountCents,
  attempts,
  nextAttemptAt,
  paymentId,
  paidAt,
  failureReason,
}: SubscriptionCycle) {
  return { number, dueAt, status, amountCents, attempts, nextAttemptAt, paymentId, paidAt, failureReason };
}

// ── The webhook ─────────────────────────────────────────────────────────────────────────────────

/** The events, with the members of each. */
export const subscriptionWebhooks: Record<`subscription.${SubscriptionNews}`, WebhookEvent<string>> = {
  'subscription.activated': subscriptionEvent('activated', {
    summary: 'The payer has authorized it, and paid its first cycle',
    optional: ': the payer has authorized it, and paid its first cycle.',
  }),
  'subscription.paid': subscriptionEvent('paid', {
    summary: 'A cycle was paid: no payment.paid is sent for its payment',
    optional: ': a cycle was paid. No payment.paid is sent for its payment.',
  }),
  'subscription.payment_failed': subscriptionEvent('payment_failed', {
    summary: 'An attempt to debit a cycle has failed, or a cycle has ended without one',
    optional: ': an attempt to debit a cycle has failed, or a cycle has ended without an attempt.',
  }),
  'subscription.past_due': subscriptionEvent('past_due', {
    summary: 'It is past due from then on',
    optional: '',
  }),
  'subscription.canceled': subscriptionEvent('canceled', { summary: 'It was canceled', optional: '' }),
  'subscription.completed': subscriptionEvent('completed', {
    summary: 'Its last cycle has ended',
    optional: ': its last cycle has ended.',
  }),
  'subscription.expired': subscriptionEvent('expired', {
    summary: 'Nobody has authorized it in time, or the bank gave no code',
    optional: ': it was not authorized in time, or the bank gave no code.',
  }),
};

function subscriptionEvent(name: SubscriptionNews, said: { summary: string; optional: string }) {
  const { subscriptionId, status, amountCents, cancelReason, metadata } = subscriptionWire.shape;
  return webhookEvent(`subscription.${name}`, {
    ...said,
    resource: 'subscription',
    members: {
      subscriptionId,
      status,
      amountCents,
      cycle: cycleWire
        .omit({ amountCents: true, paidAt: true })
        .nullable()
        .meta({ description: 'The cycle that has changed; null where none has' }),
      cancelReason,
      metadata,
    },
  });
}

/** Encodes the event of a change; null for one that no webhook announces. */
export function subscriptionWebhook(
  kind: `subscription.${SubscriptionNews | 'changed'}`,
  subscription: SubscriptionSnapshot,
  environment: Environment,
) {
  if (kind === 'subscription.changed') return null;
  const { subscriptionId, status, amountCents, changedCycle: cycle, cancelReason, metadata } = subscription;
  return {
    event: nameIn(environment, kind),
    subscriptionId,
    status,
    amountCents,
    cycle: cycle && {
      number: cycle.number,
      dueAt: cycle.dueAt?.toISOString() ?? null,
      status: cycle.status,
      attempts: cycle.attempts,
      nextAttemptAt: cycle.nextAttemptAt?.toISOString() ?? null,
      paymentId: cycle.paymentId,
      failureReason: cycle.failureReason,
    },
    cancelReason,
    metadata,
  };
}
