import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CardPaymentChange,
  decideCreate as decideCardCreate,
  decideOutcome,
} from '../../server/src/card-payments/decisions.ts';
import type { StoredCardPayment } from '../../server/src/card-payments/model.ts';
import * as cardRules from '../../server/src/card-payments/refunding.ts';
import {
  type DisputeChange,
  decideClose,
  decideEvidence,
  decideEvidenceDue,
  decideOpen,
} from '../../server/src/disputes/decisions.ts';
import {
  CLAIM_DAYS,
  DISPUTE_OUTCOMES,
  MAX_EVIDENCE,
  NEXT,
  type StoredDispute,
} from '../../server/src/disputes/model.ts';
import { DAY_MS, plusMs } from '../../server/src/kernel/clock.ts';
import { PaymentError } from '../../server/src/kernel/errors.ts';
import {
  applyToBalances,
  type Balances,
  type LedgerTransaction,
  NO_BALANCES,
} from '../../server/src/ledger/postings.ts';
import { pixPayments } from '../../server/src/payments/collections.ts';
import { decideCreate, paymentRules } from '../../server/src/payments/decisions.ts';
import type { StoredPayment } from '../../server/src/payments/model.ts';
import * as pixDisputes from '../../server/src/pix/disputing.ts';
import { pixRefunds } from '../../server/src/pix/refunding.ts';
import { refundableCents } from '../../server/src/receiving/model.ts';
import { walletOf, withdrawableOf } from '../../server/src/wallet/model.ts';
import { generated } from '../support/scale.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const CARD_ACCOUNT = { cardPaymentsEnabled: true, cardReleaseDays: 14 };
const pixRefunding = pixRefunds(paymentRules);

type Sold =
  | { type: 'payment'; payment: StoredPayment }
  | { type: 'card_payment'; payment: StoredCardPayment };

/** A merchant whose sales, refunds and disputes are decided as the service decides them, and a plain list of all of it. */
function createMerchant() {
  let now = NOW;
  let balances: Balances = NO_BALANCES;
  const posted = new Set<string>();
  const sold: Sold[] = [];
  const refunds: { of: number; amountCents: number; status: 'processing' | 'completed' | 'failed' }[] = [];
  const disputes: { of: number | null; dispute: StoredDispute }[] = [];

  function post(transaction: LedgerTransaction | null): void {
    if (!transaction) return;
    expect(posted).not.toContain(transaction.id);
    posted.add(transaction.id);
    expect(transaction.lines.reduce((sum, { amount }) => sum + amount, 0)).toBe(0);
    balances = applyToBalances(balances, transaction);
  }

  /** Records a step of a sale. Neither a dispute nor a refund in part changes its status. */
  function record(
    index: number,
    change: {
      pix?: { resource: StoredPayment; transactions: LedgerTransaction[] | readonly LedgerTransaction[] };
      card?: CardPaymentChange;
    },
  ) {
    const before = sold[index]!.payment;
    const after = change.pix?.resource ?? change.card!.payment;
    for (const transaction of change.pix?.transactions ?? [change.card!.transaction]) post(transaction);
    sold[index] = { ...sold[index]!, payment: after } as Sold;
    const isWhole = after.refundedCents === after.amountCents;
    expect(after.status).toBe(isWhole ? 'refunded' : before.status);
  }

  function tally(of: number) {
    const sum = (rows: readonly { of: number | null; amountCents: number }[]) =>
      rows.reduce((total, row) => total + (row.of === of ? row.amountCents : 0), 0);
    const standing = disputes
      .filter(({ dispute }) => dispute.status !== 'won')
      .map(({ of: index, dispute }) => ({ of: index, amountCents: dispute.amountCents }));
    return {
      completed: sum(refunds.filter(({ status }) => status === 'completed')),
      processing: sum(refunds.filter(({ status }) => status === 'processing')),
      disputed: sum(standing),
    };
  }

  /** Records a step of a dispute, whose status never leaves its transitions. */
  function change(index: number, step: DisputeChange | null): void {
    if (!step) return;
    const { previous, dispute } = step;
    expect(previous).toBe(disputes[index]!.dispute);
    if (dispute.status !== previous!.status) expect(NEXT[previous!.status]).toContain(dispute.status);
    expect(dispute.version).toBe(previous!.version + 1);
    expect((dispute.closedAt !== null) === ['won', 'lost', 'forgiven'].includes(dispute.status)).toBe(true);
    disputes[index] = { ...disputes[index]!, dispute };
    post(step.transaction);
  }

  const nth = <Row>(rows: readonly Row[], which: number) => which % Math.max(1, rows.length);

  return {
    pass(ms: number) {
      now = plusMs(now, ms);
    },
    sell(type: Sold['type'], amountCents: number) {
      const id = String(sold.length).padStart(32, '0');
      if (type === 'card_payment') {
        const { payment } = decideCardCreate(
          { valueCents: amountCents },
          { orderCode: id, checkoutAttempt: null, now },
        );
        const paid = decideOutcome(
          { ...payment, openChargeId: 'chg' },
          { chargeId: 'chg', outcome: { status: 'approved' }, account: CARD_ACCOUNT, now, siblings: [] },
        ) as CardPaymentChange;
        post(paid.transaction);
        sold.push({ type, payment: paid.payment });
        return;
      }
      const { resource } = decideCreate(
        {},
        { amountCents, description: null },
        {
          ...{ paymentId: `psa_${id}`, checkoutAttempt: null, environment: 'live', balances, now },
          account: { pixEnabled: true, pixFeeCents: 0 },
        },
      );
      const paid = pixPayments.decisions.decideCredit(
        resource,
        { endToEndId: `E${id}`, amountCents, at: now },
        { isKnown: false, isOrderClosed: false, environment: 'live', balances, now },
      )!;
      for (const transaction of paid.transactions) post(transaction);
      sold.push({ type, payment: paid.resource });
    },

    /** A claim takes exactly what the plain list says is left, and at most what is claimed. */
    claim(which: number, claimedCents: number) {
      const index = nth(sold, which);
      const found = sold[index];
      if (!found) return;
      const { completed, processing, disputed } = tally(index);
      const days = CLAIM_DAYS[found.type];
      const isLate = days !== null && now > plusMs(found.payment.paidAt!, days * DAY_MS);
      const left = isLate ? 0 : found.payment.amountCents - completed - processing - disputed;
      const claim = { claimedCents, days };
      const begun =
        found.type === 'payment'
          ? pixDisputes.decideDisputeBegin(found.payment, claim, now)
          : cardRules.decideDisputeBegin(found.payment, claim, now);
      expect(begun?.amountCents ?? 0).toBe(Math.min(claimedCents, left));
      if (!begun) return;
      if (found.type === 'payment') record(index, { pix: begun.change as never });
      else record(index, { card: begun.change as never });
      this.open(index, begun.amountCents);
    },
    open(of: number | null, amountCents: number) {
      const step = decideOpen(
        { disputeId: `dsp_${disputes.length}`, amountCents, reason: 'fraud', resource: null },
        { balances, now },
      );
      disputes.push({ of, dispute: step.dispute });
      post(step.transaction);
    },
    decide(which: number, outcome: (typeof DISPUTE_OUTCOMES)[number]) {
      const index = nth(disputes, which);
      const found = disputes[index];
      if (!found) return;
      const step = unlessRefused(() => decideClose(found.dispute, outcome, now));
      change(index, step);
      if (!step || outcome !== 'won' || found.of === null) return;
      const sale = sold[found.of]!;
      const { amountCents } = found.dispute;
      if (sale.type === 'payment')
        record(found.of, { pix: pixDisputes.decideDisputeEnd(sale.payment, amountCents) });
      else record(found.of, { card: cardRules.decideDisputeEnd(sale.payment, amountCents) });
    },
    evidence(which: number) {
      const index = nth(disputes, which);
      const dispute = disputes[index]?.dispute;
      if (!dispute) return;
      const isTaken =
        ['open', 'under_review'].includes(dispute.status) &&
        now < plusMs(dispute.createdAt, 5 * DAY_MS) &&
        dispute.evidence.length < MAX_EVIDENCE;
      const step = unlessRefused(() => decideEvidence(dispute, { text: 'x' }, now));
      expect(step !== null).toBe(isTaken);
      change(index, step);
    },
    due(which: number) {
      const index = nth(disputes, which);
      const dispute = disputes[index]?.dispute;
      if (dispute) change(index, decideEvidenceDue(dispute, now));
    },

    /** A merchant's refund takes nothing of what is disputed, and says why. */
    refund(which: number, amountCents: number) {
      const index = nth(sold, which);
      const found = sold[index];
      if (!found) return;
      const { completed, processing, disputed } = tally(index);
      const left = found.payment.amountCents - completed - processing - disputed;
      const request = { refundId: `ref_${refunds.length}`, amountCents, isAutomatic: false };
      const state = { balances, now };
      const { receivable } = { receivable: balances.merchant_receivable };
      try {
        const begun =
          found.type === 'payment'
            ? pixRefunding.decideRefundBegin(found.payment, request, { ...state, balanceOf: () => 0 })
            : cardRules.decideRefundBegin(found.payment, request, state);
        expect(amountCents).toBeLessThanOrEqual(left);
        if (found.type === 'payment') record(index, { pix: begun.change as never });
        else record(index, { card: begun.change as never });
        refunds.push({ of: index, amountCents: begun.amountCents, status: 'processing' });
      } catch (error) {
        if (!(error instanceof PaymentError)) throw error;
        if (amountCents > left && amountCents <= left + disputed)
          expect(['DISPUTE_STATE', 'NOT_REFUNDABLE']).toContain(error.code);
        else expect(error.code).not.toBe('DISPUTE_STATE');
      }
      expect(balances.merchant_receivable).toBe(receivable);
    },
    endRefund(which: number, status: 'completed' | 'failed') {
      const open = refunds.filter((each) => each.status === 'processing');
      const refund = open[nth(open, which)];
      if (!refund) return;
      const found = sold[refund.of]!;
      const named = { refundId: `ref_${refunds.indexOf(refund)}`, amountCents: refund.amountCents };
      refund.status = status;
      if (found.type === 'payment')
        record(refund.of, {
          pix:
            status === 'completed'
              ? pixRefunding.decideRefundCompleted(found.payment, named, now)
              : pixRefunding.decideRefundFailed(found.payment, named, balances),
        });
      else
        record(refund.of, {
          card:
            status === 'completed'
              ? cardRules.decideRefundCompleted(found.payment, named, now)
              : cardRules.decideRefundFailed(found.payment, named, balances),
        });
    },

    /** The laws that hold after each step. */
    expectLaws() {
      for (const [index, { payment }] of sold.entries()) {
        const { completed, processing, disputed } = tally(index);
        expect([payment.refundedCents, payment.refundingCents, payment.disputedCents]).toEqual([
          ...[completed, processing, disputed],
        ]);
        expect(completed + processing + disputed).toBeLessThanOrEqual(payment.amountCents);
        expect(refundableCents(payment)).toBe(
          payment.status === 'paid' ? payment.amountCents - completed - processing - disputed : 0,
        );
      }
      const held = disputes
        .filter(({ dispute: { status } }) => status !== 'won' && status !== 'forgiven')
        .reduce((sum, { dispute }) => sum + dispute.amountCents, 0);
      expect([balances.dispute_hold, 0 - balances.dispute_claims]).toEqual([held, held]);
      const wallet = walletOf('live', balances, 0);
      expect(wallet.disputeBlockedCents).toBe(held);
      expect(wallet.withdrawableCents).toBe(Math.max(0, balances.merchant_balance - held));
      expect(withdrawableOf(balances)).toBe(wallet.withdrawableCents);
    },
  };
}

function unlessRefused<Value>(decide: () => Value): Value | null {
  try {
    return decide();
  } catch (error) {
    if (error instanceof PaymentError) return null;
    throw error;
  }
}

const which = fc.nat(5);
const cents = fc.integer({ min: 1, max: 1_500 });
const steps = fc.array(
  fc.oneof(
    fc.tuple(
      fc.constant('sell' as const),
      fc.constantFrom('payment' as const, 'card_payment' as const),
      fc.integer({ min: 80, max: 1_000 }),
    ),
    fc.tuple(fc.constant('claim' as const), which, cents),
    fc.tuple(fc.constant('open' as const), fc.constant(null), cents),
    fc.tuple(fc.constant('decide' as const), which, fc.constantFrom(...DISPUTE_OUTCOMES)),
    fc.tuple(fc.constant('evidence' as const), which),
    fc.tuple(fc.constant('due' as const), which),
    fc.tuple(fc.constant('refund' as const), which, cents),
    fc.tuple(
      fc.constant('endRefund' as const),
      which,
      fc.constantFrom('completed' as const, 'failed' as const),
    ),
    fc.tuple(fc.constant('pass' as const), fc.constantFrom(1, DAY_MS, 5 * DAY_MS, 80 * DAY_MS)),
  ),
  { maxLength: 60 },
);

describe('the laws of disputes', () => {
  test('Refunds and disputes never take more than a payment, and a hold is what is open or lost', () => {
    fc.assert(
      fc.property(steps, (history) => {
        const merchant = createMerchant();
        merchant.sell('payment', 1_000);
        for (const [step, ...args] of history) {
          (merchant[step] as (...given: unknown[]) => void)(...args);
          merchant.expectLaws();
        }
      }),
      { numRuns: generated(300) },
    );
  });
});
