import { beforeAll, describe, expect, test } from 'vitest';
import { parseBrCode } from '../../../server/src/kernel/br-code.ts';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import { askedOf, type Condition } from '../../../server/src/kernel/list-filter.ts';
import {
  matchesFilter,
  type Payment,
  paymentConditions,
} from '../../../server/src/money-in/payments/model.ts';
import { paymentTable } from '../../../server/src/money-in/payments/store.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';
import { listMirroredRange } from '../../../server/src/upstream/mirror-lists.ts';
import { saveMirrored } from '../../../server/src/upstream/mirror-store.ts';
import { approved } from '../../support/cards.ts';
import { type Core, startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { readAfter } from '../../support/events.ts';
import { embedded } from '../../support/port-fixture.ts';
import { recordStatements } from '../../support/statements.ts';
import { describePort } from './port.ts';
import { describePixStarts } from './starts-port.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const SESSION = 30 * MINUTE;
const DAY = 24 * 60 * MINUTE;

describeOnDatabase('PIX payments', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });
  describePort(embedded(() => database));
  describePixStarts(embedded(() => database));

  test('A payment is created with a code, paid once, and its money is in the balance at once', async () => {
    const core = await startCore({ database });
    const { payment } = await create(core, { description: 'Caneca' });
    expect(payment).toMatchObject({ status: 'pending', method: 'pix', amountCents: 4990, version: 2 });
    expect(parseBrCode(payment.brCode!)).toMatchObject({ amountCents: 4990, merchantName: 'Padaria da Ana' });
    await pay(core, payment.paymentId);
    expect(await core.payments.find(core.tenant, payment.paymentId)).toMatchObject({
      status: 'paid',
      paidLate: false,
      paidAt: core.clock.now(),
      version: 3,
      endToEndId: expect.stringMatching(/^E\d{20}[0-9A-Z]{11}$/),
    });
    expect(await core.balances()).toEqual({ ...NO_BALANCES, merchant_balance: 4990, pix_received: -4990 });
    const { events } = await readAfter(database.sql, core.tenant, { after: 0, limit: 100 });
    expect(
      events
        .filter(({ resource }) => resource === 'payment')
        .map(({ kind, previousStatus }) => [kind, previousStatus]),
    ).toEqual([
      ['payment.pending', null],
      ['payment.paid', 'pending'],
    ]);
    await core.pass(SESSION);
    expect((await core.payments.find(core.tenant, payment.paymentId))?.status).toBe('paid');
    expect(core.faults).toEqual([]);
  });

  test('Each condition of the filter selects the same payments in a list, in the mirror of a facade and among updates', async () => {
    const core = await startCore({ database });
    const customer = { name: 'Ana', email: 'ana@cliente.example', externalId: '7' };
    const { payment: whole } = await create(core, { externalId: '1042', description: 'Caneca', customer });
    await pay(core, whole.paymentId);
    core.clock.advance(MINUTE);
    await create(core, { valueCents: 100 });
    const { items } = await core.payments.list(core.tenant, { end: 'first', limit: 10 });
    const all = items.map(({ resource }) => resource);
    const rows = all.map((payment) => ({
      ...{
        resource: 'payment' as const,
        id: payment.paymentId,
        version: payment.version,
        status: payment.status,
      },
      ...{ final: false, parent: payment.method, snapshot: payment, observedAt: core.clock.now() },
    }));
    await saveMirrored(database.sql, core.tenant, rows);
    const [, paid] = all;
    for (const [name, condition] of Object.entries<Condition<keyof Payment>>(paymentConditions))
      for (const value of valuesOf(condition, paid!)) {
        const filter = { [name]: value };
        const listed = await paymentTable.list(database.sql, core.tenant, {
          ...filter,
          end: 'first',
          limit: 10,
        });
        const asked = askedOf(paymentConditions, filter);
        const range = {
          ...{ end: 'first' as const, limit: 10, period: {}, allOf: null },
          details: { asked },
        };
        const mirrored = await listMirroredRange(database.sql, core.tenant, 'payment', range);
        const wanted = all
          .filter((payment) => matchesFilter(payment, filter))
          // A range of amounts orders the list, the largest first.
          .sort((one, other) => (/^m(?:in|ax)/.test(name) ? other.amountCents - one.amountCents : 0))
          .map((each) => each.paymentId);
        expect({ [name]: listed.map(({ resource }) => resource.paymentId) }).toEqual({ [name]: wanted });
        expect({ [name]: mirrored.map(({ observed }) => observed.id).sort() }).toEqual({
          [name]: wanted.sort(),
        });
      }
    const withNul = { externalId: '10\u000042' };
    await expect(core.payments.list(core.tenant, { ...withNul, end: 'first', limit: 1 })).rejects.toThrow(
      'filter.externalId: must not contain U+0000',
    );
    expect(() => askedOf(paymentConditions, withNul)).toThrow('filter.externalId: must not contain U+0000');
  });

  test('The bank gets the payer as the merchant has named it, with the whole tax number', async () => {
    const payers: unknown[] = [];
    const core = await startCore({
      database,
      pix: (simulated) => ({
        ...simulated,
        register(code) {
          payers.push(code.payer);
          return simulated.register(code);
        },
      }),
    });
    const named = { name: 'Ana', email: 'ana@cliente.example', taxId: '12345678909' };
    for (const customer of [named, null]) await create(core, { customer });
    await core.subscriptions.create(core.tenant, { valueCents: 4990, interval: 'monthly', customer: named });
    expect(payers).toEqual([named, null, named]);
  });

  test('A second PIX, another amount, and money for a paid order are sent back', async () => {
    const core = await startCore({ database });
    const { payment } = await create(core, { externalId: '1042' });
    const { payment: other } = await create(core, { externalId: '1042' });
    const { payment: card } = await core.cardPayments.create(core.tenant, {
      valueCents: 4990,
      externalId: '1042',
    });
    await pay(core, payment.paymentId, { amountCents: 4991 });
    await pay(core, payment.paymentId);
    await pay(core, payment.paymentId);
    await pay(core, other.paymentId);
    await core.work.settled();
    const causes = async (paymentId: string) =>
      (await core.payments.find(core.tenant, paymentId))!.returnedCredits.map(({ cause, returnedAt }) => [
        cause,
        returnedAt !== null,
      ]);
    expect(await causes(payment.paymentId)).toEqual([
      ['amount_mismatch', true],
      ['already_paid', true],
    ]);
    expect(await causes(other.paymentId)).toEqual([['paid_elsewhere', true]]);
    expect(await core.balances()).toEqual({ ...NO_BALANCES, merchant_balance: 4990, pix_received: -4990 });
    expect(await core.cardPayments.pay(card.orderCode, approved())).toMatchObject({ kind: 'paid_elsewhere' });
  });

  test('A further notification of a code writes nothing for the credits that are recorded', async () => {
    const { database: recorded, statements } = recordStatements(database);
    const core = await startCore({ database: recorded });
    const { payment } = await create(core, {});
    for (let count = 0; count < 4; count += 1) await pay(core, payment.paymentId);
    await core.work.settled();
    statements.length = 0;
    expect((await core.payments.receive(core.tenant, payment.paymentId))!.returnedCredits).toHaveLength(3);
    expect(statements.filter((statement) => /lock_stream|insert|update "/.test(statement))).toEqual([]);
    expect(statements.filter((statement) => statement.includes('from "pix_credit"'))).toHaveLength(1);
  });

  test('A canceled payment is expired at once, and fails where a PIX comes later, which is sent back', async () => {
    const core = await startCore({ database });
    const { payment } = await create(core, { externalId: '1043' });
    const canceled = await core.payments.cancel(core.tenant, payment.paymentId);
    expect(canceled).toMatchObject({
      replayed: false,
      payment: { status: 'expired', version: 3, canceledAt: core.clock.now() },
    });
    core.clock.advance(SECOND);
    expect(await core.payments.cancel(core.tenant, payment.paymentId)).toEqual({
      ...canceled,
      replayed: true,
    });
    await pay(core, payment.paymentId);
    await core.work.settled();
    expect(await core.payments.find(core.tenant, payment.paymentId)).toMatchObject({
      ...{ status: 'failed', failureReason: 'canceled', returned: true, keptPayment: null, paidAt: null },
      returnedCredits: [{ amountCents: 4990, cause: 'canceled', returnedAt: core.clock.now() }],
    });
    const { items } = await core.returns.listPage(core.tenant, { limit: 10, offset: 0 });
    expect(items).toMatchObject([
      { resource: { id: payment.paymentId }, cause: 'canceled', externalId: '1043', keptPayment: null },
    ]);
    // A second PIX for the payment is returned, too.
    await pay(core, payment.paymentId);
    await core.work.settled();
    expect((await core.payments.find(core.tenant, payment.paymentId))?.returnedCredits).toMatchObject([
      { cause: 'canceled' },
      { cause: 'canceled', returnedAt: core.clock.now() },
    ]);
    expect(await core.balances()).toEqual(NO_BALANCES);
    // A failed payment does not close its order.
    const { payment: next } = await create(core, { externalId: '1043' });
    await pay(core, next.paymentId);
    expect((await core.payments.find(core.tenant, next.paymentId))?.status).toBe('paid');
    await expect(core.payments.cancel(core.tenant, next.paymentId)).rejects.toMatchObject({
      code: 'NOT_CANCELABLE',
      message: 'This payment has been paid: refund it',
    });
    expect(core.faults).toEqual([]);
  });

  test('A PIX that the bank holds at the moment of a cancellation pays the payment', async () => {
    const core = await startCore({ database });
    const { payment } = await create(core, {});
    await core.pix.pay({ txid: txidOf(payment.paymentId) });
    await expect(core.payments.cancel(core.tenant, payment.paymentId)).rejects.toMatchObject({
      code: 'NOT_CANCELABLE',
    });
    expect((await core.payments.find(core.tenant, payment.paymentId))?.status).toBe('paid');
  });

  test('A bank that does not answer keeps nobody from canceling', async () => {
    const core = await startCore({
      database,
      pix: (simulated) => ({
        ...simulated,
        creditsOf: () => Promise.reject(new Error('no answer')),
      }),
    });
    const { payment } = await create(core, {});
    expect((await core.payments.cancel(core.tenant, payment.paymentId)).payment.status).toBe('expired');
    expect(core.faults).toHaveLength(1);
  });

  test('A single-use token whose payment by PIX was canceled starts no other, by PIX or card', async () => {
    const core = await startCore({ database });
    const { token } = await core.checkoutTokens.create(core.tenant, null, {
      amount: { fixedCents: 4990 },
      methods: ['card', 'pix'],
    });
    const { credential } = await core.access.authenticate(`Bearer ${token}`);
    const presented = credential as Parameters<typeof core.payments.startCheckout>[1];
    const attemptId = 'a'.repeat(22);
    const { paymentId } = (await core.payments.startCheckout(core.tenant, presented, { attemptId })).payment;
    await core.payments.cancel(core.tenant, paymentId);
    for (const start of [core.payments.startCheckout, core.cardPayments.startCheckout])
      await expect(start(core.tenant, presented, { attemptId: `${attemptId}.2` })).rejects.toMatchObject({
        code: 'CHECKOUT_TOKEN_USED',
      });
  });

  test('LTC for a canceled payment waits for the operator', async () => {
    const core = await startCore({ database });
    const { payment } = await create(core, { method: 'ltc' });
    const { address, litoshi } = payment.ltc!;
    await core.payments.cancel(core.tenant, payment.paymentId);
    await core.litecoin.send(address!, { litoshi, confirmations: 2 });
    await core.pass(MINUTE);
    expect(await core.payments.find(core.tenant, payment.paymentId)).toMatchObject({
      ...{ status: 'failed', failureReason: 'canceled', returned: false, paidAt: null },
      canceledAt: expect.any(Date),
    });
    expect(await core.balances()).toMatchObject({ ltc_unmatched: litoshi, merchant_ltc: 0 });
  });

  test('A refund goes back from the balance, and the payment is refunded with the last of it', async () => {
    const core = await startCore({ database });
    const { payment } = await create(core, {});
    await pay(core, payment.paymentId);
    const resource = { type: 'payment', id: payment.paymentId } as const;
    await core.refunds.request(core.tenant, resource, { amountCents: 990 });
    await core.work.settled();
    expect(await core.payments.find(core.tenant, payment.paymentId)).toMatchObject({
      status: 'paid',
      refundedCents: 990,
    });
    await core.refunds.request(core.tenant, resource, {});
    await core.work.settled();
    expect(await core.payments.find(core.tenant, payment.paymentId)).toMatchObject({ status: 'refunded' });
    expect(await core.balances()).toEqual(NO_BALANCES);
  });

  test.each<[email: string, after: number, expected: object]>([
    ['ana@example.com', SESSION, { status: 'expired' }],
    ['paga@psa.example', 3 * SECOND, { status: 'paid', returnedCredits: [] }],
    ['paga-tarde@psa.example', SESSION + MINUTE, { status: 'paid', paidLate: true }],
    ['paga-duas@psa.example', 4 * SECOND, { status: 'paid', returnedCredits: [{ cause: 'already_paid' }] }],
    [
      'paga-outro@psa.example',
      3 * SECOND,
      { status: 'pending', returnedCredits: [{ cause: 'amount_mismatch', amountCents: 4991 }] },
    ],
  ])('The payer %s of the guide does by itself what the guide says', async (email, after, expected) => {
    const core = await startCore({ database });
    const { payment } = await create(core, { customer: { email } });
    await core.pass(after - SECOND);
    expect(await core.payments.find(core.tenant, payment.paymentId)).not.toMatchObject(expected);
    await core.pass(SECOND);
    expect(await core.payments.find(core.tenant, payment.paymentId)).toMatchObject(expected);
    expect(core.faults).toEqual([]);
  });

  test('A refund that the bank refuses fails, and a PIX that it does not send back is tried again each day', async () => {
    // Days pass in this test, and no test process follows the log meanwhile.
    const core = await startCore({ database, follows: false });
    const { payment } = await create(core, { customer: { email: 'devolve-falha@psa.example' } });
    const { paymentId } = payment;
    await pay(core, paymentId);
    const resource = { type: 'payment', id: paymentId } as const;
    const { refund } = await core.refunds.request(core.tenant, resource, { amountCents: 990 });
    await core.work.settled();
    expect(await core.refunds.find(core.tenant, refund.refundId)).toMatchObject({
      status: 'failed',
      failureReason: 'O banco do pagador não aceitou o dinheiro de volta',
    });
    expect(await core.payments.find(core.tenant, paymentId)).toMatchObject({
      status: 'paid',
      refundedCents: 0,
      refundingCents: 0,
    });
    await pay(core, paymentId);
    await core.work.settled();
    const attempts = async () => {
      const rows = await database.sql
        .selectFrom('simulated_pix_return')
        .innerJoin(
          'simulated_pix_credit as credit',
          'credit.end_to_end_id',
          'simulated_pix_return.end_to_end_id',
        )
        .select(['simulated_pix_return.id', 'simulated_pix_return.amount_cents as cents'])
        .where('credit.txid', '=', txidOf(paymentId))
        .execute();
      return new Set(rows.filter(({ cents }) => cents === 4990).map(({ id }) => id)).size;
    };
    for (const made of [1, 2, 3]) {
      expect(await attempts()).toBe(made);
      const { returnedCredits } = (await core.payments.find(core.tenant, paymentId))!;
      expect(returnedCredits).toMatchObject([{ cause: 'already_paid', returnedAt: null }]);
      // The money is being returned all the while, and is in no balance.
      expect(await core.balances()).toEqual({
        ...NO_BALANCES,
        merchant_balance: 4990,
        pix_received: -9980,
        refunds_in_transit: 4990,
      });
      await core.pass(DAY);
    }
    expect(core.faults).toEqual([]);
  });

  test('A refund that its bank completes later is processing until then, as is a PIX that is sent back', async () => {
    const core = await startCore({ database });
    const { payment } = await create(core, { customer: { email: 'devolve-depois@psa.example' } });
    const { paymentId } = payment;
    await pay(core, paymentId);
    const resource = { type: 'payment', id: paymentId } as const;
    const { refund } = await core.refunds.request(core.tenant, resource, { amountCents: 990 });
    await pay(core, paymentId);
    await core.work.settled();
    const shown = () =>
      Promise.all([
        core.refunds.find(core.tenant, refund.refundId),
        core.payments.find(core.tenant, paymentId),
        core.balances(),
      ]);
    const onTheWay = [
      { status: 'processing', endToEndId: null, completedAt: null },
      {
        ...{ status: 'paid', refundedCents: 0, refundingCents: 990 },
        returnedCredits: [{ cause: 'already_paid', returnedAt: null }],
      },
      { merchant_balance: 4000, refunds_in_transit: 5980 },
    ];
    expect(await shown()).toMatchObject(onTheWay);
    await core.pass(5 * SECOND - 1);
    expect(await shown()).toMatchObject(onTheWay);
    // The bank's own ledger has the instant: a restarted server does not complete the refund early.
    const restarted = await startCore({ database, clock: core.clock, tenant: core.tenant });
    const { endToEndId } = (await restarted.payments.find(core.tenant, paymentId))!;
    expect(
      await restarted.pix.refund({ id: refund.refundId, railChargeId: endToEndId!, amountCents: 990 }),
    ).toEqual({ status: 'pending', settlesAt: plusMs(core.clock.now(), 1) });
    await core.pass(1);
    const now = core.clock.now();
    expect(await shown()).toMatchObject([
      { status: 'completed', endToEndId: expect.stringMatching(/^D\w{31}$/), completedAt: now },
      {
        ...{ status: 'paid', refundedCents: 990, refundingCents: 0 },
        returnedCredits: [{ cause: 'already_paid', returnedAt: now }],
      },
      { merchant_balance: 4000, refunds_in_transit: 0 },
    ]);
    expect(core.faults).toEqual([]);
  });

  describe('in sandbox', () => {
    test('A pending payment is pendingRelease until it is paid or has expired', async () => {
      const core = await startCore({ database });
      const sandbox = { ...core, tenant: { ...core.tenant, environment: 'sandbox' as const } };
      const { payment } = await create(sandbox, {});
      await create(sandbox, {});
      const { wallet } = core;
      expect(await wallet.read(sandbox.tenant)).toMatchObject({ balanceCents: 0, pendingReleaseCents: 9980 });
      await pay(sandbox, payment.paymentId);
      expect(await wallet.read(sandbox.tenant)).toMatchObject({
        balanceCents: 4990,
        pendingReleaseCents: 4990,
      });
      await core.pass(SESSION);
      expect(await wallet.read(sandbox.tenant)).toMatchObject({ balanceCents: 4990, pendingReleaseCents: 0 });
    });
  });
});

async function create({ payments, tenant }: Core, input: object) {
  return payments.create(tenant, { valueCents: 4990, ...input });
}

async function pay({ pix, payments, tenant }: Core, paymentId: string, order: object = {}): Promise<void> {
  await pix.pay({ txid: txidOf(paymentId), ...order });
  await payments.receive(tenant, paymentId);
}

/** Values of a condition. The first one selects a payment that has the member. */
function valuesOf({ is, members }: Condition<keyof Payment>, payment: Payment): unknown[] {
  const [value] = members.map((member) => payment[member]);
  if (is === 'among') return [[value], []];
  if (is === 'customer') return [{ email: 'ana@cliente.example' }, { externalId: '7' }, { externalId: '8' }];
  if (is === 'from' || is === 'before') return [value ?? payment.createdAt, plusMs(payment.createdAt!, 1)];
  return [value ?? 'another', ...(typeof value === 'number' ? [value + 1] : ['another'])];
}
