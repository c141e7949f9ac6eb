import { beforeAll, expect, test } from 'vitest';
import { IdempotencyError, PreconditionError, ValidationError } from '../../../server/src/kernel/errors.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { post } from '../../../server/src/state/ledger/store.ts';
import { startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { ledgerTransaction } from '../../support/ledger.ts';

describeOnDatabase('credits', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('A credit covers the merchant’s debt first, and then adds to the balance', async () => {
    const core = await startCore({ database });
    const owed = ledgerTransaction('owed', [
      { from: 'merchant_receivable', to: 'merchant_balance', amount: 700 },
      { from: 'merchant_balance', to: 'paid_out', amount: 700 },
    ]);
    await post(database.sql, [{ tenant: core.tenant, transactions: [owed] }], core.clock.now());
    await core.controls.credit(core.tenant, 500);
    expect(await core.balances()).toMatchObject({ merchant_balance: 0, merchant_receivable: -200 });
    await core.controls.credit(core.tenant, 500);
    expect(await core.balances()).toMatchObject({ merchant_balance: 300, merchant_receivable: 0 });
  });

  test('A credit in LTC adds to the LTC balance', async () => {
    const core = await startCore({ database });
    await core.controls.creditLtc(core.tenant, 150_000_000);
    expect(await core.wallet.read(core.tenant)).toMatchObject({
      balanceCents: 0,
      cryptoBalanceLitoshi: 150_000_000,
    });
  });

  test('A credit is made once under one name, and another amount under it is refused', async () => {
    const core = await startCore({ database });
    for (const control of ['credit', 'creditLtc'] as const) {
      const ids = await Promise.all(
        [1, 2, 3].map(() => core.controls[control](core.tenant, 500, { name: 'a' })),
      );
      expect(new Set(ids).size).toBe(1);
      await expect(core.controls[control](core.tenant, 501, { name: 'a' })).rejects.toBeInstanceOf(
        IdempotencyError,
      );
      expect(await core.controls[control](core.tenant, 500)).not.toBe(ids[0]);
    }
    expect(await core.balances()).toMatchObject({ merchant_balance: 1_000, merchant_ltc: 1_000 });
  });

  test.each([0, -1, 1.5, Number.NaN, Number.MAX_SAFE_INTEGER])(
    'A credit of %d is refused',
    async (amount) => {
      const { controls, tenant, balances } = await startCore({ database });
      const before = await balances();
      for (const refused of [
        controls.credit(tenant, amount),
        controls.creditLtc(tenant, amount),
        controls.openDispute(tenant, { amountCents: amount }),
      ])
        await expect(refused).rejects.toBeInstanceOf(ValidationError);
      expect(await balances()).toEqual(before);
    },
  );

  test('A credit is refused where the sum could not be counted', async () => {
    const core = await startCore({ database });
    const amount = Math.floor(Number.MAX_SAFE_INTEGER / 2) - 100;
    const much = ledgerTransaction('much', [
      { from: 'received', to: 'merchant_balance', amount },
      { from: 'ltc_received', to: 'merchant_ltc', amount },
      { from: 'dispute_claims', to: 'dispute_hold', amount },
    ]);
    await post(database.sql, [{ tenant: core.tenant, transactions: [much] }], core.clock.now());
    const { controls, tenant } = core;
    for (const refused of [
      controls.credit(tenant, 101),
      controls.creditLtc(tenant, 101),
      controls.openDispute(tenant, { amountCents: 101 }),
    ])
      await expect(refused).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    await Promise.all([controls.credit(tenant, 100), controls.openDispute(tenant, { amountCents: 100 })]);
  });

  test('Credits and disputes are refused in sandbox', async () => {
    const { controls, ...core } = await startCore({ database });
    const tenant = { ...core.tenant, environment: 'sandbox' } as const;
    for (const refused of [
      controls.credit(tenant, 100),
      controls.creditLtc(tenant, 100),
      controls.openDispute(tenant, { amountCents: 100 }),
    ]) {
      await expect(refused).rejects.toBeInstanceOf(PreconditionError);
      await expect(refused).rejects.toMatchObject({ code: 'NOT_IN_SANDBOX' });
    }
  });
});
