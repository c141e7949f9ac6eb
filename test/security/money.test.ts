import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../server/src/state/db/database.ts';
import { post } from '../../server/src/state/ledger/store.ts';
import { approved, approvedLate } from '../support/cards.ts';
import { type Core, startCore } from '../support/core.ts';
import { openFreshDatabase } from '../support/database.ts';
import { ledgerTransaction } from '../support/ledger.ts';

const MINUTE = 60_000;

let database: Database;
beforeAll(async () => {
  database = await openFreshDatabase();
  return () => database.close();
});

const status = async (core: Core, orderCode: string) =>
  (await core.cardPayments.find(core.tenant, orderCode))!.status;

test('a sum that no balance can hold is not taken: what the acquirer holds can always be recorded', async () => {
  const asked: string[] = [];
  const core = await startCore({
    database,
    acquirer: (simulated) => ({
      ...simulated,
      charge(charge) {
        asked.push(charge.id);
        return simulated.charge(charge);
      },
    }),
  });
  const sold = ledgerTransaction('sold', [
    { from: 'acquirer', to: 'merchant_pending', amount: Number.MAX_SAFE_INTEGER - 100 },
  ]);
  await post(database.sql, [{ tenant: core.tenant, transactions: [sold] }], core.clock.now());
  const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 4990 });
  expect(await core.cardPayments.pay(payment.orderCode, approved())).toMatchObject({ kind: 'not_payable' });
  expect(asked).toEqual([]);
  await core.pass(40 * MINUTE);
  expect(await status(core, payment.orderCode)).toBe('expired');
  expect(core.faults).toEqual([]);
});

test('an attempt that was paid and given back is not paid again by a charge that the acquirer approves late', async () => {
  const core = await startCore({ database });
  const { token } = await core.checkoutTokens.create(core.tenant, null, {
    amount: { fixedCents: 4990 },
  });
  const { credential } = await core.access.authenticate(`Bearer ${token}`);
  if (credential.kind !== 'checkout_token') throw new TypeError('not a checkout token');
  const start = (attemptId: string) =>
    core.cardPayments.startCheckout(core.tenant, credential, { attemptId }).then(({ payment }) => payment);

  const late = await start('a'.repeat(22));
  await core.cardPayments.pay(late.orderCode, approvedLate());
  await core.pass(30 * MINUTE);
  const kept = await start('b'.repeat(22));
  expect(await core.cardPayments.pay(kept.orderCode, approved())).toMatchObject({ kind: 'paid' });
  await core.cardPayments.refund(core.tenant, kept.orderCode);
  await core.pass(MINUTE);
  expect(await status(core, kept.orderCode)).toBe('refunded');

  await core.pass(20 * MINUTE);
  expect(await status(core, late.orderCode)).toBe('failed');
  expect(await core.balances()).toMatchObject({ merchant_pending: 0, merchant_balance: 0 });
  expect(core.faults).toEqual([]);
});
