import { beforeAll, describe, expect, test } from 'vitest';
import {
  IdempotencyError,
  InsufficientFundsError,
  NotFoundError,
  ValidationError,
} from '../../../server/src/kernel/errors.ts';
import { cardPaymentWebhook } from '../../../server/src/money-in/card-payments/wire.ts';
import { MAX_REFUNDS } from '../../../server/src/money-in/receiving/model.ts';
import type { RefundFilter, RefundInput } from '../../../server/src/money-in/refunds/model.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';
import { approved, card } from '../../support/cards.ts';
import { type Core, startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { readAfter } from '../../support/events.ts';

const DAY = 86_400_000;
const SECOND = 1_000;
/** A card whose refunds complete five seconds later, and one whose refunds are refused. */
const REFUNDED_LATER = '4000000000007726';
const NEVER_REFUNDED = '4000000000005126';

describeOnDatabase('refunds', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('A part of an unreleased sale goes back to the payer, and the rest is released', async () => {
    const core = await startCore({ database });
    const orderCode = await sell(core, 5000);
    const { refund, replayed } = await request(core, orderCode, { amountCents: 2000, reason: 'Um item' });
    expect(replayed).toBe(false);
    expect(refund).toMatchObject({
      status: 'processing',
      amountCents: 2000,
      reason: 'Um item',
      version: 1,
      completedAt: null,
      refundId: expect.stringMatching(/^ref_[0-9a-f]{24}$/),
      resource: { type: 'card_payment', id: orderCode },
    });
    await core.work.settled();
    expect(await core.refunds.find(core.tenant, refund.refundId)).toMatchObject({
      status: 'completed',
      version: 2,
      completedAt: core.clock.now(),
    });
    expect(await core.cardPayments.find(core.tenant, orderCode)).toMatchObject({
      status: 'paid',
      refundedCents: 2000,
      refundingCents: 0,
      refundedAt: null,
    });
    await core.pass(20 * DAY);
    expect(await core.balances()).toEqual({ ...NO_BALANCES, merchant_balance: 3000, acquirer: -3000 });
  });

  test('With the last part the payment is refunded, and each refund is announced', async () => {
    const core = await startCore({ database });
    const orderCode = await sell(core, 5000);
    await request(core, orderCode, { amountCents: 1 });
    await core.work.settled();
    await request(core, orderCode, {});
    await core.work.settled();
    expect(await core.cardPayments.find(core.tenant, orderCode)).toMatchObject({
      status: 'refunded',
      refundedCents: 5000,
      refundedAt: core.clock.now(),
    });
    expect(await core.balances()).toEqual(NO_BALANCES);
    const { events } = await readAfter(database.sql, core.tenant, { after: 0, limit: 100 });
    expect(events.flatMap(({ resource, kind }) => (resource === 'wallet' ? [] : kind))).toEqual([
      ...['card_payment.pending', 'card_payment.paid', 'card_payment.paid', 'refund.processing'],
      ...['card_payment.paid', 'refund.completed', 'card_payment.paid', 'refund.processing'],
      ...['card_payment.refunded', 'refund.completed'],
    ]);
  });

  test('The same key and input give the same refund, and another input is refused', async () => {
    const core = await startCore({ database });
    const orderCode = await sell(core, 5000);
    const input = { amountCents: 3000, idempotencyKey: 'devolucao-1' };
    const all = await Promise.all(Array.from({ length: 8 }, () => request(core, orderCode, input)));
    expect(new Set(all.map(({ refund }) => refund.refundId)).size).toBe(1);
    expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
    await core.work.settled();
    // Nothing of 3,000 is left, and the key still returns the first refund.
    expect(await request(core, orderCode, input)).toMatchObject({
      replayed: true,
      refund: { status: 'completed', amountCents: 3000 },
    });
    for (const other of [{ amountCents: 2000 }, { amountCents: 3000, reason: 'Outro' }])
      await expect(
        request(core, orderCode, { ...other, idempotencyKey: 'devolucao-1' }),
      ).rejects.toBeInstanceOf(IdempotencyError);
    const second = await sell(core, 5000);
    await expect(request(core, second, input)).rejects.toBeInstanceOf(IdempotencyError);
    expect(await core.refunds.find(core.tenant, 'ref_idem_devolucao-1')).toMatchObject({
      refundId: all[0]!.refund.refundId,
    });
    expect(await core.refunds.find(core.tenant, 'ref_idem_devolucao-2')).toBeNull();
    expect(await core.refunds.count(core.tenant, {})).toBe(1);
  });

  test('Concurrent refunds never give back more than was paid', async () => {
    const core = await startCore({ database });
    const orderCode = await sell(core, 5000);
    const asked = await Promise.allSettled(
      Array.from({ length: 8 }, () => request(core, orderCode, { amountCents: 2000 })),
    );
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    await core.work.settled();
    expect(await core.cardPayments.find(core.tenant, orderCode)).toMatchObject({ refundedCents: 4000 });
    expect(await core.balances()).toMatchObject({ acquirer: -1000, merchant_pending: 1000 });
  });

  test('A merchant refunds a released sale out of what can be withdrawn, and makes no debt', async () => {
    const core = await startCore({ database, account: { cardReleaseDays: 0 } });
    const orderCode = await sell(core, 5000);
    await core.work.settled();
    await core.controls.openDispute(core.tenant, { amountCents: 1000 });
    await expect(request(core, orderCode, { amountCents: 4001 })).rejects.toBeInstanceOf(
      InsufficientFundsError,
    );
    const before = await core.balances();
    expect(before).toMatchObject({ merchant_balance: 5000, refunds_in_transit: 0 });
    await request(core, orderCode, { amountCents: 4000 });
    await core.work.settled();
    expect(await core.balances()).toMatchObject({ merchant_balance: 1000, merchant_receivable: 0 });
  });

  test.each<[string, number]>([
    ['before its release', 14],
    ['after its release', 0],
  ])('A refund that the acquirer refuses %s is back where it was taken', async (_, cardReleaseDays) => {
    const core = await startCore({ database, account: { cardReleaseDays } });
    const orderCode = await sell(core, 5000, NEVER_REFUNDED);
    await core.work.settled();
    const before = await core.balances();
    const { refund } = await request(core, orderCode, { amountCents: 2000 });
    await core.work.settled();
    expect(await core.refunds.find(core.tenant, refund.refundId)).toMatchObject({
      status: 'failed',
      failureReason: 'O banco emissor recusou o estorno',
      completedAt: null,
      failedAt: core.clock.now(),
    });
    expect(await core.balances()).toEqual(before);
    expect(await core.cardPayments.find(core.tenant, orderCode)).toMatchObject({
      status: 'paid',
      refundedCents: 0,
      refundingCents: 0,
    });
    // A failed refund does not prevent the next one, however many failed before.
    for (let count = 1; count < MAX_REFUNDS; count += 1) {
      await request(core, orderCode, { amountCents: 10 });
      await core.work.settled();
    }
    expect((await request(core, orderCode, {})).refund.amountCents).toBe(5000);
  });

  test('A refund that the acquirer decides later is looked up then', async () => {
    const core = await startCore({ database });
    const orderCode = await sell(core, 5000, REFUNDED_LATER);
    const { refund } = await request(core, orderCode, {});
    await core.work.settled();
    expect(await core.refunds.find(core.tenant, refund.refundId)).toMatchObject({ status: 'processing' });
    expect(await core.balances()).toMatchObject({ refunds_in_transit: 5000, merchant_pending: 0 });
    await core.pass(5 * SECOND);
    expect(await core.refunds.find(core.tenant, refund.refundId)).toMatchObject({ status: 'completed' });
    expect(await core.cardPayments.find(core.tenant, orderCode)).toMatchObject({ status: 'refunded' });
  });

  test('An acquirer that does not answer is asked again under the same id, and no refund fails for it', async () => {
    const asked: string[] = [];
    let away = true;
    const core = await startCore({
      database,
      acquirer: (simulated) => ({
        ...simulated,
        async refund(refund) {
          asked.push(refund.id);
          const status = await simulated.refund(refund);
          if (away) throw new Error('no answer');
          return status;
        },
      }),
    });
    const orderCode = await sell(core, 5000);
    const { refund } = await request(core, orderCode, {});
    await core.work.settled();
    expect(await core.refunds.find(core.tenant, refund.refundId)).toMatchObject({ status: 'processing' });
    away = false;
    await core.pass(SECOND);
    expect(await core.refunds.find(core.tenant, refund.refundId)).toMatchObject({ status: 'completed' });
    expect(asked).toEqual([refund.refundId, refund.refundId]);
    expect(core.faults).toHaveLength(1);
  });

  test('Money whose return is refused is returned again until the payer has it, and is no refund', async () => {
    const core = await startCore({ database });
    const token = { id: await checkoutTokenId(core), grant: GRANT };
    const attemptId = 'a'.repeat(22);
    const first = (await core.cardPayments.startCheckout(core.tenant, token, { attemptId })).payment;
    const second = (
      await core.cardPayments.startCheckout(core.tenant, token, { attemptId: `${attemptId}.2` })
    ).payment;
    await core.cardPayments.pay(first.orderCode, approved());
    await core.database.sql
      .updateTable('card_payment')
      .set({ open_charge_id: 'chg_late' })
      .where('order_code', '=', second.orderCode)
      .execute();
    await core.database.sql
      .insertInto('simulated_charge')
      .values({
        id: 'chg_late',
        amount_cents: 4990,
        status: 'approved',
        final_decline: false,
        refunds: 'fail',
      })
      .execute();
    await core.handlers['card_payment.resolve']!({
      ...core.tenant,
      kind: 'card_payment.resolve',
      key: second.orderCode,
      attempts: 1,
      outages: 0,
      group: '',
      lease: '',
      revision: await scheduleResolve(core, second.orderCode),
    });
    await core.work.settled();
    const returned = () => core.cardPayments.find(core.tenant, second.orderCode);
    const state = { status: 'failed', returned: true, refundedCents: 0, refundingCents: 0 };
    expect(await returned()).toMatchObject(state);
    const listed = async () =>
      (await core.returns.list(core.tenant, { end: 'first', limit: 2 })).items.map(({ item }) => item);
    const resource = { type: 'card_payment', id: second.orderCode };
    expect(await listed()).toMatchObject([{ resource, returnedAt: null, failedReturns: 1 }]);
    // The amount stays in transit: it belongs to the payer, and not to the merchant.
    expect(await core.balances()).toMatchObject({ refunds_in_transit: 4990, merchant_pending: 4990 });
    await core.database.sql
      .updateTable('simulated_charge')
      .set({ refunds: null })
      .where('id', '=', 'chg_late')
      .execute();
    await core.pass(DAY);
    expect(await returned()).toMatchObject(state);
    expect(await listed()).toMatchObject([{ resource, returnedAt: core.clock.now(), failedReturns: 1 }]);
    expect(await core.refunds.ofResources(core.tenant, 'card_payment', [second.orderCode])).toEqual([[]]);
    expect(await core.balances()).toMatchObject({ refunds_in_transit: 0, merchant_pending: 4990 });
  });

  test('A refund is found by its account alone, and what is no payment of it is not refunded', async () => {
    const [core, other] = [await startCore({ database }), await startCore({ database })];
    const orderCode = await sell(core, 5000);
    const { refund } = await request(core, orderCode, { amountCents: 100, idempotencyKey: 'chave' });
    for (const reference of [refund.refundId, 'ref_idem_chave'])
      expect(await other.refunds.find(other.tenant, reference)).toBeNull();
    expect(await other.refunds.findMany(other.tenant, [refund.refundId])).toEqual([null]);
    expect(await other.refunds.ofResources(other.tenant, 'card_payment', [orderCode])).toEqual([[]]);
    expect(await other.refunds.count(other.tenant, {})).toBe(0);
    for (const code of [orderCode, 'nothing', 'with \u0000'])
      await expect(request(other, code, {})).rejects.toBeInstanceOf(NotFoundError);
    for (const reference of [
      '',
      'nothing',
      'with \u0000',
      `ref_${'0'.repeat(24)}`,
      'ref_idem_',
      'ref_idem_é',
    ])
      expect(await core.refunds.find(core.tenant, reference)).toBeNull();
  });

  test('Refunds are listed newest first, in both directions, by status', async () => {
    const core = await startCore({ database });
    const orderCode = await sell(core, 5000);
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1)
      ids.unshift((await request(core, orderCode, { amountCents: 10 })).refund.refundId);
    const page = async (range: object) => {
      const { items, more } = await core.refunds.list(core.tenant, { end: 'first', limit: 10, ...range });
      return { ids: items.map(({ resource: refund }) => refund.refundId), more, items };
    };
    const first = await page({ limit: 3 });
    expect([first.ids, first.more]).toEqual([ids.slice(0, 3), true]);
    const after = first.items.at(-1)!.position;
    expect(await page({ limit: 3, after })).toMatchObject({ ids: ids.slice(3), more: false });
    expect(await page({ end: 'last', limit: 2, before: after })).toMatchObject({
      ids: ids.slice(0, 2),
      more: false,
    });
    await core.work.settled();
    expect((await page({ status: ['completed'] })).ids).toEqual(ids);
    expect(await core.refunds.count(core.tenant, { status: ['completed'] })).toBe(4);
    expect(await core.refunds.count(core.tenant, { status: ['processing', 'failed'] })).toBe(0);
  });

  test('Refunds are listed by their dates, and a list by dates is in their order', async () => {
    const core = await startCore({ database });
    const [refused, later] = [await sell(core, 5000, NEVER_REFUNDED), await sell(core, 5000, REFUNDED_LATER)];
    const began = core.clock.now();
    const ids: string[] = [];
    for (const orderCode of [refused, later, later, refused]) {
      ids.push((await request(core, orderCode, { amountCents: 10 })).refund.refundId);
      await core.work.settled();
      await core.pass(SECOND);
    }
    await core.pass(10 * SECOND);
    const at = (seconds: number) => new Date(began.getTime() + seconds * SECOND);
    const listed = async (filter: RefundFilter) => {
      const { items } = await core.refunds.list(core.tenant, { end: 'first', limit: 10, ...filter });
      expect(await core.refunds.count(core.tenant, filter)).toBe(items.length);
      return items.map(({ resource: refund }) => ids.indexOf(refund.refundId));
    };
    expect(await listed({ createdAfter: at(1) })).toEqual([3, 2, 1]);
    expect(await listed({ createdAfter: at(1), createdBefore: at(2) })).toEqual([1]);
    expect(await listed({ createdBefore: at(3), status: ['failed'] })).toEqual([0]);
    expect(await listed({ completedAfter: at(7) })).toEqual([2]);
    expect(await listed({ completedBefore: at(7) })).toEqual([1]);
    expect(await listed({ failedAfter: began })).toEqual([3, 0]);
    expect(await listed({ failedBefore: at(1), types: ['card_payment'] })).toEqual([0]);
    expect(await listed({ failedAfter: began, types: ['payment'] })).toEqual([]);
  });

  test('Each change of what was refunded of a payment is an update of it, and no webhook of its own', async () => {
    const core = await startCore({ database, account: { cardReleaseDays: 0 } });
    const orderCode = await sell(core, 5000);
    await request(core, orderCode, { amountCents: 2000 });
    await core.work.settled();
    const { events } = await readAfter(database.sql, core.tenant, { after: 0, limit: 100 });
    const updates = events.flatMap((event) => (event.resource === 'card_payment' ? event : []));
    expect(
      updates.map(({ kind, previousStatus, snapshot: { refundedCents, refundingCents, version } }) => [
        ...[kind, previousStatus, refundedCents, refundingCents, version],
      ]),
    ).toEqual([
      ['card_payment.pending', null, 0, 0, 1],
      ['card_payment.paid', 'pending', 0, 0, 2],
      ['card_payment.paid', 'paid', 0, 2000, 3],
      ['card_payment.paid', 'paid', 2000, 0, 4],
    ]);
    const { snapshot, previousStatus } = updates.at(-1)!;
    expect(cardPaymentWebhook(snapshot, previousStatus)).toBeNull();
  });

  describe('by the previous version', () => {
    test('A refund that the previous version has scheduled is made', async () => {
      const core = await startCore({ database });
      const orderCode = await sell(core, 5000);
      await core.committer.change({
        tenant: core.tenant,
        read: async () => undefined,
        decide: ({ now }) => ({
          outcome: undefined,
          writes: { tasks: [{ kind: 'card_payment.refund', key: orderCode, at: now }] },
        }),
      });
      await core.work.settled();
      expect(await core.cardPayments.find(core.tenant, orderCode)).toMatchObject({
        status: 'refunded',
        refundedCents: 5000,
      });
    });

    test('A payment that the previous version has refunded shows its whole amount as given back', async () => {
      const core = await startCore({ database });
      const orderCode = await sell(core, 5000);
      await database.sql
        .updateTable('card_payment')
        .set({ status: 'refunded', refunded_at: core.clock.now() })
        .where('order_code', '=', orderCode)
        .execute();
      expect(await core.cardPayments.find(core.tenant, orderCode)).toMatchObject({
        status: 'refunded',
        refundedCents: 5000,
        refundingCents: 0,
      });
      await expect(request(core, orderCode, {})).rejects.toMatchObject({ code: 'NOT_REFUNDABLE' });
    });
  });

  test('More than is refundable is refused and changes nothing', async () => {
    const core = await startCore({ database });
    const orderCode = await sell(core, 5000);
    const before = await core.balances();
    await expect(request(core, orderCode, { amountCents: 5001 })).rejects.toBeInstanceOf(ValidationError);
    await core.work.settled();
    expect(await core.balances()).toEqual(before);
    expect(await core.refunds.count(core.tenant, {})).toBe(0);
  });
});

const GRANT = { reusable: true, amount: { kind: 'fixed' as const, cents: 4990 } };

async function checkoutTokenId(core: Core): Promise<string> {
  const { token } = await core.checkoutTokens.create(core.tenant, null, {
    amount: { fixedCents: 4990 },
    reusable: true,
  });
  const { credential } = await core.access.authenticate(`Bearer ${token}`);
  return credential.id;
}

/** Schedules a lookup of the open charge, and returns the revision of its task. */
async function scheduleResolve(core: Core, orderCode: string): Promise<number> {
  await core.committer.change({
    tenant: core.tenant,
    read: async () => undefined,
    decide: ({ now }) => ({
      outcome: undefined,
      writes: { tasks: [{ kind: 'card_payment.resolve', key: orderCode, at: now }] },
    }),
  });
  const { revision } = await core.database.sql
    .selectFrom('task')
    .select('revision')
    .where('kind', '=', 'card_payment.resolve')
    .where('key', '=', orderCode)
    .executeTakeFirstOrThrow();
  return revision;
}

/** Sells for an amount, and returns the paid order's code. */
async function sell(core: Core, valueCents: number, number = '4242424242424242'): Promise<string> {
  const { payment } = await core.cardPayments.create(core.tenant, { valueCents });
  await core.cardPayments.pay(payment.orderCode, card(number));
  return payment.orderCode;
}

function request(core: Core, orderCode: string, input: RefundInput) {
  return core.refunds.request(core.tenant, { type: 'card_payment', id: orderCode }, input);
}
