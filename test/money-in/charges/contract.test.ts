import { beforeAll, describe, expect, test } from 'vitest';
import { parseBrCode } from '../../../server/src/kernel/br-code.ts';
import type { InsufficientFundsError, UpstreamError } from '../../../server/src/kernel/errors.ts';
import { newChargeId } from '../../../server/src/money-in/charges/model.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import type { PixRail } from '../../../server/src/rails/pix.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';
import { approved } from '../../support/cards.ts';
import { type Core, startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { embedded } from '../../support/port-fixture.ts';
import { describePort } from './port.ts';

const DAY = 24 * 60 * 60_000;

describeOnDatabase('charges', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });
  describePort(embedded(() => database));

  test('A charge is created with a code, paid once, and its money is in the balance at once', async () => {
    const core = await startCore({ database, account: { pixFeeCents: 90 } });
    const { charge } = await core.charges.create(core.tenant, { valueCents: 4_990 });
    expect(parseBrCode(charge.brCode!)).toMatchObject({ amountCents: 4_990, merchantName: 'Padaria da Ana' });
    await pay(core, charge.chargeId);
    await pay(core, charge.chargeId);
    await core.pass(DAY);
    expect(await core.charges.find(core.tenant, charge.chargeId)).toMatchObject({
      status: 'paid',
      feeCents: 90,
      paidLate: false,
      returnedCredits: [],
    });
    expect(await core.balances()).toEqual({
      ...NO_BALANCES,
      merchant_balance: 4_900,
      platform_fees: 90,
      pix_received: -4_990,
    });
    expect(core.faults).toEqual([]);
  });

  test('Money for a canceled split charge is sent back, and no beneficiary gets a share of it', async () => {
    const core = await startCore({ database });
    const { subaccount } = await core.subaccounts.create(core.tenant, { name: 'Ana' });
    const { charge } = await core.charges.create(core.tenant, {
      valueCents: 10_000,
      splits: [{ subaccountId: subaccount.id, amountCents: 4_000 }],
    });
    const { charge: canceled, replayed } = await core.charges.cancel(core.tenant, charge.chargeId);
    expect(canceled).toMatchObject({ status: 'expired', canceledAt: core.clock.now() });
    expect(replayed).toBe(false);
    expect(await core.charges.cancel(core.tenant, charge.chargeId)).toEqual({
      charge: canceled,
      replayed: true,
    });
    await core.pix.pay({ txid: txidOf(charge.chargeId) });
    await core.charges.receive(core.tenant, charge.chargeId);
    await core.work.settled();
    expect(await core.charges.find(core.tenant, charge.chargeId)).toMatchObject({
      status: 'expired',
      returnedCredits: [{ cause: 'canceled', returnedAt: core.clock.now() }],
    });
    expect(await core.balances()).toEqual(NO_BALANCES);
  });

  test('One key makes one charge, split or not, and another input under it is refused', async () => {
    const core = await startCore({ database });
    const [ana] = await subaccounts(core, 1);
    const input = { valueCents: 1_000, idempotencyKey: 'aula-1', description: 'Aula' };
    const first = await core.charges.create(core.tenant, input);
    const again = await core.charges.create(core.tenant, {
      ...input,
      expiresInSeconds: 86_400,
      splits: null,
    });
    expect([first.replayed, again.replayed]).toEqual([false, true]);
    expect(again.charge).toEqual(first.charge);
    const splits = [{ subaccountId: ana!, percent: 50 }];
    await expect(core.charges.create(core.tenant, { ...input, splits })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
    const split = { ...input, idempotencyKey: 'aula-2', splits };
    const made = await core.charges.create(core.tenant, split);
    const text = { ...split, splits: [{ subaccountId: ana!, percent: '50.00', amountCents: null }] };
    expect((await core.charges.create(core.tenant, text)).charge.chargeId).toBe(made.charge.chargeId);
  });

  describe('that are split', () => {
    test('Each beneficiary gets its share on its statement, and a debt of the owner takes nothing of it', async () => {
      const core = await startCore({ database, account: { pixFeeCents: 100, subaccountMarkupCents: 0 } });
      const [ana, bia] = await subaccounts(core, 2);
      await inDebt(core, 500);
      const { charge } = await core.charges.create(core.tenant, {
        valueCents: 1_100,
        splits: [
          { subaccountId: ana!, amountCents: 250 },
          { subaccountId: bia!, percent: 33.33 },
        ],
      });
      expect(charge.splits.map(({ amountCents }) => amountCents)).toEqual([250, 333]);
      await pay(core, charge.chargeId);
      expect(await core.balances()).toMatchObject({
        merchant_subaccounts: 583,
        merchant_receivable: -83,
        merchant_balance: 0,
      });
      expect(await statementOf(core, bia!)).toEqual([['split_in', charge.chargeId, 333, 333]]);
    });

    test('A refund takes the parts in proportion, and the owner gives what a subaccount has no more', async () => {
      const core = await startCore({ database, account: { subaccountMarkupCents: 0 } });
      const [ana, bia] = await subaccounts(core, 2);
      const { charge } = await split(core, 1_000, [
        [ana!, 400],
        [bia!, 300],
      ]);
      await drain(core, bia!, 250);
      const { refund } = await core.refunds.request(core.tenant, charged(charge.chargeId), {
        amountCents: 500,
      });
      await core.work.settled();
      expect(await core.charges.find(core.tenant, charge.chargeId)).toMatchObject({
        status: 'paid',
        refundedCents: 500,
        refundingCents: 0,
        refundParts: [],
        splits: [
          { refundedCents: 200, assignedCents: 200 },
          { refundedCents: 50, assignedCents: 150 },
        ],
      });
      expect((await statementOf(core, ana!))[0]).toEqual(['split_reversal', refund.refundId, -200, 200]);
      expect((await statementOf(core, bia!))[0]).toEqual(['split_reversal', refund.refundId, -50, 0]);
      // The owner has given 250, and the remaining part of Bia is missing.
      expect(await core.balances()).toMatchObject({ merchant_balance: 50, merchant_subaccounts: 200 });
      const whole = core.refunds.request(core.tenant, charged(charge.chargeId), {});
      await expect(whole).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
      const refusal = (await whole.catch((error: unknown) => error)) as InsufficientFundsError;
      expect(refusal.requestedCents).toBe(300);
      await core.charges
        .create(core.tenant, { valueCents: 250 })
        .then(({ charge: more }) => pay(core, more.chargeId));
      await core.refunds.request(core.tenant, charged(charge.chargeId), {});
      await core.work.settled();
      expect(await core.charges.find(core.tenant, charge.chargeId)).toMatchObject({
        status: 'refunded',
        splits: [
          { refundedCents: 400, assignedCents: 400 },
          { refundedCents: 50, assignedCents: 300 },
        ],
      });
      expect(await core.balances()).toMatchObject({
        merchant_balance: 0,
        merchant_subaccounts: 0,
        merchant_receivable: 0,
        refunds_in_transit: 0,
      });
    });

    test('A refund that the bank refuses gives each party exactly that back which it has taken', async () => {
      const core = await startCore({ database, account: { subaccountMarkupCents: 0 } });
      const [ana, bia] = await subaccounts(core, 2);
      const { charge } = await split(core, 1_000, [
        [ana!, 500],
        [bia!, 300],
      ]);
      await drain(core, ana!, 480);
      const before = await core.balances();
      await core.pix.setReturns(txidOf(charge.chargeId), 'refused');
      const { charge: funds } = await core.charges.create(core.tenant, { valueCents: 500 });
      await pay(core, funds.chargeId);
      const { refund } = await core.refunds.request(core.tenant, charged(charge.chargeId), {
        amountCents: 700,
      });
      await core.work.settled();
      expect(await core.refunds.find(core.tenant, refund.refundId)).toMatchObject({ status: 'failed' });
      expect(await core.balances()).toEqual({
        ...before,
        merchant_balance: before.merchant_balance + 500,
        pix_received: before.pix_received - 500,
      });
      expect(await statementOf(core, ana!)).toEqual([
        ['split_in', refund.refundId, 20, 20],
        ['split_reversal', refund.refundId, -20, 0],
        ['payout', expect.anything(), -480, 20],
        ['split_in', charge.chargeId, 500, 500],
      ]);
      expect(await core.charges.find(core.tenant, charge.chargeId)).toMatchObject({
        refundedCents: 0,
        refundingCents: 0,
        refundParts: [],
        status: 'paid',
        splits: [
          { refundedCents: 0, assignedCents: 0 },
          { refundedCents: 0, assignedCents: 0 },
        ],
      });
    });

    test('Beneficiaries of another account, of the other environment, or of none are not found', async () => {
      const [core, other] = [await startCore({ database }), await startCore({ database })];
      const sandbox = { ...core.tenant, environment: 'sandbox' } as const;
      const [theirs] = await subaccounts(other, 1);
      const { subaccount } = await core.subaccounts.create(sandbox, { name: 'Teste' });
      for (const subaccountId of [theirs!, subaccount.id, `sacc_${'0'.repeat(32)}`])
        await expect(
          core.charges.create(core.tenant, { valueCents: 100, splits: [{ subaccountId, percent: '50' }] }),
        ).rejects.toMatchObject({ code: 'NOT_FOUND', message: 'Subaccount not found' });
      expect((await core.charges.listPage(core.tenant, { limit: 1, offset: 0 })).total).toBe(0);
    });

    test('All of the amount can be the beneficiaries’, and then the owner’s balance does not move', async () => {
      const core = await startCore({ database });
      const [ana] = await subaccounts(core, 1);
      const { charge } = await split(core, 700, [[ana!, 700]]);
      await core.refunds.request(core.tenant, charged(charge.chargeId), {});
      await core.work.settled();
      expect(await core.charges.find(core.tenant, charge.chargeId)).toMatchObject({ status: 'refunded' });
      expect(await core.balances()).toEqual(NO_BALANCES);
    });
  });

  test('A test charge is pending release until it is paid or expires, with the shares in it', async () => {
    const core = await startCore({ database });
    const tenant = { ...core.tenant, environment: 'sandbox' } as const;
    const { subaccount } = await core.subaccounts.create(tenant, { name: 'Ana' });
    const splits = [{ subaccountId: subaccount.id, percent: '40' }];
    const { charge } = await core.charges.create(tenant, { valueCents: 1_000, splits });
    await core.charges.create(tenant, { valueCents: 300, expiresInSeconds: 60 });
    expect(await core.wallet.read(tenant)).toMatchObject({ balanceCents: 0, pendingReleaseCents: 1_300 });
    await core.pass(60_000);
    expect(await core.wallet.read(tenant)).toMatchObject({ balanceCents: 0, pendingReleaseCents: 1_000 });
    await core.sandbox.simulatePayment(tenant, { id: charge.chargeId });
    expect(await core.wallet.read(tenant)).toMatchObject({
      balanceCents: 1_000,
      pendingReleaseCents: 0,
      subaccountsBalanceCents: 400,
    });
    const missing = { id: newChargeId('single', '0'.repeat(32)) };
    await expect(core.sandbox.simulatePayment(tenant, missing)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'Charge not found',
    });
  });

  test('A charge whose code does not come in time is announced with its code, by the task that asks again', async () => {
    let isAway = true;
    const away = (bank: PixRail): PixRail => ({
      ...bank,
      register: (code) => (isAway ? Promise.reject(new Error('away')) : bank.register(code)),
    });
    const core = await startCore({ database, pix: away });
    const input = { valueCents: 100, idempotencyKey: 'k' };
    const refusal = (await core.charges
      .create(core.tenant, input)
      .catch((error: unknown) => error)) as UpstreamError;
    expect(refusal).toMatchObject({ retryable: true, moneyMayHaveMoved: false });
    const chargeId = refusal.lookupReference!;
    expect(await core.charges.find(core.tenant, chargeId)).toMatchObject({ status: 'pending', brCode: null });
    isAway = false;
    await core.pass(10_000);
    expect(await core.charges.find(core.tenant, chargeId)).toMatchObject({ brCode: expect.any(String) });
    expect((await core.charges.create(core.tenant, input)).replayed).toBe(true);
  });
});

const charged = (id: string) => ({ type: 'charge', id }) as const;

async function pay({ pix, charges, tenant, work }: Core, chargeId: string): Promise<void> {
  await pix.pay({ txid: txidOf(chargeId), key: 'once' });
  await charges.receive(tenant, chargeId);
  await work.settled();
}

async function subaccounts(core: Core, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1)
    ids.push((await core.subaccounts.create(core.tenant, { name: `Sócia ${index}` })).subaccount.id);
  return ids;
}

async function split(core: Core, valueCents: number, parts: readonly (readonly [string, number])[]) {
  const splits = parts.map(([subaccountId, amountCents]) => ({ subaccountId, amountCents }));
  const made = await core.charges.create(core.tenant, { valueCents, splits });
  await pay(core, made.charge.chargeId);
  return made;
}

/** Pays out an amount of a subaccount. */
async function drain(
  { subaccounts: service, tenant, pass }: Core,
  subaccountId: string,
  amountCents: number,
) {
  await service.requestPayout(tenant, { subaccountId, amountCents, pixKey: 'ana@example.com' });
  await pass(60 * 60_000);
}

/** Makes the account owe an amount: its balance is paid out, and a card payment is refunded automatically. */
async function inDebt(core: Core, amountCents: number): Promise<void> {
  const { payment } = await core.cardPayments.create(core.tenant, { valueCents: amountCents });
  await core.cardPayments.pay(payment.orderCode, approved());
  await core.pass(15 * DAY);
  const { subaccount } = await core.subaccounts.create(core.tenant, { name: 'Reserva' });
  await core.subaccounts.transfer(core.tenant, { subaccountId: subaccount.id, amountCents });
  await drain(core, subaccount.id, amountCents);
  await core.cardPayments.refund(core.tenant, payment.orderCode);
  await core.work.settled();
}

async function statementOf({ subaccounts: service, tenant }: Core, subaccountId: string) {
  const { items } = await service.statement(tenant, subaccountId, { end: 'first', limit: 10 });
  return items.map(({ item }) => [item.kind, item.refId, item.amountCents, item.balanceAfterCents]);
}
