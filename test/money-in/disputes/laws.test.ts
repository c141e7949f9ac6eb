import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, plusMs } from '../../../server/src/kernel/clock.ts';
import { PaymentError } from '../../../server/src/kernel/errors.ts';
import {
  cardPayments,
  disputableCardPayments,
  refundableCardPayments,
} from '../../../server/src/money-in/card-payments/collections.ts';
import {
  type CardPaymentChange,
  decideCreate as decideCardCreate,
  decideOutcome,
} from '../../../server/src/money-in/card-payments/decisions.ts';
import type { StoredCardPayment } from '../../../server/src/money-in/card-payments/model.ts';
import {
  disputes,
  isWaiting,
  writesOf,
  writesOfClaim,
  writesOfClose,
  writesOfWaiting,
} from '../../../server/src/money-in/disputes/collections.ts';
import {
  decideClose,
  decideEvidence,
  decideEvidenceDue,
  decideOpen,
} from '../../../server/src/money-in/disputes/decisions.ts';
import {
  CLAIM_DAYS,
  DISPUTE_OUTCOMES,
  MAX_EVIDENCE,
  NEXT,
  type StoredDispute,
} from '../../../server/src/money-in/disputes/model.ts';
import {
  disputablePayments,
  pixPayments,
  refundablePayments,
} from '../../../server/src/money-in/payments/collections.ts';
import { decideCreate } from '../../../server/src/money-in/payments/decisions.ts';
import { refundableCents } from '../../../server/src/money-in/receiving/model.ts';
import { walletOf } from '../../../server/src/money-out/wallet/model.ts';
import { put, type State, type Writes } from '../../../server/src/state/commit/commit.ts';
import { withdrawableOf } from '../../../server/src/state/ledger/funds.ts';
import {
  applyToBalances,
  type Balances,
  type LedgerTransaction,
  NO_BALANCES,
} from '../../../server/src/state/ledger/postings.ts';
import { generated } from '../../support/scale.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const CARD_ACCOUNT = { cardPaymentsEnabled: true, cardReleaseDays: 14 };

/** Content and shares have laws of their own, and are left out here. */
const NO_CONTENT = { read: async () => undefined, deliver: () => ({}), revoke: () => ({}) } as never;
const SOURCES = { payment: disputablePayments, card_payment: disputableCardPayments } as never;
const REFUNDED = {
  payment: refundablePayments({} as never, NO_CONTENT, []),
  card_payment: refundableCardPayments(NO_CONTENT, []),
};

interface Sold {
  type: 'payment' | 'card_payment';
  id: string;
}

/**
 * A claim in the plain list: the amount that its dispute holds, and the amount that it lacks while refunds are
 * pending.
 */
interface Claimed {
  of: number;
  disputeId: string;
  amountCents: number;
  missingCents: number;
}

/**
 * A merchant whose sales, refunds and disputes are decided as the service decides them, and a plain list of all of
 * them.
 */
function createMerchant() {
  let now = NOW;
  let balances: Balances = NO_BALANCES;
  const posted = new Set<string>();
  const rows = new Map<string, unknown>();
  const sold: Sold[] = [];
  const refunds: { of: number; amountCents: number; status: 'processing' | 'completed' | 'failed' }[] = [];
  const disputeIds: string[] = [];
  const claims: Claimed[] = [];

  function post(transaction: LedgerTransaction | null): void {
    if (!transaction) return;
    expect(posted).not.toContain(transaction.id);
    posted.add(transaction.id);
    expect(transaction.lines.reduce((sum, { amount }) => sum + amount, 0)).toBe(0);
    balances = applyToBalances(balances, transaction);
  }

  const nameOf = (collection: { name: string }, key: string) => `${collection.name} ${key}`;
  /** The state for a decision, in which an absent row is null. */
  const state = (): State => ({
    get: (collection, key) => (rows.get(nameOf(collection, key)) ?? null) as never,
    need: (collection, key) => rows.get(nameOf(collection, key)) as never,
    balances,
    now,
  });
  const paymentOf = ({ type, id }: Sold) =>
    type === 'payment'
      ? state().need(pixPayments.records, id)
      : state().need<StoredCardPayment>(cardPayments, id);
  const disputeOf = (disputeId: string) => state().need(disputes, disputeId);

  /** Records writes as a commit does. */
  function record({ records = [], transactions = [] }: Writes): void {
    for (const { collection, key, row } of records) {
      const name = nameOf(collection, key);
      if (collection.name === 'dispute') expectFollows(rows.get(name) as never, row as StoredDispute);
      if (collection.name === 'dispute' && !disputeIds.includes(key)) disputeIds.push(key);
      rows.set(name, row);
    }
    for (const transaction of transactions) post(transaction);
  }

  /** Asserts that a dispute's status follows its transitions, and that its amount never shrinks. */
  function expectFollows(previous: StoredDispute | undefined, dispute: StoredDispute): void {
    expect(dispute.version).toBe((previous?.version ?? 0) + 1);
    expect((dispute.closedAt !== null) === ['won', 'lost', 'forgiven'].includes(dispute.status)).toBe(true);
    if (!previous) return;
    if (dispute.status !== previous.status) expect(NEXT[previous.status]).toContain(dispute.status);
    expect(dispute.amountCents).toBeGreaterThanOrEqual(previous.amountCents);
  }

  function tally(of: number) {
    const sum = (cents: readonly number[]) => cents.reduce((total, each) => total + each, 0);
    const refunded = (status: string) =>
      sum(refunds.filter((each) => each.of === of && each.status === status).map((each) => each.amountCents));
    const disputed = claims
      .filter((each) => each.of === of && each.amountCents > 0)
      .filter(({ disputeId }) => disputeOf(disputeId).status !== 'won')
      .map(({ amountCents }) => amountCents);
    return {
      completed: refunded('completed'),
      processing: refunded('processing'),
      disputed: sum(disputed),
    };
  }
  function leftOf(of: number): number {
    const { completed, processing, disputed } = tally(of);
    return paymentOf(sold[of]!).amountCents - completed - processing - disputed;
  }

  /** Gives freed money to the claims that lack it, oldest first, in the plain list, too. */
  function fill(of: number): void {
    record(writesOfWaiting(state(), SOURCES, sold[of]!).writes);
    for (const each of claims.filter((claim) => claim.of === of)) {
      const amountCents = Math.min(each.missingCents, leftOf(of));
      each.amountCents += amountCents;
      each.missingCents = Math.min(each.missingCents - amountCents, tally(of).processing);
    }
  }

  const nth = <Row>(list: readonly Row[], which: number) => which % Math.max(1, list.length);

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
          { chargeId: 'chg', outcome: { status: 'approved' }, account: CARD_ACCOUNT, now, otherPayments: [] },
        ) as CardPaymentChange;
        record({
          records: [put(cardPayments, paid.payment)],
          transactions: paid.transaction ? [paid.transaction] : [],
        });
        sold.push({ type, id });
        return;
      }
      const { resource } = decideCreate(
        {},
        { amountCents, description: null },
        {
          paymentId: `psa_${id}`,
          checkoutAttempt: null,
          environment: 'live',
          balances,
          now,
          account: { pixEnabled: true, pixFeeCents: 0 },
        },
      );
      const paid = pixPayments.decisions.decideCredit(
        resource,
        { endToEndId: `E${id}`, amountCents, at: now },
        { isKnown: false, keptPayment: null, environment: 'live', balances, now },
      )!;
      record({ records: [put(pixPayments.records, paid.resource)], transactions: paid.transactions });
      sold.push({ type, id: paid.resource.paymentId });
    },

    /** Claims. The dispute holds what the plain list says is left, and lacks what pending refunds hold. */
    claim(which: number, claimedCents: number) {
      const of = nth(sold, which);
      const resource = sold[of]!;
      const days = CLAIM_DAYS[resource.type];
      const { status, paidAt } = paymentOf(resource);
      const isLate = days !== null && now > plusMs(paidAt!, days * DAY_MS);
      const possible = isLate || status !== 'paid' ? 0 : claimedCents;
      const amountCents = Math.min(possible, leftOf(of));
      const missingCents = Math.min(possible - amountCents, tally(of).processing);
      const disputeId = `dsp_${claims.length}`;
      const claim = { disputeId, claimedCents, reason: 'fraud', days, claimKey: null } as const;
      const made = writesOfClaim(state(), SOURCES, resource, claim);
      expect([made !== null, made?.isOpened ?? false]).toEqual([
        amountCents + missingCents > 0,
        amountCents > 0,
      ]);
      record(made?.writes ?? {});
      claims.push({ of, disputeId, amountCents, missingCents });
    },
    open(_: null, amountCents: number) {
      const disputeId = `dsp_of_none_${disputeIds.length}`;
      const claim = { disputeId, amountCents, reason: 'fraud', resource: null } as const;
      record(writesOf(decideOpen(claim, { balances, now })));
    },
    decide(which: number, outcome: (typeof DISPUTE_OUTCOMES)[number]) {
      const disputeId = disputeIds[nth(disputeIds, which)];
      if (!disputeId) return;
      const step = unlessRefused(() => decideClose(disputeOf(disputeId), outcome, now));
      if (!step) return;
      record(writesOfClose(state(), SOURCES, step).writes);
      const found = claims.find((each) => each.disputeId === disputeId);
      if (!found || outcome === 'lost') return;
      found.missingCents = 0;
      if (outcome === 'won') fill(found.of);
    },
    evidence(which: number) {
      const disputeId = disputeIds[nth(disputeIds, which)];
      if (!disputeId) return;
      const dispute = disputeOf(disputeId);
      const isTaken =
        ['open', 'under_review'].includes(dispute.status) &&
        now < plusMs(dispute.createdAt, 5 * DAY_MS) &&
        dispute.evidence.length < MAX_EVIDENCE;
      const step = unlessRefused(() => decideEvidence(dispute, { text: 'x' }, now));
      expect(step !== null).toBe(isTaken);
      if (step) record(writesOf(step));
    },
    due(which: number) {
      const disputeId = disputeIds[nth(disputeIds, which)];
      const step = disputeId && decideEvidenceDue(disputeOf(disputeId), now);
      if (step) record(writesOf(step));
    },

    /** Refunds. The refund takes nothing of a disputed amount, and its refusal says why. */
    refund(which: number, amountCents: number) {
      const of = nth(sold, which);
      const { type, id } = sold[of]!;
      const { disputed } = tally(of);
      const left = leftOf(of);
      const request = { refundId: `ref_${refunds.length}`, amountCents, isAutomatic: false };
      const receivable = balances.merchant_receivable;
      try {
        const begun = REFUNDED[type].begin(state(), id, request);
        expect(amountCents).toBeLessThanOrEqual(left);
        record(begun.writes);
        refunds.push({ of, amountCents: begun.amountCents, status: 'processing' });
      } catch (error) {
        if (!(error instanceof PaymentError)) throw error;
        if (amountCents > left && amountCents <= left + disputed)
          expect(['DISPUTE_STATE', 'NOT_REFUNDABLE']).toContain(error.code);
        else expect(error.code).not.toBe('DISPUTE_STATE');
      }
      expect(balances.merchant_receivable).toBe(receivable);
    },
    /** Ends a refund. Neither a partial refund nor a failed one changes the status of its payment. */
    endRefund(which: number, status: 'completed' | 'failed') {
      const open = refunds.filter((each) => each.status === 'processing');
      const refund = open[nth(open, which)];
      if (!refund) return;
      const { type, id } = sold[refund.of]!;
      const { amountCents } = refund;
      const named = { refundId: `ref_${refunds.indexOf(refund)}`, amountCents, isAutomatic: false, status };
      record(REFUNDED[type].end(state(), id, named).writes);
      refund.status = status;
      fill(refund.of);
    },

    /** The laws that hold after each step. */
    expectLaws() {
      for (const [of, resource] of sold.entries()) {
        const payment = paymentOf(resource);
        const { completed, processing, disputed } = tally(of);
        expect([payment.refundedCents, payment.refundingCents, payment.disputedCents]).toEqual([
          ...[completed, processing, disputed],
        ]);
        expect(completed + processing + disputed).toBeLessThanOrEqual(payment.amountCents);
        expect(payment.status).toBe(completed === payment.amountCents ? 'refunded' : 'paid');
        expect(refundableCents(payment)).toBe(payment.status === 'paid' ? leftOf(of) : 0);
        // While a claim lacks money no refund takes any, and only claims of this payment lack some.
        const waiting = claims.filter((each) => each.of === of && each.missingCents > 0);
        for (const { disputeId, missingCents } of waiting) {
          expect([refundableCents(payment), isWaiting(state(), resource, disputeId)]).toEqual([0, true]);
          expect(missingCents).toBeLessThanOrEqual(processing);
        }
      }
      for (const { disputeId, amountCents } of claims)
        expect(state().get(disputes, disputeId)?.amountCents ?? 0).toBe(amountCents);
      const held = disputeIds
        .map(disputeOf)
        .filter(({ status }) => status !== 'won' && status !== 'forgiven')
        .reduce((sum, { amountCents }) => sum + amountCents, 0);
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
        merchant.expectLaws();
        for (const [step, ...args] of history) {
          (merchant[step] as (...given: unknown[]) => void)(...args);
          merchant.expectLaws();
        }
      }),
      { numRuns: generated(300) },
    );
  });
});
