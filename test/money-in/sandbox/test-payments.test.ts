import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NotFoundError } from '../../../server/src/kernel/errors.ts';
import { createTestPaymentInput } from '../../../server/src/money-in/sandbox/model.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Core, startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import type { GraphQLClient } from '../../support/graphql.ts';
import { embedded } from '../../support/port-fixture.ts';
import { describePort } from './port.ts';

describeOnDatabase('test payments', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  describePort(embedded(() => database));

  test('A test payment is marked as paid once by several concurrent requests', async () => {
    const { core, tenant } = await sandbox();
    const { id } = await core.sandbox.createTestPayment(tenant, { valueCents: 80, pending: true });
    const settled = await Promise.all([1, 2, 3].map(() => core.controls.settleTestPayment(tenant, id)));
    expect(new Set(settled.map(({ status }) => status))).toEqual(new Set(['paid']));
    expect(await core.wallet.read(tenant)).toMatchObject({ balanceCents: 80, pendingReleaseCents: 0 });
  });

  test.each(['', 'x', `test_${'ab'.repeat(12)}`, 'with \u0000'])(
    'No test payment is found under the id %j',
    async (id) => {
      const { core, tenant } = await sandbox();
      await expect(core.controls.settleTestPayment(tenant, id)).rejects.toBeInstanceOf(NotFoundError);
    },
  );

  async function sandbox(): Promise<{ core: Core; tenant: Core['tenant'] }> {
    const core = await startCore({ database });
    return { core, tenant: { ...core.tenant, environment: 'sandbox' } };
  }
});

describe('the input of a test payment', () => {
  test.each([0, -1, 1.5, 10_000_000_001, '80', null])('A test payment of %j is refused', (valueCents) => {
    expect(createTestPaymentInput.safeParse({ valueCents }).success).toBe(false);
  });

  test.each([1, 10_000_000_000])('A test payment of %d is accepted', (valueCents) => {
    expect(createTestPaymentInput.safeParse({ valueCents, pending: null }).success).toBe(true);
  });
});

describe('the sandbox', () => {
  const CREATE = `mutation ($input: CreateTestPaymentInput!) { createTestPayment(input: $input) { __typename
    ... on CreateTestPaymentSuccess { wallet { sandbox balanceCents withdrawableCents pendingReleaseCents } }
    ... on UserError { code } ... on ValidationError { fields { path } } } }`;
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(async () => {
    expect(app.faults).toEqual([]);
    await app.close();
  });

  const testKey = async () => addKey(app, { accountId: await addAccount(app), environment: 'sandbox' });
  const create = async (client: GraphQLClient, input: object) =>
    (await client.request(CREATE, { input })).createTestPayment;

  test('A test payment is answered with the wallet after it', async () => {
    const client = app.client(await testKey());
    expect(await create(client, { valueCents: 500 })).toEqual({
      __typename: 'CreateTestPaymentSuccess',
      wallet: { sandbox: true, balanceCents: 500, withdrawableCents: 500, pendingReleaseCents: 0 },
    });
    expect(await create(client, { valueCents: 70, pending: true })).toMatchObject({
      wallet: { balanceCents: 500, pendingReleaseCents: 70 },
    });
  });

  test('A test payment refuses live keys, restricted keys and invalid amounts', async () => {
    expect(await create(app.live, { valueCents: 500 })).toEqual({
      __typename: 'PreconditionError',
      code: 'ONLY_IN_SANDBOX',
    });
    const restricted = await addKey(app, { environment: 'sandbox', permissions: ['subcontas.sacar'] });
    expect(await create(app.client(restricted), { valueCents: 500 })).toMatchObject({
      __typename: 'PermissionError',
    });
    for (const valueCents of [0, 10_000_000_001])
      expect(await create(app.sandbox, { valueCents })).toMatchObject({
        __typename: 'ValidationError',
        fields: [{ path: 'input.valueCents' }],
      });
    expect((await app.sandbox.request('{ wallet { balanceCents } }')).wallet.balanceCents).toBe(0);
  });

  test('A test payment over REST changes the wallet', async () => {
    const rest = app.rest(await testKey());
    expect(await rest.post('/sandbox/payments', { valueCents: 1990 })).toMatchObject({
      status: 201,
      body: {
        id: expect.stringMatching(/^test_[0-9a-f]{24}$/),
        valueCents: 1990,
        status: 'paid',
        createdAt: app.clock.now().toISOString(),
      },
    });
    const pending = await rest.post('/sandbox/payments', { valueCents: 10, pending: true });
    expect(pending.body).toMatchObject({ status: 'pending', valueCents: 10 });
    expect(Object.keys(pending.body).sort()).toEqual(['createdAt', 'id', 'status', 'valueCents']);
    for (const path of ['/sandbox/wallet', '/wallet'])
      expect((await rest.get(path)).body).toMatchObject({
        balance: 19.9,
        withdrawableCents: 1990,
        pendingRelease: 0.1,
        sandbox: true,
      });
    for (const [body, field] of [
      [{}, 'valueCents'],
      [{ valueCents: 0 }, 'valueCents'],
      [{ valueCents: 1, pending: 'yes' }, 'pending'],
    ] as const)
      expect(await rest.post('/sandbox/payments', body)).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining(field) },
      });
    expect((await app.rest().post('/sandbox/payments', { valueCents: 1 })).status).toBe(403);
  });
});

describe('the payer of a payment in sandbox', () => {
  const CREATE = `mutation ($input: CreatePaymentInput!) { createPayment(input: $input) {
    ... on CreatePaymentSuccess { payment { paymentId } } ... on UpstreamError { lookupReference } } }`;
  const SIMULATE = `mutation ($input: SimulatePaymentInput!) { simulatePayment(input: $input) { __typename
    ... on SimulatePaymentSuccess { node { __typename ... on Payment { paymentId status paidLate expiresInSeconds
      returnedCredits { amountCents cause } } } }
    ... on UserError { code } ... on ValidationError { fields { path } } } }`;
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(async () => {
    expect(app.faults).toEqual([]);
    await app.close();
  });

  async function merchant() {
    const key = await addKey(app, { accountId: await addAccount(app), environment: 'sandbox' });
    const client = app.client(key);
    return {
      rest: app.rest(key),
      client,
      wallet: async () => (await client.request('{ wallet { balanceCents pendingReleaseCents } }')).wallet,
      async create(email?: string): Promise<string> {
        const input = { valueCents: 4990, ...(email && { customer: { email } }) };
        const { createPayment } = await client.request(CREATE, { input });
        return createPayment.payment?.paymentId ?? createPayment.lookupReference;
      },
      simulate: async (input: object) => (await client.request(SIMULATE, { input })).simulatePayment,
    };
  }

  test('A payment is paid over REST, and a repeated request changes nothing', async () => {
    const { rest, create, wallet } = await merchant();
    const id = await create();
    expect(await wallet()).toEqual({ balanceCents: 0, pendingReleaseCents: 4990 });
    for (const body of [{ id }, { id, outcome: 'paid' }, { id, amountCents: 4990 }])
      expect(await rest.post('/sandbox/payments', body)).toMatchObject({
        status: 201,
        body: { id, valueCents: 4990, status: 'paid', createdAt: app.clock.now().toISOString() },
      });
    expect(await wallet()).toEqual({ balanceCents: 4990, pendingReleaseCents: 0 });
    expect((await rest.get(`/payments/${id}`)).body).toMatchObject({ returnedCredits: [] });
  });

  test('Another amount is sent back once, also of a paid payment', async () => {
    const { simulate, create, wallet } = await merchant();
    const id = await create();
    const less = { amountCents: 4989, cause: 'AMOUNT_MISMATCH' };
    for (const _ of [1, 2])
      expect(await simulate({ id, amountCents: 4989 })).toMatchObject({
        __typename: 'SimulatePaymentSuccess',
        node: { __typename: 'Payment', paymentId: id, status: 'PENDING', returnedCredits: [less] },
      });
    expect((await simulate({ id })).node).toMatchObject({ status: 'PAID', paidLate: false });
    expect((await simulate({ id, amountCents: 1 })).node).toMatchObject({
      status: 'PAID',
      returnedCredits: [less, { amountCents: 1, cause: 'ALREADY_PAID' }],
    });
    expect(await wallet()).toEqual({ balanceCents: 4990, pendingReleaseCents: 0 });
  });

  test('A payment expires at once, and is then paid late', async () => {
    const { simulate, rest, create, wallet } = await merchant();
    const id = await create();
    for (const _ of [1, 2])
      expect((await simulate({ id, outcome: 'EXPIRED' })).node).toMatchObject({
        status: 'EXPIRED',
        expiresInSeconds: 0,
      });
    expect(await wallet()).toEqual({ balanceCents: 0, pendingReleaseCents: 0 });
    expect((await rest.get(`/payments/${id}`)).body).toMatchObject({
      status: 'expired',
      expiresAt: app.clock.now().toISOString(),
      pixCopyPaste: null,
    });
    app.clock.advance(1_000);
    expect((await simulate({ id })).node).toMatchObject({ status: 'PAID', paidLate: true });
    expect(await wallet()).toEqual({ balanceCents: 4990, pendingReleaseCents: 0 });
    expect(await simulate({ id, outcome: 'EXPIRED' })).toEqual({
      __typename: 'PreconditionError',
      code: 'NOT_PAYABLE',
    });
  });

  test('A payment without a code is not paid, and can expire', async () => {
    const { simulate, rest, create } = await merchant();
    const [failed, waiting] = [
      await create('sem-codigo@psa.example'),
      await create('demora-codigo@psa.example'),
    ];
    for (const id of [failed, waiting]) {
      expect(await simulate({ id })).toMatchObject({ code: 'NOT_PAYABLE' });
      expect((await rest.post('/sandbox/payments', { id })).status).toBe(409);
    }
    expect(await simulate({ id: failed, outcome: 'EXPIRED' })).toMatchObject({ code: 'NOT_PAYABLE' });
    expect((await simulate({ id: waiting, outcome: 'EXPIRED' })).node).toMatchObject({ status: 'EXPIRED' });
  });

  test('Bad input names its field, and a live key or another account pays nothing', async () => {
    const { simulate, rest, create } = await merchant();
    const id = await create();
    for (const [body, field] of [
      [{ id: 'psa_1' }, 'id'],
      [{ id: id.toUpperCase() }, 'id'],
      [{ id: `psa_sub_${'0'.repeat(31)}` }, 'id'],
      [{ id: 7 }, 'id'],
      [{ id, valueCents: 4990 }, 'valueCents'],
      [{ id, pending: true }, 'pending'],
      [{ id, outcome: 'declined' }, 'outcome'],
      [{ valueCents: 1, outcome: 'paid' }, 'outcome'],
      [{ valueCents: 1, amountCents: 1 }, 'amountCents'],
      ...[0, -1, 1.5, '1', 10_000_000_001].map(
        (amountCents) => [{ id, amountCents }, 'amountCents'] as const,
      ),
      [{ id, outcome: 'expired', amountCents: 1 }, 'amountCents'],
    ] as const)
      expect(await rest.post('/sandbox/payments', body), JSON.stringify(body)).toMatchObject({
        status: 400,
        body: { error: expect.stringMatching(new RegExp(`^${field}: `)) },
      });
    for (const [input, path] of [
      [{ id: 'psa_1' }, 'input.id'],
      [{ id, amountCents: 0 }, 'input.amountCents'],
      [{ id, outcome: 'EXPIRED', amountCents: 1 }, 'input.amountCents'],
    ] as const)
      expect(await simulate(input)).toMatchObject({ __typename: 'ValidationError', fields: [{ path }] });

    expect((await app.rest().post('/sandbox/payments', { id })).status).toBe(403);
    expect((await app.live.request(SIMULATE, { input: { id } })).simulatePayment).toEqual({
      __typename: 'PreconditionError',
      code: 'ONLY_IN_SANDBOX',
    });
    const stranger = await merchant();
    expect((await stranger.rest.post('/sandbox/payments', { id })).status).toBe(404);
    expect(await stranger.simulate({ id, outcome: 'EXPIRED' })).toMatchObject({ code: 'NOT_FOUND' });
    const restricted = await addKey(app, { environment: 'sandbox', permissions: ['subcontas.sacar'] });
    expect((await app.client(restricted).request(SIMULATE, { input: { id } })).simulatePayment).toMatchObject(
      {
        __typename: 'PermissionError',
      },
    );
    expect((await rest.get(`/payments/${id}`)).body).toMatchObject({
      status: 'pending',
      returnedCredits: [],
    });
  });
});
