import fc from 'fast-check';
import { sql as raw } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import type { Environment, Tenant } from '../../server/src/kernel/tenant.ts';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import type { Balances } from '../../server/src/state/ledger/postings.ts';
import { rulesOfPix } from '../faults/audit.ts';
import { addAccount, addKey } from '../support/accounts.ts';
import { advanceClock } from '../support/advance-clock.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { approved, approvedLate, approvedSoon, declined } from '../support/cards.ts';
import { createManualClock } from '../support/clock.ts';
import { describeOnDatabase } from '../support/database.ts';
import type { GraphQLClient } from '../support/graphql.ts';
import { FEES } from '../support/payout-methods.ts';
import { generated } from '../support/scale.ts';
import { MARKUP } from '../support/subaccounts.ts';
import { expectBooksHold } from './books.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const PIX_KEYS = ['ana@padaria.example', 'nega@psa.example', 'recusa@psa.example', 'verifica@psa.example'];
const DESTINATIONS = [
  ...PIX_KEYS.map((destination) => ({ method: 'PIX', destination })),
  { method: 'PIX', destination: 'demora@psa.example' },
  { method: 'PIX_TURBO', destination: 'ana@padaria.example' },
  { method: 'PIX_TURBO', destination: 'negado@psa.example' },
  { method: 'LTC', destination: 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9' },
  { method: 'LTC', destination: 'ltc1qt6cs9wr2kmrvmchxmdxngrnzj9a6fvawwtxyh3' },
  { method: 'USDT', destination: 'TSKvj5dE2xfkpwQU1z3A1PoNC69QmRVhxK' },
  { method: 'USDT', destination: 'TJbta1F5Qigik4ZrFsoGXmRPgkudGtsPaL' },
];

/** The payers of PIX: one pays when a step says so, and some act by themselves. */
const PAYERS = [
  'ana@psa.example',
  'ana@psa.example',
  'paga-tarde@psa.example',
  'paga-duas@psa.example',
].concat([
  'paga-outro@psa.example',
  'demora-codigo@psa.example',
  'sem-codigo@psa.example',
  'devolve-depois@psa.example',
]);

const amountCents = fc.integer({ min: 80, max: 20_000 });
const which = fc.nat({ max: 3 });
/** Operations of any client or of the simulator, in any order; many are refused. */
const step = fc.oneof(
  fc.record({ kind: fc.constant('sell' as const), amountCents, card: fc.nat({ max: 3 }) }),
  fc.record({ kind: fc.constant('refund' as const), which }),
  fc.record({
    kind: fc.constant('sellPix' as const),
    amountCents,
    email: fc.constantFrom(...PAYERS),
    externalId: fc.constantFrom(null, null, '1042'),
  }),
  fc.record({
    kind: fc.constant('payPix' as const),
    which,
    moreCents: fc.constantFrom(0, 0, 0, 1),
    times: fc.integer({ min: 1, max: 2 }),
  }),
  fc.record({ kind: fc.constant('refundPix' as const), which, amountCents: fc.option(amountCents) }),
  fc.record({ kind: fc.constant('credit' as const), amountCents }),
  fc.record({ kind: fc.constant('creditLtc' as const), litoshi: fc.integer({ min: 1, max: 50_000_000 }) }),
  fc.record({ kind: fc.constant('dispute' as const), amountCents }),
  fc.record({
    kind: fc.constant('closeDispute' as const),
    which,
    outcome: fc.constantFrom('won' as const, 'lost' as const, 'forgiven' as const),
  }),
  fc.record({ kind: fc.constant('testPayment' as const), amountCents, pending: fc.boolean() }),
  fc.record({
    kind: fc.constant('payout' as const),
    amountCents,
    to: fc.constantFrom(...DESTINATIONS),
  }),
  fc.record({ kind: fc.constant('transfer' as const), which, amountCents }),
  fc.record({
    kind: fc.constant('subaccountPayout' as const),
    which,
    amountCents,
    pixKey: fc.constantFrom(...PIX_KEYS),
  }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(2 * SECOND, 40 * SECOND, HOUR, DAY) }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const WALLET = `{ wallet {
  balanceCents disputeBlockedCents withdrawableCents pendingReleaseCents receivableCents subaccountsBalanceCents assignableCents
  cryptoBalanceLtc sandbox
} }`;
const SELL = `mutation ($input: CreateCardPaymentInput!) {
  done: createCardPayment(input: $input) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } ... on UserError { code } }
}`;
const SELL_PIX = `mutation ($input: CreatePaymentInput!) {
  done: createPayment(input: $input) {
    ... on CreatePaymentSuccess { payment { paymentId amountCents } } ... on UserError { code } ... on UpstreamError { lookupReference }
  }
}`;
const REFUND_PIX = `mutation ($input: RefundPaymentInput!) {
  done: refundPayment(input: $input) { ... on UserError { code } }
}`;
const TEST_PAYMENT = `mutation ($input: CreateTestPaymentInput!) {
  done: createTestPayment(input: $input) { ... on UserError { code } }
}`;
const PAYOUT = `mutation ($input: RequestPayoutInput!) {
  done: requestPayout(input: $input) { ... on RequestPayoutSuccess { payout { withdrawalId } } ... on UserError { code } }
}`;
const OPEN = `mutation ($input: CreateSubaccountInput!) {
  done: createSubaccount(input: $input) { ... on CreateSubaccountSuccess { subaccount { subaccountId } } ... on UserError { code } }
}`;
const TRANSFER = `mutation ($input: TransferToSubaccountInput!) {
  done: transferToSubaccount(input: $input) { ... on TransferToSubaccountSuccess { subaccount { balanceCents } } ... on UserError { code } }
}`;
const SUBACCOUNT_PAYOUT = `mutation ($input: RequestSubaccountPayoutInput!) {
  done: requestSubaccountPayout(input: $input) { ... on RequestSubaccountPayoutSuccess { subaccountPayout { payoutId } } ... on UserError { code } }
}`;

describeOnDatabase('whatever happens in all slices together', (open) => {
  let app: TestApp;
  beforeAll(async () => {
    const clock = createManualClock();
    app = await startApp({ database: await open({ clock }), clock });
    return () => app.close();
  });

  test('entries sum to zero, and the wallet is what they say by the document’s formula', async () => {
    const environment = fc.constantFrom<Environment>('live', 'live', 'live', 'sandbox');
    await fc.assert(
      fc.asyncProperty(environment, fc.array(step, { minLength: 6, maxLength: 16 }), async (...history) => {
        const [environment, steps] = history;
        const accountId = await addAccount(app, {
          cardReleaseDays: 1,
          pixFeeCents: 25,
          payoutFeesCents: FEES,
          subaccountMarkupCents: MARKUP,
        });
        const tenant: Tenant = { accountId, environment };
        const key = await addKey(app, tenant);
        const merchant = createMerchant(tenant, app.client(key));
        await merchant.open();
        for (const step of steps) {
          await merchant.take(step);
          // Work that the step has made due moves money, too, so it ends before the next check.
          await app.work.settled();
          await expectWalletHolds(tenant, key);
        }
        await advanceClock(app, 2 * DAY);
        const sums = await expectWalletHolds(tenant, key);
        expectNothingUnderWay(sums);
        await expectPixHolds();
        expect(app.faults).toEqual([]);
      }),
      { numRuns: generated(15), endOnFailure: true },
    );
  });

  /** Compares the wallet of both interfaces with the entries: the document's section 2.4, written a second time. */
  async function expectWalletHolds(tenant: Tenant, key: string): Promise<Balances> {
    const sum = await expectBooksHold(app.database, tenant);
    const gross = sum.merchant_balance + sum.merchant_subaccounts;
    const withdrawable = Math.max(0, gross - sum.dispute_hold - sum.merchant_subaccounts);
    const { wallet } = await app.client(key).request(WALLET);
    expect(wallet).toEqual({
      balanceCents: gross,
      disputeBlockedCents: sum.dispute_hold,
      withdrawableCents: withdrawable,
      pendingReleaseCents: sum.merchant_pending,
      receivableCents: Math.abs(sum.merchant_receivable),
      subaccountsBalanceCents: sum.merchant_subaccounts,
      assignableCents: withdrawable,
      cryptoBalanceLtc: (sum.merchant_ltc / 1e8).toFixed(8),
      sandbox: tenant.environment === 'sandbox',
    });
    const { body } = await app.rest(key).get('/wallet');
    expect(body).toEqual({
      currency: 'BRL',
      balance: gross / 100,
      balanceCents: gross,
      disputeBlocked: sum.dispute_hold / 100,
      withdrawable: withdrawable / 100,
      withdrawableCents: withdrawable,
      pendingRelease: sum.merchant_pending / 100,
      pendingReleaseCents: sum.merchant_pending,
      receivableCents: Math.abs(sum.merchant_receivable),
      subaccountsBalance: sum.merchant_subaccounts / 100,
      assignableCents: withdrawable,
      cryptoBalanceLtc: sum.merchant_ltc / 1e8,
      ...(tenant.environment === 'sandbox' ? { sandbox: true } : {}),
    });
    return sum;
  }

  /** Asserts over all these histories that each credit is accepted or returned once, with the right postings. */
  async function expectPixHolds(): Promise<void> {
    const rules = Object.entries(rulesOfPix(`'${app.clock.now().toISOString()}'::timestamptz`));
    const found = await Promise.all(
      rules.map(async ([rule, text]) => [rule, (await raw.raw(text).execute(app.database.sql)).rows]),
    );
    expect(found).toEqual(rules.map(([rule]) => [rule, []]));
  }

  /** A merchant that tries every operation, and is refused with a code if it may not. */
  function createMerchant(tenant: Tenant, api: GraphQLClient) {
    const cards = [approved, approvedSoon, approvedLate, declined];
    const subaccountIds: string[] = [];
    const sold: string[] = [];
    const soldByPix: { paymentId: string; amountCents: number }[] = [];
    const disputes: string[] = [];
    const ask = async (mutation: string, input: object) => (await api.request(mutation, { input })).done;

    /** Runs a simulator's control. A refusal is thrown, because no interface turns it into an answer. */
    const pull = <Outcome>(lever: Promise<Outcome>): Promise<Outcome | null> =>
      lever.catch((error: { code?: string }) => {
        if (!['BAD_USER_INPUT', 'NOT_IN_SANDBOX', 'NOT_FOUND'].includes(error.code ?? '')) throw error;
        return null;
      });

    async function take(step: Step): Promise<unknown> {
      switch (step.kind) {
        case 'sell': {
          const { cardPayment } = await ask(SELL, { valueCents: step.amountCents });
          if (!cardPayment) return;
          sold.push(cardPayment.orderCode);
          return app.cardPayments.pay(cardPayment.orderCode, cards[step.card]!());
        }
        case 'refund': {
          const orderCode = sold[step.which];
          return orderCode && pull(app.cardPayments.refund(tenant, orderCode));
        }
        case 'sellPix': {
          const { amountCents, email, externalId } = step;
          const input = { valueCents: amountCents, customer: { email }, externalId };
          const { payment, lookupReference } = await ask(SELL_PIX, input);
          const paymentId = payment?.paymentId ?? lookupReference;
          return paymentId && soldByPix.push({ paymentId, amountCents });
        }
        case 'payPix': {
          const { paymentId, amountCents } = soldByPix[step.which] ?? {};
          if (!paymentId) return;
          const order = { txid: txidOf(paymentId), amountCents: amountCents! + step.moreCents };
          for (let times = 0; times < step.times; times += 1) await app.pix.pay(order);
          // A repeated notification changes nothing.
          return app.payments.receive(tenant, paymentId);
        }
        case 'refundPix': {
          const { paymentId } = soldByPix[step.which] ?? {};
          return paymentId && ask(REFUND_PIX, { paymentId, amountCents: step.amountCents });
        }
        case 'credit':
          return pull(app.controls.credit(tenant, step.amountCents));
        case 'creditLtc':
          return pull(app.controls.creditLtc(tenant, step.litoshi));
        case 'dispute': {
          const id = await pull(app.controls.openDispute(tenant, { amountCents: step.amountCents }));
          return id && disputes.push(id);
        }
        case 'closeDispute': {
          const id = disputes[step.which];
          return id && pull(app.controls.closeDispute(tenant, id, step.outcome));
        }
        case 'testPayment':
          return ask(TEST_PAYMENT, { valueCents: step.amountCents, pending: step.pending });
        case 'payout':
          return ask(PAYOUT, { ...step.to, amountCents: step.amountCents });
        case 'transfer':
          return ask(TRANSFER, {
            subaccountId: subaccountIds[step.which % 2],
            amountCents: step.amountCents,
          });
        case 'subaccountPayout': {
          const { amountCents, pixKey } = step;
          return ask(SUBACCOUNT_PAYOUT, { subaccountId: subaccountIds[step.which % 2], amountCents, pixKey });
        }
        case 'pass':
          return advanceClock(app, step.ms);
      }
    }

    return {
      /** Creates two subaccounts and some money. */
      async open() {
        for (const name of ['Bia', 'Caio'])
          subaccountIds.push((await ask(OPEN, { name })).subaccount.subaccountId);
        if (tenant.environment === 'sandbox') await ask(TEST_PAYMENT, { valueCents: 30_000 });
        else await app.controls.credit(tenant, 30_000);
        await ask(TRANSFER, { subaccountId: subaccountIds[0], amountCents: 10_000 });
      },
      take,
    };
  }
});

/** Asserts that all money that came in is accounted for, and that none is in transit. */
function expectNothingUnderWay(sums: Balances): void {
  expect(sums).toMatchObject({ payouts_in_transit: 0, refunds_in_transit: 0, ltc_in_transit: 0 });
  expect(sums.merchant_ltc + sums.ltc_paid_out + sums.ltc_received).toBe(0);
  expect(sums.dispute_hold + sums.dispute_claims).toBe(0);
  const { merchant_balance, merchant_subaccounts, merchant_pending, paid_out, platform_fees } = sums;
  const here = merchant_balance + merchant_subaccounts + merchant_pending + paid_out + platform_fees;
  const from = sums.acquirer + sums.pix_received + sums.received;
  expect(here + from + sums.merchant_receivable).toBe(0);
}
