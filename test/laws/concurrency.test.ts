import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import {
  IdempotencyError,
  InsufficientFundsError,
  PreconditionError,
  RateLimitError,
  ValidationError,
} from '../../server/src/kernel/errors.ts';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import { MAX_REFUNDS } from '../../server/src/money-in/receiving/model.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { approved } from '../support/cards.ts';
import { type Core, startCore } from '../support/core.ts';
import { describeOnDatabase } from '../support/database.ts';
import { fund } from '../support/funds.ts';
import { FEES } from '../support/payout-methods.ts';
import { generated, scale } from '../support/scale.ts';
import { expectStatementsHold, MARKUP, openSubaccount } from '../support/subaccounts.ts';
import { expectBooksHold } from './books.ts';

const MINUTE = 60_000;
const LTC = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9';
const AT_ONCE = 64;
const ROUNDS = scale('ONE_KEY');
/** The amount of each payment that is refunded, and the subaccount's part of the charge. */
const PAID_CENTS = 5_000;
const PART_CENTS = 2_000;
const SUBACCOUNT_CENTS = 10_000;

const amountCents = fc.integer({ min: 520, max: 4_000 });
const receives = fc.constantFrom('ana@padaria.example', 'nega@psa.example');
/** All operations that take money. None of it is returned before time has passed. */
const debit = fc.oneof(
  fc.record({
    kind: fc.constantFrom('pix' as const, 'pix_turbo' as const, 'ltc' as const),
    amountCents,
    pixKey: receives,
  }),
  fc.record({ kind: fc.constant('transfer' as const), amountCents, pixKey: receives }),
  fc.record({
    kind: fc.constant('subaccountPayout' as const),
    amountCents,
    pixKey: fc.oneof(receives, fc.constant('recusa@psa.example')),
  }),
  fc.record({
    kind: fc.constantFrom('refundCard' as const, 'refundPix' as const, 'refundCharge' as const),
    amountCents,
    pixKey: receives,
  }),
);
type Debit = typeof debit extends fc.Arbitrary<infer Value> ? Value : never;
/** All operations with an idempotency key. */
const keyed = fc.oneof(
  debit,
  fc.record({
    kind: fc.constantFrom(
      'card' as const,
      'payment' as const,
      'charge' as const,
      'subscription' as const,
      'delivery' as const,
      'evidence' as const,
    ),
    amountCents,
    pixKey: receives,
  }),
);
type Keyed = typeof keyed extends fc.Arbitrary<infer Value> ? Value : never;

/** The resources that the requests name. */
interface Given {
  subaccountId: string;
  /** A card payment, a PIX payment and a split charge, which are paid and can be refunded. */
  paid: { orderCode: string; paymentId: string; chargeId: string };
}

/** Creates payments that can be refunded, and a subaccount with money and a part of the charge. */
async function give(core: Core): Promise<Given> {
  const { tenant, cardPayments, payments, charges, pix } = core;
  const subaccountId = await openSubaccount(core, SUBACCOUNT_CENTS);
  const { payment: card } = await cardPayments.create(tenant, { valueCents: PAID_CENTS });
  await cardPayments.pay(card.orderCode, approved());
  const { payment } = await payments.create(tenant, { valueCents: PAID_CENTS });
  await pix.pay({ txid: txidOf(payment.paymentId) });
  await payments.receive(tenant, payment.paymentId);
  const splits = [{ subaccountId, amountCents: PART_CENTS }];
  const { charge } = await charges.create(tenant, { valueCents: PAID_CENTS, splits });
  await pix.pay({ txid: txidOf(charge.chargeId) });
  await charges.receive(tenant, charge.chargeId);
  // The card payment is released at once.
  await core.work.settled();
  const { orderCode } = card;
  return { subaccountId, paid: { orderCode, paymentId: payment.paymentId, chargeId: charge.chargeId } };
}

/**
 * The amounts of the three payments that refunds have taken so far, pending or done; `split` is the subaccount's
 * part.
 */
async function refunded({ tenant, cardPayments, payments, charges }: Core, { paid }: Given) {
  const card = (await cardPayments.find(tenant, paid.orderCode))!;
  const payment = (await payments.find(tenant, paid.paymentId))!;
  const charge = (await charges.find(tenant, paid.chargeId))!;
  const sum = (of: { refundedCents: number; refundingCents: number }) => of.refundedCents + of.refundingCents;
  return {
    refundCard: sum(card),
    refundPix: sum(payment),
    refundCharge: sum(charge),
    split: charge.splits[0]!.refundedCents,
    isDone: [card, payment, charge].every(({ refundingCents }) => refundingCents === 0),
  };
}

/** Requests one operation at an instance. `id` distinguishes its effect from all others. */
async function take(
  core: Core,
  { subaccountId, paid, ...given }: Given & { productId?: string; disputeId?: string },
  { kind, amountCents, pixKey }: Keyed,
  idempotencyKey?: string,
): Promise<{ id: string; replayed: boolean }> {
  const { tenant, payouts, subaccounts, cardPayments, payments, charges, subscriptions } = core;
  const refund = async (type: 'card_payment' | 'payment' | 'charge', id: string) => {
    const input = { amountCents, idempotencyKey };
    const { refund: made, replayed } = await core.refunds.request(tenant, { type, id }, input);
    return { id: made.refundId, replayed };
  };
  switch (kind) {
    case 'refundCard':
      return refund('card_payment', paid.orderCode);
    case 'refundPix':
      return refund('payment', paid.paymentId);
    case 'refundCharge':
      return refund('charge', paid.chargeId);
    case 'payment': {
      const { payment, replayed } = await payments.create(tenant, {
        valueCents: amountCents,
        idempotencyKey,
      });
      return { id: payment.paymentId, replayed };
    }
    case 'charge': {
      const splits = [{ subaccountId, amountCents: 100 }];
      const { charge, replayed } = await charges.create(tenant, {
        valueCents: amountCents,
        splits,
        idempotencyKey,
      });
      return { id: charge.chargeId, replayed };
    }
    case 'subscription': {
      const input = { valueCents: amountCents, interval: 'weekly', idempotencyKey } as const;
      const { subscription, replayed } = await subscriptions.create(tenant, input);
      return { id: subscription.subscriptionId, replayed };
    }
    case 'delivery': {
      const input = { productId: given.productId!, content: { text: `Nº ${amountCents}` }, idempotencyKey };
      const { delivery, replayed } = await core.deliveries.create(tenant, input);
      return { id: delivery.deliveryId, replayed };
    }
    case 'evidence': {
      const input = { text: `Nº ${amountCents}`, idempotencyKey };
      const { dispute, replayed } = await core.disputes.submitEvidence(tenant, given.disputeId!, input);
      // A second submission would add another evidence.
      return { id: `${dispute.disputeId} ${dispute.evidence.length}`, replayed };
    }
    case 'card': {
      const input = { valueCents: amountCents, idempotencyKey };
      const { payment, replayed } = await cardPayments.create(tenant, input);
      return { id: payment.orderCode, replayed };
    }
    case 'pix':
    case 'pix_turbo':
    case 'ltc': {
      const destination = kind === 'ltc' ? LTC : pixKey;
      const input = { method: kind, amountCents, destination, idempotencyKey };
      const { payout, replayed } = await payouts.request(tenant, input);
      return { id: payout.withdrawalId, replayed };
    }
    case 'transfer': {
      const input = { subaccountId, amountCents, idempotencyKey };
      const { entry, replayed } = await subaccounts.transfer(tenant, input);
      return { id: entry.refId, replayed };
    }
    case 'subaccountPayout': {
      const input = { subaccountId, amountCents, pixKey, idempotencyKey };
      const { payout, replayed } = await subaccounts.requestPayout(tenant, input);
      return { id: payout.id, replayed };
    }
  }
}

describeOnDatabase(`${AT_ONCE} debits of all kinds at once, of two instances`, (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  async function start(): Promise<[Core, Core]> {
    const account = {
      payoutFeesCents: FEES,
      pixMaxCents: null,
      subaccountMarkupCents: MARKUP,
      cardReleaseDays: 0,
    };
    const first = await startCore({ database, account, follows: false });
    return [first, await startCore({ database, tenant: first.tenant, clock: first.clock, follows: false })];
  }

  test('Concurrent debits of two instances never take more than there is', async () => {
    const funds = fc.record({ own: fc.nat({ max: 60_000 }), held: fc.nat({ max: 20_000 }) });
    const debits = fc.array(debit, { minLength: AT_ONCE, maxLength: AT_ONCE });
    await fc.assert(
      fc.asyncProperty(funds, debits, async ({ own, held }, debits) => {
        const cores = await start();
        const [core] = cores;
        const given = await give(core);
        await fund(core, { cents: own, heldCents: held, litoshi: 10_000_000 });
        const before = await expectBooksHold(database, core.tenant);
        const results = await Promise.allSettled(
          debits.map((debit, index) => take(cores[index % 2]!, given, debit)),
        );

        const after = await expectBooksHold(database, core.tenant);
        await expectStatementsHold(database, core.tenant);
        const refunds = await refunded(core, given);
        const taken = (...kinds: Debit['kind'][]) =>
          debits
            .filter(({ kind }, index) => kinds.includes(kind) && results[index]!.status === 'fulfilled')
            .reduce((sum, { amountCents }) => sum + amountCents, 0);
        for (const kind of REFUNDS) {
          expect(refunds[kind]).toBe(taken(kind));
          expect(refunds[kind]).toBeLessThanOrEqual(PAID_CENTS);
        }
        // The subaccount's part of a refund is not the merchant's.
        const ownTaken = taken('pix', 'pix_turbo', 'transfer', ...REFUNDS) - refunds.split;
        expect(ownTaken).toBeLessThanOrEqual(Math.max(0, before.merchant_balance - held));
        expect(after.merchant_balance).toBe(before.merchant_balance - ownTaken);
        expect(taken('subaccountPayout') + refunds.split).toBeLessThanOrEqual(
          SUBACCOUNT_CENTS + PART_CENTS + taken('transfer'),
        );
        for (const [index, result] of results.entries()) {
          if (result.status === 'fulfilled') continue;
          const { kind, amountCents } = debits[index]!;
          const { reason } = result;
          if (reason instanceof RateLimitError) {
            expect(['pix', 'pix_turbo', 'ltc']).toContain(kind);
            continue;
          }
          if (isRefund(kind) && !(reason instanceof InsufficientFundsError)) {
            // The request exceeds what is left of the payment, or is one refund too many.
            const requested = debits.filter(
              (debit, nth) => debit.kind === kind && results[nth]!.status === 'fulfilled',
            ).length;
            if (requested < MAX_REFUNDS) expect(amountCents).toBeGreaterThan(PAID_CENTS - refunds[kind]);
            expect([ValidationError, PreconditionError]).toContain(reason.constructor);
            continue;
          }
          expect(reason).toBeInstanceOf(InsufficientFundsError);
          // A refused amount exceeds what is left. Only the merchant's part of a charge counts.
          if (['pix', 'pix_turbo', 'transfer', 'refundCard', 'refundPix'].includes(kind))
            expect(amountCents).toBeGreaterThan(Math.max(0, after.merchant_balance - held));
        }

        await core.pass(40 * MINUTE);
        await cores[1].work.settled();
        expect(await expectBooksHold(database, core.tenant)).toMatchObject({
          payouts_in_transit: 0,
          ltc_in_transit: 0,
          refunds_in_transit: 0,
        });
        expect(await refunded(core, given)).toEqual({ ...refunds, isDone: true });
        await expectStatementsHold(database, core.tenant);
        for (const { faults } of cores) expect(faults).toEqual([]);
        await Promise.all(cores.map((each) => each.close()));
      }),
      { numRuns: generated(5), endOnFailure: true },
    );
  });

  test(`One key has one effect of each kind, and is refused with another input (${ROUNDS} rounds)`, {
    timeout: 600_000 + ROUNDS * 5_000,
  }, async () => {
    const kinds = fc.uniqueArray(keyed, { minLength: 2, maxLength: 6, selector: operationOf });
    const order = fc.array(fc.record({ which: fc.nat({ max: 5 }), other: fc.nat({ max: 5 }) }), {
      minLength: AT_ONCE,
      maxLength: AT_ONCE,
    });
    await fc.assert(
      fc.asyncProperty(kinds, order, async (kinds, order) => {
        const cores = await start();
        const [core] = cores;
        const { id: productId } = await core.products.create(core.tenant, {
          name: 'Caneca',
          priceCents: 4_990,
        });
        const payments = await give(core);
        const disputeId = await core.controls.openDispute(core.tenant, { amountCents: 100 });
        const given = { ...payments, productId, disputeId };
        await fund(core, { cents: 20_000, litoshi: 50_000_000 });
        const asked = order.map(({ which, other }) => {
          const one = kinds[which % kinds.length]!;
          return other > 0 ? one : { ...one, amountCents: one.amountCents + 1 };
        });
        const ask = (index: number) => take(cores[index % 2]!, given, asked[index]!, 'chave-1');
        const results = await Promise.allSettled(asked.map((_, index) => ask(index)));

        const operations = [...new Set(asked.map(operationOf))];
        /** The first input of each operation, and all answers to it. */
        const made = new Map<string, { id: string; amountCents: number }>();
        for (const operation of operations) {
          const its = results.flatMap((result, index) =>
            operationOf(asked[index]!) === operation ? [{ result, ...asked[index]! }] : [],
          );
          const done = its.flatMap(({ result, amountCents }) =>
            result.status === 'fulfilled' ? [{ ...result.value, amountCents }] : [],
          );
          expect(done.filter(({ replayed }) => !replayed)).toHaveLength(1);
          const [{ id, amountCents }] = done as [(typeof done)[number]];
          made.set(operation, { id, amountCents });
          for (const { result, ...each } of its)
            if (each.amountCents === amountCents) expect(result).toMatchObject({ value: { id } });
            else expect(result).toMatchObject({ reason: expect.any(IdempotencyError) });
        }
        // The answer stays the same at every instance, also after 40 minutes.
        await core.pass(40 * MINUTE);
        for (const index of asked.keys()) {
          const { id, amountCents } = made.get(operationOf(asked[index]!))!;
          if (asked[index]!.amountCents === amountCents)
            expect(await ask(index)).toEqual({ id, replayed: true });
          else await expect(ask(index)).rejects.toBeInstanceOf(IdempotencyError);
        }
        const keys = await database.sql
          .selectFrom('idempotency')
          .select('key')
          .where('account_id', '=', core.tenant.accountId)
          .execute();
        expect(keys).toHaveLength(operations.length);
        await expectBooksHold(database, core.tenant);
        await expectStatementsHold(database, core.tenant);
        await Promise.all(cores.map((each) => each.close()));
      }),
      { numRuns: ROUNDS, endOnFailure: true },
    );
  });
});

/** The operation to which a key belongs: payouts of all methods share their keys, and so do refunds of all payments. */
function operationOf({ kind }: Keyed): string {
  if (kind === 'pix' || kind === 'pix_turbo' || kind === 'ltc') return 'payout';
  return isRefund(kind) ? 'refund' : kind;
}

const REFUNDS = ['refundCard', 'refundPix', 'refundCharge'] as const;
function isRefund(kind: Keyed['kind']): kind is (typeof REFUNDS)[number] {
  return REFUNDS.some((each) => each === kind);
}
