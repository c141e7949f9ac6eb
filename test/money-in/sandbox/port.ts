import { expect, test } from 'vitest';
import { NotFoundError, PreconditionError } from '../../../server/src/kernel/errors.ts';
import { post } from '../../../server/src/state/ledger/store.ts';
import { ledgerTransaction } from '../../support/ledger.ts';
import type { StartPortFixture } from '../../support/port-fixture.ts';

/** The contract of test payments, for every implementation of their port. The service marks them as paid. */
export function describePort(start: StartPortFixture): void {
  const sandbox = async () => (await start()).inSandbox();

  test('Test payments add to the sandbox balance at once, or stay pending until they are marked as paid', async () => {
    const merchant = await sandbox();
    const { tenant, service, clock } = merchant;
    const paid = await merchant.sandbox.createTestPayment(tenant, { valueCents: 4990 });
    const whole = {
      id: expect.stringMatching(/^test_[0-9a-f]{24}$/),
      createdAt: clock.now(),
      paidAt: clock.now(),
    };
    expect(paid).toEqual({ valueCents: 4990, status: 'paid', ...merchant.exact(whole) });
    const pending = await merchant.sandbox.createTestPayment(tenant, { valueCents: 80, pending: true });
    expect(pending).toMatchObject({ status: 'pending', ...merchant.exact({ paidAt: null }) });
    expect(await merchant.wallet.read(tenant)).toMatchObject({
      environment: 'sandbox',
      balanceCents: 4990,
      withdrawableCents: 4990,
      pendingReleaseCents: 80,
      disputeBlockedCents: 0,
      cryptoBalanceLitoshi: 0,
    });

    await merchant.pass(2_000);
    const [newest, oldest] = await service.controls.listTestPayments(service.tenant, { limit: 10 });
    expect([newest, oldest]).toMatchObject([pending, paid]);
    const settled = await service.controls.settleTestPayment(service.tenant, newest!.id);
    expect(settled).toEqual({ ...newest, status: 'paid', paidAt: clock.now() });
    expect(await merchant.wallet.read(tenant)).toMatchObject({ balanceCents: 5070, pendingReleaseCents: 0 });
    expect(await service.controls.listTestPayments(service.tenant, { limit: 10 })).toEqual([settled, oldest]);
    expect(await service.controls.listTestPayments(service.tenant, { limit: 1 })).toEqual([settled]);
  });

  test('Test payments belong to their account alone, and do not change the live wallet', async () => {
    const [live, other] = [await start(), await sandbox()];
    const { sandbox: payments, tenant, service } = live.inSandbox();
    await payments.createTestPayment(tenant, { valueCents: 80, pending: true });
    const [made] = await service.controls.listTestPayments(service.tenant, { limit: 1 });
    const settled = other.service.controls.settleTestPayment(other.service.tenant, made!.id);
    await expect(settled).rejects.toBeInstanceOf(NotFoundError);
    expect(await other.service.controls.listTestPayments(other.service.tenant, { limit: 10 })).toEqual([]);
    expect(await live.wallet.read(live.tenant)).toMatchObject({ balanceCents: 0, pendingReleaseCents: 0 });
  });

  test('Test payments are refused with a live key', async () => {
    const merchant = await start();
    const refused = merchant.sandbox.createTestPayment(merchant.tenant, { valueCents: 80 });
    await expect(refused).rejects.toBeInstanceOf(PreconditionError);
    await expect(refused).rejects.toMatchObject({ code: 'ONLY_IN_SANDBOX' });
  });

  test('Test payments are refused where their sum could not be counted', async () => {
    const { sandbox: payments, tenant, service } = await sandbox();
    const amount = Math.floor(Number.MAX_SAFE_INTEGER / 2) - 100;
    const much = ledgerTransaction('much', [{ from: 'received', to: 'merchant_balance', amount }]);
    await post(
      service.database.sql,
      [{ tenant: service.tenant, transactions: [much] }],
      new Date('2026-01-01T00:00:00.000Z'),
    );
    await payments.createTestPayment(tenant, { valueCents: 100 });
    await expect(payments.createTestPayment(tenant, { valueCents: 1 })).rejects.toMatchObject({
      code: 'LIMIT_REACHED',
    });
  });
}
