import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import type { GraphQLClient } from '../../support/graphql.ts';

const UPDATES = `subscription ($after: String) {
  walletUpdates(after: $after) {
    cursor occurredAt
    wallet { id balanceCents disputeBlockedCents withdrawableCents pendingReleaseCents receivableCents subaccountsBalanceCents
      assignableCents cryptoBalanceLtc sandbox }
  }
}`;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

describe.each(['ws', 'sse'] as const)('over %s', (transport) => {
  test('A subscriber gets the wallet as it is, and then as it was at each change', async () => {
    const { client, tenant } = await merchant();
    await app.controls.credit(tenant, 1_000);
    const updates = client[transport](UPDATES);
    const first = (await updates.data()).walletUpdates;
    expect(first).toMatchObject({
      occurredAt: app.clock.now().toISOString(),
      wallet: { balanceCents: 1_000, withdrawableCents: 1_000, subaccountsBalanceCents: 0, sandbox: false },
    });
    expect((await client.request('{ wallet { id } }')).wallet.id).toBe(first.wallet.id);

    app.clock.advance(1_000);
    await app.controls.openDispute(tenant, { amountCents: 300 });
    const second = (await updates.data()).walletUpdates;
    expect(second).toMatchObject({
      occurredAt: app.clock.now().toISOString(),
      wallet: {
        id: first.wallet.id,
        balanceCents: 1_000,
        disputeBlockedCents: 300,
        withdrawableCents: 700,
        assignableCents: 700,
      },
    });
    expect(second.cursor).not.toBe(first.cursor);
    await app.controls.creditLtc(tenant, 150_000_000);
    expect((await updates.data()).walletUpdates.wallet.cryptoBalanceLtc).toBe('1.50000000');
    await updates.close();

    const resumed = client[transport](UPDATES, { after: first.cursor });
    expect((await resumed.data()).walletUpdates.wallet).toMatchObject({ cryptoBalanceLtc: '1.50000000' });
    await resumed.close();
  });

  test('A subscriber to the sandbox gets an update for each test payment', async () => {
    const { client } = await merchant('sandbox');
    const updates = client[transport](UPDATES);
    expect((await updates.data()).walletUpdates.wallet).toMatchObject({ balanceCents: 0, sandbox: true });
    await client.request(
      'mutation { createTestPayment(input: { valueCents: 70, pending: true }) { __typename } }',
    );
    expect((await updates.data()).walletUpdates.wallet).toMatchObject({
      balanceCents: 0,
      pendingReleaseCents: 70,
    });
    await updates.close();
  });

  test('A subscription with a foreign cursor is refused', async () => {
    const { client } = await merchant();
    const { value } = await client[transport](UPDATES, { after: 'x' }).next();
    expect(value.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  test('A subscription is refused to callers who may not read the wallet', async () => {
    const strangers = [
      await addKey(app, { permissions: ['subcontas.gerenciar'] }),
      await addToken(app, { kind: 'dashboard', grant: { scopes: ['payouts', 'card_payments'] } }),
      await addToken(app, { kind: 'payment', grant: { orderCode: 'PSC-' } }),
    ];
    for (const stranger of strangers) {
      const { value } = await app.client(stranger)[transport](UPDATES).next();
      expect(value.errors[0].extensions.code).toBe('FORBIDDEN');
    }
  });
});

async function merchant(
  environment: Tenant['environment'] = 'live',
): Promise<{ client: GraphQLClient; tenant: Tenant }> {
  const accountId = await addAccount(app);
  const key = await addKey(app, { accountId, environment });
  return { client: app.client(key), tenant: { accountId, environment } };
}
