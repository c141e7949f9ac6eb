import { expect } from 'vitest';
import { DAY_MS, plusMs } from '../../server/src/kernel/clock.ts';
import type { UpstreamError } from '../../server/src/kernel/errors.ts';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import type { PixRail } from '../../server/src/rails/pix.ts';
import type { OptionalWebhookEvent } from '../../server/src/webhooks/sent-events.ts';
import { buyByPix, stock } from '../catalogue/deliveries/sales.ts';
import { approved, declinedForGood } from '../support/cards.ts';
import type { Core } from '../support/core.ts';
import { fund } from '../support/funds.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const CUSTOMER = { name: 'Ana', email: 'ana@example.com' };
export const SALE = {
  valueCents: 4990,
  metadata: ' {"pedido": 1} ',
  customer: { ...CUSTOMER, externalId: '7', taxId: '12345678909' },
};
/** The members of each event of a sale, after `amount`. */
const SOLD = { amount: 49.9, customer: CUSTOMER, metadata: SALE.metadata };
const SOLD_BY_PIX = { amountCents: 4990, customer: CUSTOMER, metadata: SALE.metadata };

export const CHARGED = { valueCents: 4990, metadata: SALE.metadata };
const CHARGE_MEMBERS = { amountCents: 4990, metadata: SALE.metadata };
/** The amount for which the bank gives no code. */
const REFUSED_CENTS = 4991;

/** Advances the clock once no attempt runs: a running attempt would time out. */
async function later(core: Core): Promise<string> {
  await core.work.settled();
  core.clock.advance(MINUTE);
  return core.clock.now().toISOString();
}

/**
 * The events that come alone. Those of subscriptions come several at a time:
 * test/money-in/subscriptions/interface.test.ts has them. That of an endpoint comes after days of failures:
 * test/webhooks/failing-endpoints.test.ts has it.
 */
export type LoneEvent = Exclude<
  OptionalWebhookEvent,
  `subscription.${string}` | `webhook_endpoint.${string}`
>;

/** Causes each event, and returns the body that it must have. */
export const HAPPENINGS: Record<
  LoneEvent,
  (core: Core, callbackUrl?: string) => Promise<Record<string, unknown>>
> = {
  async 'card_payment.expired'(core, callbackUrl) {
    const { payment } = await core.cardPayments.create(core.tenant, { ...SALE, callbackUrl });
    await core.pass(HOUR);
    const { orderCode, expiresAt } = payment;
    return { orderCode, ...SOLD, status: 'expired', expiredAt: expiresAt.toISOString() };
  },
  async 'card_payment.failed'(core, callbackUrl) {
    const { payment } = await core.cardPayments.create(core.tenant, { ...SALE, callbackUrl });
    const { payment: failed } = await core.cardPayments.pay(payment.orderCode, declinedForGood());
    const { orderCode, failureReason } = failed;
    expect(failureReason).toMatch(/\w/);
    return { orderCode, ...SOLD, status: 'failed', failureReason };
  },
  async 'card_payment.refunded'(core, callbackUrl) {
    const { payment } = await core.cardPayments.create(core.tenant, { ...SALE, callbackUrl });
    const { orderCode } = payment;
    const paidAt = (await core.cardPayments.pay(orderCode, approved())).payment.paidAt!.toISOString();
    const refundedAt = await later(core);
    await core.cardPayments.refund(core.tenant, orderCode);
    return { orderCode, ...SOLD, status: 'refunded', paidAt, refundedAt };
  },
  async 'payment.expired'(core, callbackUrl) {
    const { payment } = await core.payments.create(core.tenant, { ...SALE, callbackUrl });
    await core.pass(HOUR);
    const { paymentId, expiresAt } = payment;
    return { paymentId, ...SOLD_BY_PIX, status: 'expired', expiredAt: expiresAt.toISOString() };
  },
  async 'payment.failed'(core, callbackUrl) {
    const email = 'sem-codigo@psa.example';
    const creation = core.payments.create(core.tenant, { ...SALE, customer: { email }, callbackUrl });
    const refusal = (await creation.catch((error: unknown) => error)) as UpstreamError;
    const paymentId = refusal.lookupReference;
    const failureReason = 'O banco recusou a cobrança';
    return { paymentId, ...SOLD_BY_PIX, customer: { email }, status: 'failed', failureReason };
  },
  async 'payment.refunded'(core, callbackUrl) {
    const { payment } = await core.payments.create(core.tenant, { ...SALE, callbackUrl });
    const { paymentId } = payment;
    await core.pix.pay({ txid: txidOf(paymentId) });
    const paidAt = (await core.payments.receive(core.tenant, paymentId))!.paidAt!.toISOString();
    const refundedAt = await later(core);
    await core.refunds.request(core.tenant, { type: 'payment', id: paymentId }, {});
    return { paymentId, ...SOLD_BY_PIX, status: 'refunded', paidAt, refundedAt };
  },
  async 'charge.expired'(core) {
    const { charge } = await core.charges.create(core.tenant, CHARGED);
    await core.pass(DAY);
    const { chargeId, expiresAt } = charge;
    return { chargeId, ...CHARGE_MEMBERS, status: 'expired', expiredAt: expiresAt.toISOString() };
  },
  async 'charge.failed'(core) {
    const creation = core.charges.create(core.tenant, { ...CHARGED, valueCents: REFUSED_CENTS });
    const refusal = (await creation.catch((error: unknown) => error)) as UpstreamError;
    const failed = { amountCents: REFUSED_CENTS, status: 'failed', failureReason: 'Não' };
    return { chargeId: refusal.lookupReference, ...CHARGE_MEMBERS, ...failed };
  },
  async 'charge.refunded'(core) {
    const { charge } = await core.charges.create(core.tenant, CHARGED);
    const { chargeId } = charge;
    await core.pix.pay({ txid: txidOf(chargeId) });
    const paidAt = (await core.charges.receive(core.tenant, chargeId))!.paidAt!.toISOString();
    const refundedAt = await later(core);
    await core.refunds.request(core.tenant, { type: 'charge', id: chargeId }, {});
    return { chargeId, ...CHARGE_MEMBERS, status: 'refunded', paidAt, refundedAt };
  },
  async 'return.completed'(core, callbackUrl) {
    const { payment } = await core.payments.create(core.tenant, { ...SALE, externalId: '1042', callbackUrl });
    const { paymentId: id } = payment;
    await core.pix.pay({ txid: txidOf(id) });
    await core.payments.receive(core.tenant, id);
    const at = await later(core);
    await core.pix.pay({ txid: txidOf(id) });
    const [returned] = (await core.payments.receive(core.tenant, id))!.returnedCredits;
    const { endToEndId } = returned!;
    const order = { orderId: '1042', externalId: '1042', keptPayment: null };
    const of = { of: { type: 'payment', id }, ...order, endToEndId };
    const times = { receivedAt: at, returnedAt: at };
    const returnId = expect.stringMatching(/^ret_[0-9a-f]{24}$/);
    return { returnId, ...of, amountCents: 4990, cause: 'already_paid', ...times, metadata: SALE.metadata };
  },
  async 'withdrawal.returned'(core) {
    await fund(core, { cents: 10_000 });
    const { payout } = await core.payouts.request(core.tenant, {
      method: 'pix',
      amountCents: 1_000,
      destination: 'ana@example.com',
    });
    await core.pass(HOUR);
    const processedAt = core.clock.now().toISOString();
    await core.bank.sendBack(payout.withdrawalId);
    await core.payouts.recheck(core.tenant, payout.withdrawalId);
    await core.work.settled();
    return {
      withdrawalId: payout.withdrawalId,
      code: payout.code,
      amount: 10,
      method: 'pix',
      walletAddress: 'ana@example.com',
      status: 'concluido',
      processedAt: expect.any(String),
      returnedAt: processedAt,
    };
  },
  async 'withdrawal.processing'(core) {
    await fund(core, { cents: 10_000 });
    const { payout } = await core.payouts.request(core.tenant, {
      method: 'pix_turbo',
      amountCents: 1_000,
      destination: 'ana@example.com',
    });
    await core.pass(HOUR);
    return {
      withdrawalId: payout.withdrawalId,
      code: payout.code,
      amount: 10,
      method: 'pix_turbo',
      walletAddress: 'ana@example.com',
      status: 'processing',
      requestedAt: payout.requestedAt!.toISOString(),
    };
  },
  async 'dispute.opened'(core) {
    const createdAt = core.clock.now().toISOString();
    const evidenceDueAt = plusMs(core.clock.now(), 5 * DAY_MS).toISOString();
    const disputeId = await core.controls.openDispute(core.tenant, { amountCents: 300 });
    const of = { of: null, amountCents: 300, status: 'open', reason: 'fraud' };
    return { disputeId, ...of, evidenceDueAt, createdAt, closedAt: null };
  },
  async 'dispute.updated'(core) {
    const createdAt = core.clock.now().toISOString();
    const evidenceDueAt = plusMs(core.clock.now(), 5 * DAY_MS).toISOString();
    const disputeId = await core.controls.openDispute(core.tenant, { amountCents: 300 });
    // More evidence does not change the status.
    for (const text of ['Entregue', 'Assinado'])
      await core.disputes.submitEvidence(core.tenant, disputeId, { text });
    const of = { of: null, amountCents: 300, status: 'under_review', reason: 'fraud' };
    return { disputeId, ...of, evidenceDueAt, createdAt, closedAt: null };
  },
  async 'dispute.closed'(core) {
    const createdAt = core.clock.now().toISOString();
    const evidenceDueAt = plusMs(core.clock.now(), 5 * DAY_MS).toISOString();
    const disputeId = await core.controls.openDispute(core.tenant, {
      amountCents: 300,
      reason: 'operational_error',
    });
    const closedAt = await later(core);
    await core.controls.closeDispute(core.tenant, disputeId, 'won');
    // The same outcome again changes nothing.
    await core.controls.closeDispute(core.tenant, disputeId, 'won');
    const of = { of: null, amountCents: 300, status: 'won', reason: 'operational_error' };
    return { disputeId, ...of, evidenceDueAt, createdAt, closedAt };
  },
  async 'delivery.delivered'(core, callbackUrl) {
    const { productId, deliveryId } = await stock(core, { text: 'Obrigada!' });
    const id = await buyByPix(core, productId, { callbackUrl });
    return { deliveryId, productId, of: { type: 'payment', id } };
  },
  async 'delivery.out_of_stock'(core, callbackUrl) {
    const { productId, deliveryId } = await stock(core, { codes: ['AAAA-1111'] });
    await buyByPix(core, productId);
    const id = await buyByPix(core, productId, { callbackUrl });
    return { deliveryId, productId, of: { type: 'payment', id } };
  },
};

/** A bank that refuses one amount. */
export function withRefusals(bank: PixRail): PixRail {
  return {
    ...bank,
    register: async (code) =>
      code.amountCents === REFUSED_CENTS ? { status: 'refused', reason: 'Não' } : bank.register(code),
  };
}
