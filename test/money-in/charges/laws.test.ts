import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PaymentError } from '../../../server/src/kernel/errors.ts';
import type { Environment } from '../../../server/src/kernel/tenant.ts';
import {
  chargeDecisions,
  chargeRefunds,
  decideCreate,
} from '../../../server/src/money-in/charges/decisions.ts';
import { normalRequest, type StoredCharge } from '../../../server/src/money-in/charges/model.ts';
import { percentText } from '../../../server/src/money-in/charges/percent.ts';
import type { PixChange } from '../../../server/src/money-in/pix/decisions.ts';
import { NEXT } from '../../../server/src/money-in/pix/model.ts';
import {
  applyToBalances,
  type Balances,
  type LedgerTransaction,
  NO_BALANCES,
} from '../../../server/src/state/ledger/postings.ts';
import { ledgerTransaction } from '../../support/ledger.ts';
import { generated } from '../../support/scale.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const SUBACCOUNTS = ['sacc_a', 'sacc_b', 'sacc_c'];

/** A refund in the second model: the amount that each party has given of it. */
interface Refund {
  chargeId: string;
  amountCents: number;
  status: 'processing' | 'completed' | 'failed';
  taken: ReadonlyMap<string, number>;
  before: StoredCharge['splits'];
}

/** A tenant whose charges are decided as the service decides them, and a second model of its ledger. */
function createTenant(environment: Environment, pixFeeCents: number) {
  let balances: Balances = NO_BALANCES;
  const posted = new Set<string>();
  const entries = new Set<string>();
  const charges = new Map<string, StoredCharge>();
  const refunds = new Map<string, Refund>();
  const subaccounts = new Map(SUBACCOUNTS.map((id) => [id, 0]));
  /** The amounts that have left each subaccount, and the balance, in another way. */
  const withdrawn = new Map(SUBACCOUNTS.map((id) => [id, 0]));
  let paidOutCents = 0;
  let heldCents = 0;

  function post(transaction: LedgerTransaction): void {
    expect(posted).not.toContain(transaction.id);
    posted.add(transaction.id);
    balances = applyToBalances(balances, transaction);
    for (const { account, amount } of transaction.lines)
      if (account === 'merchant_subaccounts') {
        const id = transaction.subaccountId!;
        subaccounts.set(id, subaccounts.get(id)! + amount);
        // Law 10: no subaccount goes below zero.
        expect(subaccounts.get(id)).toBeGreaterThanOrEqual(0);
      }
  }

  function apply(change: PixChange<StoredCharge> | null): void {
    if (!change) return;
    const { previous, resource, transactions, moves } = change;
    if (previous && previous.status !== resource.status)
      expect(NEXT[previous.status]).toContain(resource.status);
    charges.set(resource.chargeId, resource);
    for (const transaction of transactions) post(transaction);
    for (const { kind, refId, subaccountId, amountCents, transaction } of moves) {
      // A statement has one line of each kind for each reference.
      const entry = `${kind} ${refId} ${subaccountId}`;
      expect(entries).not.toContain(entry);
      entries.add(entry);
      expect(transaction.lines).toContainEqual({ account: 'merchant_subaccounts', amount: amountCents });
      post(transaction);
    }
  }

  const nth = <Row>(rows: ReadonlyMap<string, Row>, which: number): Row | undefined =>
    [...rows.values()][which % Math.max(1, rows.size)];

  return {
    charges,
    refunds,
    subaccounts,
    balances: () => balances,

    create(valueCents: number, basisPoints: readonly number[]): void {
      const splits = basisPoints.map((share, index) => ({
        subaccountId: SUBACCOUNTS[index]!,
        percent: percentText(share),
      }));
      const chargeId = `psplit_${String(charges.size).padStart(32, '0')}`;
      try {
        apply(
          decideCreate(normalRequest({ valueCents, splits }), {
            chargeId,
            environment,
            balances,
            now: NOW,
            account: { pixEnabled: true, pixFeeCents },
          }),
        );
      } catch (error) {
        expect((error as PaymentError).code).toBe('BAD_USER_INPUT');
      }
    },
    pay(which: number): void {
      const charge = nth(charges, which);
      if (!charge) return;
      const { amountCents, chargeId } = charge;
      const credit = { endToEndId: `E${chargeId}`, amountCents, at: NOW };
      const isKnown = charge.endToEndId !== null;
      apply(
        chargeDecisions.decideCredit(charge, credit, {
          isKnown,
          keptPayment: null,
          environment,
          balances,
          now: NOW,
        }),
      );
    },
    refund(which: number, amountCents: number | null): void {
      const charge = nth(charges, which);
      if (!charge) return;
      const refundId = `ref_${refunds.size}`;
      const owed = balances.merchant_receivable;
      const withdrawable = Math.max(0, balances.merchant_balance - heldCents);
      try {
        const begun = chargeRefunds.decideRefundBegin(
          charge,
          { refundId, amountCents, isAutomatic: false },
          { balances, now: NOW, balanceOf: (id) => subaccounts.get(id)! },
        );
        const { moves, transactions } = begun.change;
        const taken = new Map(moves.map((move) => [move.subaccountId, -move.amountCents]));
        const own = transactions.flatMap(({ lines }) =>
          lines.filter(({ account }) => account === 'merchant_balance').map(({ amount }) => -amount),
        );
        const sum = [...taken.values(), ...own].reduce((total, cents) => total + cents, 0);
        // Law 9: the parts sum to the refund.
        expect(sum).toBe(begun.amountCents);
        expect(own.reduce((total, cents) => total + cents, 0)).toBeLessThanOrEqual(withdrawable);
        const before = charge.splits;
        const { amountCents: cents } = begun;
        apply(begun.change);
        refunds.set(refundId, {
          chargeId: charge.chargeId,
          amountCents: cents,
          status: 'processing',
          taken,
          before,
        });
      } catch (error) {
        expect(['NOT_REFUNDABLE', 'BAD_USER_INPUT', 'INSUFFICIENT_FUNDS']).toContain(
          (error as PaymentError).code,
        );
      }
      // Law 10: a merchant's own refund creates no debt.
      expect(balances.merchant_receivable).toBe(owed);
    },
    endRefund(which: number, status: 'completed' | 'failed'): void {
      const open = [...refunds].filter(([, each]) => each.status === 'processing');
      const [refundId, refund] = open[which % Math.max(1, open.length)] ?? [];
      if (!refundId || !refund) return;
      const charge = charges.get(refund.chargeId)!;
      const named = { refundId, amountCents: refund.amountCents, isAutomatic: false };
      const held = new Map(subaccounts);
      apply(
        status === 'completed'
          ? chargeRefunds.decideRefundCompleted(charge, named, NOW)
          : chargeRefunds.decideRefundFailed(charge, named, balances),
      );
      refund.status = status;
      // A failed refund returns exactly what it has taken; a completed one returns nothing.
      for (const [id, cents] of held)
        expect(subaccounts.get(id)! - cents).toBe(status === 'failed' ? (refund.taken.get(id) ?? 0) : 0);
    },
    /** Takes money from a subaccount, or from the balance, in another way, or holds it there. */
    drain(which: number, cents: number): void {
      const subaccountId = SUBACCOUNTS[which]!;
      const amount = Math.min(cents, subaccounts.get(subaccountId)!);
      if (amount === 0) return;
      withdrawn.set(subaccountId, withdrawn.get(subaccountId)! + amount);
      const moved = { from: 'merchant_subaccounts', to: 'paid_out', amount } as const;
      post(ledgerTransaction(`drained:${posted.size}`, [moved], subaccountId));
    },
    payOut(cents: number): void {
      const amount = Math.min(cents, balances.merchant_balance);
      if (amount === 0) return;
      paidOutCents += amount;
      const moved = { from: 'merchant_balance', to: 'paid_out', amount } as const;
      post(ledgerTransaction(`paid out:${posted.size}`, [moved]));
    },
    hold(amount: number): void {
      heldCents += amount;
      const moved = { from: 'dispute_claims', to: 'dispute_hold', amount } as const;
      post(ledgerTransaction(`held:${posted.size}`, [moved]));
    },

    /** The balances that follow from the recorded events alone. */
    expected() {
      const paid = [...charges.values()].filter(({ paidAt }) => paidAt !== null);
      const open = [...refunds.values()].filter(({ status }) => status !== 'failed');
      const takenFrom = (id: string) => open.reduce((sum, { taken }) => sum + (taken.get(id) ?? 0), 0);
      const shareOf = ({ splits }: StoredCharge, id: string) =>
        splits.find((split) => split.subaccountId === id)?.amountCents ?? 0;
      const parts = SUBACCOUNTS.map((id) => ({
        id,
        cents:
          paid.reduce((sum, charge) => sum + shareOf(charge, id), 0) - takenFrom(id) - withdrawn.get(id)!,
      }));
      const own =
        paid.reduce(
          (sum, charge) =>
            sum +
            charge.amountCents -
            charge.feeCents -
            charge.splits.reduce((shares, split) => shares + split.amountCents, 0),
          0,
        ) -
        open.reduce(
          (sum, { amountCents, taken }) =>
            sum + amountCents - [...taken.values()].reduce((all, cents) => all + cents, 0),
          0,
        ) -
        paidOutCents;
      return { subaccounts: new Map(parts.map(({ id, cents }) => [id, cents])), own };
    },
  };
}

type Tenant = ReturnType<typeof createTenant>;

/** The laws that hold after each step. */
function expectLaws(tenant: Tenant): void {
  const balances = tenant.balances();
  const { subaccounts, own } = tenant.expected();
  expect(tenant.subaccounts).toEqual(subaccounts);
  expect(balances.merchant_balance + balances.merchant_receivable).toBe(own);
  expect(balances.merchant_subaccounts).toBe(
    [...tenant.subaccounts.values()].reduce((sum, cents) => sum + cents, 0),
  );
  for (const charge of tenant.charges.values()) {
    const { amountCents, feeCents, splits, refundedCents, refundingCents, refundParts } = charge;
    const shares = splits.reduce((sum, split) => sum + split.amountCents, 0);
    // Law 8: the shares are at most the amount without the fee.
    expect(shares).toBeLessThanOrEqual(amountCents - feeCents);
    const refunds = [...tenant.refunds.entries()].filter(([, { chargeId }]) => chargeId === charge.chargeId);
    const of = (status: Refund['status']) =>
      refunds
        .filter(([, each]) => each.status === status)
        .reduce((sum, [, each]) => sum + each.amountCents, 0);
    expect([refundedCents, refundingCents]).toEqual([of('completed'), of('processing')]);
    const assigned = splits.reduce((sum, split) => sum + split.assignedCents, 0);
    const owners = refundedCents + refundingCents - assigned;
    expect(owners).toBeGreaterThanOrEqual(0);
    expect(owners).toBeLessThanOrEqual(amountCents - shares);
    for (const split of splits) {
      const taken = refunds
        .filter(([, { status }]) => status !== 'failed')
        .reduce((sum, [, each]) => sum + (each.taken.get(split.subaccountId) ?? 0), 0);
      expect(split.refundedCents).toBe(taken);
      expect(split.refundedCents).toBeLessThanOrEqual(split.assignedCents);
      expect(split.assignedCents).toBeLessThanOrEqual(split.amountCents);
    }
    // A refund of the whole takes exactly the shares.
    if (refundedCents + refundingCents === amountCents) expect(assigned).toBe(shares);
    const isSplit = splits.length > 0;
    expect(refundParts.map(({ refundId }) => refundId)).toEqual(
      refunds.filter(([, { status }]) => isSplit && status === 'processing').map(([refundId]) => refundId),
    );
  }
}

const which = fc.nat({ max: 5 });
const cents = fc.integer({ min: 1, max: 900 });
const step = fc.oneof(
  fc.tuple(
    fc.constant('create' as const),
    cents,
    fc.array(fc.integer({ min: 1, max: 6_000 }), { maxLength: 3 }),
  ),
  fc.tuple(fc.constant('pay' as const), which),
  fc.tuple(fc.constant('refund' as const), which, fc.option(cents)),
  fc.tuple(
    fc.constant('endRefund' as const),
    which,
    fc.constantFrom('completed' as const, 'failed' as const),
  ),
  fc.tuple(fc.constant('drain' as const), fc.nat({ max: 2 }), cents),
  fc.tuple(fc.constant('payOut' as const), cents),
  fc.tuple(fc.constant('hold' as const), fc.integer({ min: 1, max: 100 })),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function take(tenant: Tenant, each: Step): unknown {
  switch (each[0]) {
    case 'create':
      return tenant.create(each[1], each[2]);
    case 'pay':
      return tenant.pay(each[1]);
    case 'refund':
      return tenant.refund(each[1], each[2]);
    case 'endRefund':
      return tenant.endRefund(each[1], each[2]);
    case 'drain':
      return tenant.drain(each[1], each[2]);
    case 'payOut':
      return tenant.payOut(each[1]);
    case 'hold':
      return tenant.hold(each[1]);
  }
}

describe('the laws of split charges, in any history', () => {
  test('After each step the books are those of a second model, and every law of shares and refunds holds', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Environment>('live', 'live', 'sandbox'),
        fc.constantFrom(0, 25, 300),
        fc.array(step, { minLength: 8, maxLength: 40 }),
        (environment, fee, steps) => {
          const tenant = createTenant(environment, fee);
          tenant.create(777, [3_333, 3_333]);
          tenant.create(500, []);
          tenant.pay(0);
          tenant.pay(1);
          for (const each of steps) {
            take(tenant, each);
            expectLaws(tenant);
          }
        },
      ),
      { numRuns: generated(3_000, 30) },
    );
  });
});
