import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { OwnWallet } from '../../../server/src/money-out/wallet/model.ts';
import { walletToWire, walletWire } from '../../../server/src/money-out/wallet/wire.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, TEST_KEY, type TestApp } from '../../support/app.ts';
import { approved } from '../../support/cards.ts';

const DAY_MS = 86_400_000;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

const NOTHING = {
  currency: 'BRL',
  balance: 0,
  balanceCents: 0,
  disputeBlocked: 0,
  withdrawable: 0,
  withdrawableCents: 0,
  pendingRelease: 0,
  pendingReleaseCents: 0,
  receivableCents: 0,
  subaccountsBalance: 0,
  assignableCents: 0,
  cryptoBalanceLtc: 0,
};

describe('the wallet (section 4.3)', () => {
  test('A new wallet is all zeros, under the names of 2.4', async () => {
    const { status, body } = await app.rest().get('/wallet');
    expect({ status, body }).toEqual({ status: 200, body: NOTHING });
  });

  test('The wallet of a test key names its environment', async () => {
    const { status, body } = await app.rest(TEST_KEY).get('/wallet');
    expect({ status, body }).toEqual({ status: 200, body: { ...NOTHING, sandbox: true } });
  });

  test('The wallet shows a sale first as pending, and then as a withdrawable balance', async () => {
    const accountId = await addAccount(app, { cardReleaseDays: 14 });
    const shop = app.rest(await addKey(app, { accountId }));
    const { orderCode } = (await shop.post('/card-payments', { valueCents: 820 })).body;
    await app.cardPayments.pay(orderCode, approved());
    expect((await shop.get('/wallet')).body).toEqual({
      ...NOTHING,
      pendingRelease: 8.2,
      pendingReleaseCents: 820,
    });

    app.clock.advance(14 * DAY_MS);
    await app.work.settled();
    expect((await shop.get('/wallet')).body).toEqual({
      ...NOTHING,
      balance: 8.2,
      balanceCents: 820,
      withdrawable: 8.2,
      withdrawableCents: 820,
      assignableCents: 820,
    });
  });

  test('The wallet is for an unrestricted key', async () => {
    const restricted = app.rest(await addKey(app, { permissions: ['subcontas.sacar'] }));
    expect((await restricted.get('/wallet')).status).toBe(403);
  });
});

describe('the sandbox wallet (section 4.5)', () => {
  test('The sandbox wallet is that of a test key', async () => {
    const sandbox = app.rest(TEST_KEY);
    expect((await sandbox.get('/sandbox/wallet')).body).toEqual((await sandbox.get('/wallet')).body);
  });

  test('The sandbox wallet is refused to a live key', async () => {
    expect(await app.rest().get('/sandbox/wallet')).toMatchObject({
      status: 403,
      body: { error: 'The sandbox takes test keys alone' },
    });
  });
});

describe('a wallet as it is sent', () => {
  const wallet: OwnWallet = {
    environment: 'live',
    balanceCents: 1_000_05,
    disputeBlockedCents: 10,
    withdrawableCents: 500_00,
    pendingReleaseCents: 1,
    receivableCents: 2,
    subaccountsBalanceCents: 499_95,
    assignableCents: 500_00,
    cryptoBalanceLitoshi: 123_456_789,
  };
  const sent = (changes: Partial<OwnWallet> = {}) =>
    JSON.parse(JSON.stringify(z.encode(walletWire, walletToWire({ ...wallet, ...changes }))));

  test('An encoded wallet has its amounts in reais, some in cents as well, and its LTC', () => {
    expect(sent()).toEqual({
      currency: 'BRL',
      balance: 1000.05,
      balanceCents: 100005,
      disputeBlocked: 0.1,
      withdrawable: 500,
      withdrawableCents: 50000,
      pendingRelease: 0.01,
      pendingReleaseCents: 1,
      receivableCents: 2,
      subaccountsBalance: 499.95,
      assignableCents: 50000,
      cryptoBalanceLtc: 1.23456789,
    });
  });

  test('An encoded wallet without the subaccounts’ sum has null for it and for the assignable amount', () => {
    expect(sent({ subaccountsBalanceCents: null, assignableCents: null })).toMatchObject({
      subaccountsBalance: null,
      assignableCents: null,
    });
  });
});
