import { expect, test } from 'vitest';
import { walletOf } from '../../../server/src/money-out/wallet/model.ts';
import { NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';
import { approved } from '../../support/cards.ts';
import { fund } from '../../support/funds.ts';
import type { StartPortFixture } from '../../support/port-fixture.ts';

/** The life of a response that a facade caches. */
const KEPT = 2_000;
const DAY = 86_400_000;

/** The contract of the wallet, for every implementation of its port. */
export function describePort(start: StartPortFixture): void {
  test('The wallet of a new account is empty, live and in sandbox', async () => {
    const live = await start();
    for (const merchant of [live, live.inSandbox()]) {
      const empty = walletOf(merchant.tenant.environment, NO_BALANCES, 0);
      const { wallet, version } = await merchant.wallet.readWithVersion(merchant.tenant);
      expect({ wallet, version }).toMatchObject({ wallet: empty, ...merchant.exact({ version: 0 }) });
      expect(await merchant.wallet.read(merchant.tenant)).toEqual(empty);
    }
  });

  test('The wallet shows blocked, subaccounts’, pending and withdrawable amounts', async () => {
    const merchant = await start();
    const { wallet, subaccounts, tenant, service } = merchant;
    await fund(service, { cents: 10_000, litoshi: 150_000_000 });
    await service.controls.openDispute(service.tenant, { amountCents: 1_000 });
    const { subaccount } = await subaccounts.create(tenant, { name: 'Bia' });
    await subaccounts.transfer(tenant, { subaccountId: subaccount.id, amountCents: 2_500 });
    expect(await wallet.read(tenant)).toEqual({
      environment: 'live',
      balanceCents: 10_000,
      disputeBlockedCents: 1_000,
      withdrawableCents: 6_500,
      pendingReleaseCents: 0,
      receivableCents: 0,
      subaccountsBalanceCents: 2_500,
      assignableCents: 6_500,
      cryptoBalanceLitoshi: 150_000_000,
    });
  });

  test('The withdrawable amount is never below zero, and returns when the dispute is over', async () => {
    const merchant = await start();
    const { wallet, tenant, service } = merchant;
    await service.controls.credit(service.tenant, 1_000);
    const id = await service.controls.openDispute(service.tenant, { amountCents: 5_000 });
    expect(await wallet.read(tenant)).toMatchObject({
      balanceCents: 1_000,
      disputeBlockedCents: 5_000,
      withdrawableCents: 0,
      assignableCents: 0,
    });
    await merchant.pass(KEPT);
    await service.controls.closeDispute(service.tenant, id, 'won');
    expect(await wallet.read(tenant)).toMatchObject({ disputeBlockedCents: 0, withdrawableCents: 1_000 });
  });

  test('A wallet belongs to one account and one environment', async () => {
    const [merchant, other] = [await start(), await start()];
    await fund(merchant.service, { cents: 700 });
    for (const stranger of [other, merchant.inSandbox()])
      expect(await stranger.wallet.read(stranger.tenant)).toMatchObject({ balanceCents: 0 });
    expect(await merchant.wallet.read(merchant.tenant)).toMatchObject({ balanceCents: 700 });
  });

  test('The wallet shows what a refund leaves owed, and the next credit covers it first', async () => {
    const merchant = await start();
    const { wallet, subaccounts, tenant, service } = merchant;
    const { payment } = await service.cardPayments.create(service.tenant, { valueCents: 9_980 });
    await service.cardPayments.pay(payment.orderCode, approved());
    await merchant.pass(30 * DAY);
    const { subaccount } = await subaccounts.create(tenant, { name: 'Bia' });
    await subaccounts.transfer(tenant, { subaccountId: subaccount.id, amountCents: 9_980 });
    await service.cardPayments.refund(service.tenant, payment.orderCode);
    await merchant.settled();
    await merchant.pass(KEPT);
    expect(await wallet.read(tenant)).toMatchObject({ withdrawableCents: 0, receivableCents: 9_980 });
    await service.controls.credit(service.tenant, 15_000);
    await merchant.pass(KEPT);
    expect(await wallet.read(tenant)).toMatchObject({ withdrawableCents: 5_020, receivableCents: 0 });
  });
}
