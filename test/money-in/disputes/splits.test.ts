import { beforeAll, expect, test } from 'vitest';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { expectBooksHold } from '../../laws/books.ts';
import { type Core, type CoreOptions, startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { expectStatementsHold, openSubaccount } from '../../support/subaccounts.ts';

// A split charge of 1000 cents, with a share of 400 for a beneficiary, which its payer's bank claims back.

const HOUR = 3_600_000;
const AMOUNT = 1_000;
const SHARE = 400;
/** The duration of a refund that the bank does not decide at once. */
const LASTS_MS = 10_000;

describeOnDatabase('disputes of split charges', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('The account carries all of it, and the beneficiary can withdraw its share meanwhile', async () => {
    const sale = await sell();
    const { core, beneficiary } = sale;
    expect(await dispute(sale, AMOUNT)).toMatchObject({ status: 'open', amountCents: AMOUNT });
    expect(await walletOf(sale)).toEqual({ balance: 1_000, blocked: 1_000, withdrawable: 0, shares: 400 });
    expect(await linesOf(sale)).toEqual([['split_in', SHARE]]);
    // None of the account's own 600 can leave it, in either way.
    await expect(
      core.subaccounts.transfer(core.tenant, { subaccountId: beneficiary, amountCents: 1 }),
    ).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
    await expect(
      core.payouts.request(core.tenant, { method: 'pix', amountCents: 500, destination: 'ana@example.com' }),
    ).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
    await withdraw(sale, SHARE);
    expect(await walletOf(sale)).toEqual({ balance: 600, blocked: 1_000, withdrawable: 0, shares: 0 });
    await expectHolds(sale);
  });

  test('Lost, it stays with the account until it is forgiven, and takes nothing of the beneficiary', async () => {
    const sale = await sell();
    const { core } = sale;
    const { disputeId } = (await dispute(sale, AMOUNT))!;
    await core.controls.closeDispute(core.tenant, disputeId, 'lost');
    expect(await walletOf(sale)).toEqual({ balance: 1_000, blocked: 1_000, withdrawable: 0, shares: 400 });
    await expect(refund(sale)).rejects.toMatchObject({ code: 'DISPUTE_STATE' });
    expect(await chargeOf(sale)).toMatchObject({ status: 'paid', disputedCents: AMOUNT });
    // Later credits are held first.
    await core.controls.credit(core.tenant, 500);
    expect(await walletOf(sale)).toMatchObject({ balance: 1_500, withdrawable: 100 });
    await core.controls.closeDispute(core.tenant, disputeId, 'forgiven');
    expect(await walletOf(sale)).toEqual({ balance: 1_500, blocked: 0, withdrawable: 1_100, shares: 400 });
    expect(await linesOf(sale)).toEqual([['split_in', SHARE]]);
    await expectHolds(sale);
  });

  test('Won, it frees the account, and a refund takes the share of the beneficiary as any does', async () => {
    const sale = await sell();
    const { core } = sale;
    const { disputeId } = (await dispute(sale, AMOUNT))!;
    await core.controls.closeDispute(core.tenant, disputeId, 'won');
    expect(await walletOf(sale)).toEqual({ balance: 1_000, blocked: 0, withdrawable: 600, shares: 400 });
    await refund(sale);
    await core.work.settled();
    expect(await chargeOf(sale)).toMatchObject({ status: 'refunded', splits: [{ refundedCents: SHARE }] });
    expect(await linesOf(sale)).toEqual([
      ['split_reversal', -SHARE],
      ['split_in', SHARE],
    ]);
    expect(await walletOf(sale)).toEqual({ balance: 0, blocked: 0, withdrawable: 0, shares: 0 });
    await expectHolds(sale);
  });

  test('Won after the beneficiary has withdrawn its share, it is refunded by the account, which needs all of it', async () => {
    const sale = await sell();
    const { core } = sale;
    const { disputeId } = (await dispute(sale, AMOUNT))!;
    await withdraw(sale, SHARE);
    await core.controls.credit(core.tenant, SHARE);
    // The balance has 1000, and all of it is held.
    await expect(refund(sale)).rejects.toMatchObject({ code: 'DISPUTE_STATE' });
    await core.controls.closeDispute(core.tenant, disputeId, 'won');
    await refund(sale);
    await core.work.settled();
    expect(await chargeOf(sale)).toMatchObject({
      status: 'refunded',
      refundedCents: AMOUNT,
      splits: [{ assignedCents: SHARE, refundedCents: 0 }],
    });
    expect(await walletOf(sale)).toEqual({ balance: 0, blocked: 0, withdrawable: 0, shares: 0 });
    await expectHolds(sale);
  });

  test('What is not disputed is refunded in the proportion of the shares, and needs money that is not held', async () => {
    const sale = await sell();
    const { core } = sale;
    const { disputeId } = (await dispute(sale, 500))!;
    expect(await walletOf(sale)).toEqual({ balance: 1_000, blocked: 500, withdrawable: 100, shares: 400 });
    // The account would have to give 300, and only 100 are free.
    await expect(refund(sale)).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
    await core.controls.closeDispute(core.tenant, disputeId, 'lost');
    await core.controls.credit(core.tenant, 200);
    await refund(sale);
    await core.work.settled();
    expect(await chargeOf(sale)).toMatchObject({
      status: 'paid',
      refundedCents: 500,
      disputedCents: 500,
      splits: [{ assignedCents: 200, refundedCents: 200 }],
    });
    // The beneficiary keeps its share of the lost amount.
    expect(await walletOf(sale)).toEqual({ balance: 700, blocked: 500, withdrawable: 0, shares: 200 });
    await expectHolds(sale);
  });

  test.each([
    { returns: 'refused', blocked: 1_000, shares: 400, balance: 1_000 },
    { returns: 'accepted', blocked: 500, shares: 200, balance: 500 },
  ] as const)(
    'Of a refund under way that is $returns the account is held $blocked, and the beneficiary has $shares',
    async ({ returns, blocked, shares, balance }) => {
      let areHeld = true;
      // This refund is pending until the bank decides it.
      const sale = await sell((rail) => ({
        ...rail,
        refund: async (asked) =>
          areHeld
            ? { status: 'pending', settlesAt: new Date(sale.core.clock.ms() + LASTS_MS) }
            : rail.refund(asked),
      }));
      const { core, chargeId } = sale;
      await core.pix.setReturns(txidOf(chargeId), returns);
      const { refund: underWay } = await refund(sale, 500);
      expect(await walletOf(sale)).toMatchObject({ balance: 500, shares: 200 });
      const { disputeId } = (await dispute(sale, AMOUNT))!;
      expect(await core.disputes.find(core.tenant, disputeId)).toMatchObject({ amountCents: 500 });
      areHeld = false;
      await core.pass(LASTS_MS);
      expect(await core.refunds.find(core.tenant, underWay.refundId)).toMatchObject({
        status: returns === 'refused' ? 'failed' : 'completed',
      });
      expect(await core.disputes.find(core.tenant, disputeId)).toMatchObject({ amountCents: blocked });
      expect(await walletOf(sale)).toEqual({ balance, blocked, withdrawable: 0, shares });
      // The returned amount can be withdrawn, even if the claim is lost.
      await core.controls.closeDispute(core.tenant, disputeId, 'lost');
      await withdraw(sale, shares);
      expect(await walletOf(sale)).toMatchObject({ blocked, shares: 0 });
      expect(await chargeOf(sale)).toMatchObject({ disputedCents: blocked, refundingCents: 0 });
      await expectHolds(sale);
    },
  );

  async function sell(pix: CoreOptions['pix'] = (rail) => rail) {
    const core = await startCore({ database, account: { subaccountMarkupCents: 0 }, pix });
    const beneficiary = await openSubaccount(core);
    const splits = [{ subaccountId: beneficiary, amountCents: SHARE }];
    const { charge } = await core.charges.create(core.tenant, { valueCents: AMOUNT, splits });
    const { chargeId } = charge;
    await core.pix.pay({ txid: txidOf(chargeId) });
    await core.charges.receive(core.tenant, chargeId);
    await core.work.settled();
    return { core, beneficiary, chargeId };
  }
});

type Sale = { core: Core; beneficiary: string; chargeId: string };

const charged = (id: string) => ({ type: 'charge', id }) as const;

function dispute({ core, chargeId }: Sale, amountCents: number) {
  return core.controls.disputePayment(core.tenant, charged(chargeId), { amountCents });
}

function refund({ core, chargeId }: Sale, amountCents?: number) {
  return core.refunds.request(core.tenant, charged(chargeId), { amountCents });
}

function chargeOf({ core, chargeId }: Sale) {
  return core.charges.find(core.tenant, chargeId);
}

async function withdraw({ core, beneficiary }: Sale, amountCents: number): Promise<void> {
  const to = { subaccountId: beneficiary, amountCents, pixKey: 'bia@example.com' };
  await core.subaccounts.requestPayout(core.tenant, to);
  await core.pass(HOUR);
}

async function walletOf({ core }: Sale) {
  const wallet = await core.wallet.read(core.tenant);
  return {
    balance: wallet.balanceCents,
    blocked: wallet.disputeBlockedCents,
    withdrawable: wallet.withdrawableCents,
    shares: wallet.subaccountsBalanceCents,
  };
}

async function linesOf({ core, beneficiary }: Sale) {
  const { items } = await core.subaccounts.statement(core.tenant, beneficiary, { end: 'first', limit: 10 });
  return items.map(({ item }) => [item.kind, item.amountCents]);
}

async function expectHolds({ core }: Sale): Promise<void> {
  await expectBooksHold(core.database, core.tenant);
  await expectStatementsHold(core.database, core.tenant);
  expect(core.faults).toEqual([]);
}
