import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

const EMPTY = {
  currency: 'BRL',
  balance: 0,
  balanceCents: 0,
  disputeBlocked: 0,
  withdrawable: 0,
  withdrawableCents: 0,
  pendingRelease: 0,
  pendingReleaseCents: 0,
  subaccountsBalance: 0,
  assignableCents: 0,
  cryptoBalanceLtc: 0,
};

test('shows the wallet of a new account', async () => {
  expect(await app.rest().get('/wallet')).toMatchObject({ status: 200, body: EMPTY });
});
