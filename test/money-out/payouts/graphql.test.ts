import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { fund } from '../../support/funds.ts';
import type { GraphQLClient } from '../../support/graphql.ts';

const PAYOUT =
  'id withdrawalId code method amountCents serviceFeeCents feeCents netAmountCents destination status final version requestedAt processedAt deniedReason';
const REQUEST = `mutation ($input: RequestPayoutInput!) {
  requestPayout(input: $input) {
    __typename
    ... on RequestPayoutSuccess { replayed payout { ${PAYOUT} } }
    ... on UserError { code message }
    ... on ValidationError { fields { path message } }
    ... on PermissionError { requiresAnyOf }
    ... on RateLimitError { retryAfterSeconds limit }
    ... on InsufficientFundsError {
      requestedCents withdrawableCents balanceCents disputeBlockedCents subaccountsBalanceCents cryptoBalanceLtc
    }
  }
}`;
const ONE = `query ($withdrawalId: String, $code: String) { payout(withdrawalId: $withdrawalId, code: $code) { ${PAYOUT} } }`;
const FOLLOW = `subscription ($withdrawalId: String!, $after: String) {
  payoutUpdates(withdrawalId: $withdrawalId, after: $after) {
    cursor occurredAt previousStatus payout { withdrawalId status version final destination }
  }
}`;
const FOLLOW_ID = `subscription ($id: ID, $withdrawalId: String) {
  payoutUpdates(id: $id, withdrawalId: $withdrawalId) { payout { id } }
}`;
const CPF = '123.456.789-09';
const LTC = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9';
const USDT = 'TSKvj5dE2xfkpwQU1z3A1PoNC69QmRVhxK';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterEach(() => {
  expect(app.faults).toEqual([]);
});
afterAll(() => app.close());

interface Merchant {
  client: GraphQLClient;
  accountId: string;
}

/** Creates a merchant with R$ 1.000,00 and one LTC, because limits count by the hour. */
async function merchant(environment: 'live' | 'sandbox' = 'live'): Promise<Merchant> {
  const accountId = await addAccount(app);
  const tenant = { accountId, environment };
  await fund(
    { database: app.database, tenant },
    { cents: 100_000, litoshi: environment === 'live' ? 100_000_000 : 0 },
  );
  return { accountId, client: app.client(await addKey(app, tenant)) };
}

const request = async ({ client }: Pick<Merchant, 'client'>, input: object = {}) =>
  (
    await client.request(REQUEST, {
      input: { method: 'PIX', amountCents: 1_000, destination: CPF, ...input },
    })
  ).requestPayout;

/** Advances the clock. Pending payouts reach the bank before and after. */
async function pass(ms: number): Promise<void> {
  await app.work.settled();
  app.clock.advance(ms);
  await app.work.settled();
}

describe('requestPayout', () => {
  test('requestPayout answers with the payout, its PIX key masked', async () => {
    const answer = await request(await merchant());
    expect(answer).toEqual({
      __typename: 'RequestPayoutSuccess',
      replayed: false,
      payout: {
        id: expect.any(String),
        withdrawalId: expect.stringMatching(/^[0-9a-f]{24}$/),
        code: expect.stringMatching(/^SAQ-[0-9A-Z]{12}$/),
        method: 'PIX',
        amountCents: 1_000,
        // One fee under both names.
        serviceFeeCents: 100,
        feeCents: 100,
        netAmountCents: 900,
        destination: '***.456.789-**',
        status: 'PENDING',
        final: false,
        version: 1,
        requestedAt: app.clock.now().toISOString(),
        processedAt: null,
        deniedReason: null,
      },
    });
  });

  test('requestPayout refuses a pixKeyType that is null, which would not check the key', async () => {
    expect(await request(await merchant(), { pixKeyType: null })).toMatchObject({
      __typename: 'ValidationError',
      message: expect.stringContaining('must not be null: leave it out for a key of any kind'),
    });
  });

  test.each([
    ['PIX_TURBO', 'ana@padaria.example', 'a***@padaria.example'],
    ['LTC', LTC.toUpperCase(), LTC],
    ['USDT', USDT, USDT],
  ])(
    'requestPayout by %s shows the destination in its normal form, a public address whole',
    async (method, destination, shown) => {
      const { payout } = await request(await merchant(), { method, destination });
      expect(payout).toMatchObject({ method, destination: shown });
    },
  );

  test.each([
    ['PIX', CPF, null, /^E[0-9]{8}[0-9]{12}\w{11}$/],
    ['LTC', LTC, expect.stringMatching(/^0\.\d{8}$/), null],
    ['USDT', USDT, null, null],
  ])(
    'a payout by %s shows the bank’s identifier once the bank has one, and the LTC that it takes',
    async (method, destination, amountLtc, endToEndId) => {
      const one = await merchant();
      const { payout } = await request(one, { method, destination });
      const read = 'query ($id: String!) { payout(withdrawalId: $id) { status amountLtc endToEndId } }';
      const shown = async () => (await one.client.request(read, { id: payout.withdrawalId })).payout;
      expect(await shown()).toEqual({ status: expect.any(String), amountLtc, endToEndId: null });
      await pass(3_600_000);
      expect(await shown()).toEqual({
        status: 'COMPLETED',
        amountLtc,
        endToEndId: endToEndId && expect.stringMatching(endToEndId),
      });
    },
  );

  test('requestPayout with a repeated key gives the same payout, however its destination is written, and IdempotencyError for another input', async () => {
    const one = await merchant();
    const first = await request(one, { idempotencyKey: 'saque-1' });
    const second = await request(one, { idempotencyKey: 'saque-1', destination: '12345678909' });
    expect(second).toEqual({ ...first, replayed: true });
    expect(await request(one, { idempotencyKey: 'saque-1', amountCents: 1_001 })).toMatchObject({
      __typename: 'IdempotencyError',
      code: 'IDEMPOTENCY_CONFLICT',
    });
  });

  test('requestPayout is refused by the name of each wrong field, and no money moves', async () => {
    const one = await merchant();
    for (const [field, input] of [
      ['method', { method: 'UNKNOWN' }],
      ['amountCents', { amountCents: 0 }],
      ['amountCents', { amountCents: 100 }],
      ['destination', { destination: '' }],
      ['destination', { destination: '123.456.789-00' }],
      ['destination', { destination: 'with \u0000' }],
      ['destination', { destination: '\ud83e' }],
      ['destination', { method: 'LTC' }],
      ['destination', { method: 'USDT', destination: LTC }],
      ['idempotencyKey', { idempotencyKey: ' a b' }],
    ] as const)
      expect([input, await request(one, input)]).toMatchObject([
        ...[
          input,
          { __typename: 'ValidationError', code: 'BAD_USER_INPUT', fields: [{ path: `input.${field}` }] },
        ],
      ]);
    for (const [field, input] of [
      ['amountCents', { amountCents: -1 }],
      ['amountCents', { amountCents: 1.5 }],
      ['amountCents', { amountCents: 2 ** 53 }],
      ['amountCents', { amountCents: null }],
      ['method', { method: 'NO_METHOD' }],
      ['method', { method: null }],
      ['destination', { destination: null }],
    ] as const) {
      const { body } = await one.client.send(REQUEST, {
        input: { method: 'PIX', amountCents: 1_000, destination: CPF, ...input },
      });
      expect([input, body.errors[0]]).toMatchObject([
        ...[input, { message: expect.stringContaining(field), extensions: { code: 'BAD_USER_INPUT' } }],
      ]);
    }
    expect(await one.client.request('{ payouts { totalCount } wallet { balanceCents } }')).toEqual({
      payouts: { totalCount: 0 },
      wallet: { balanceCents: 100_000 },
    });
  });

  test('requestPayout above the withdrawable amount is InsufficientFundsError with all its figures', async () => {
    const one = await merchant();
    const tenant = { accountId: one.accountId, environment: 'live' } as const;
    await fund({ database: app.database, tenant }, { heldCents: 30_000 });
    expect(await request(one, { amountCents: 70_001 })).toEqual({
      __typename: 'InsufficientFundsError',
      code: 'INSUFFICIENT_FUNDS',
      message: expect.stringContaining('R$ 700,01 is more than can be withdrawn, which is R$ 700,00'),
      requestedCents: 70_001,
      withdrawableCents: 70_000,
      balanceCents: 100_000,
      disputeBlockedCents: 30_000,
      subaccountsBalanceCents: 0,
      cryptoBalanceLtc: null,
    });
    expect(await request(one, { method: 'LTC', destination: LTC, amountCents: 70_000 })).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      cryptoBalanceLtc: '1.00000000',
    });
  });

  test('requestPayout beyond ten an hour is RateLimitError', async () => {
    const one = await merchant();
    for (let n = 0; n < 10; n += 1) await request(one);
    expect(await request(one)).toMatchObject({
      __typename: 'RateLimitError',
      code: 'RATE_LIMITED',
      retryAfterSeconds: 3_600,
      limit: '10 withdrawals an hour',
    });
  });

  test('requestPayout is PermissionError for every key but an unrestricted one', async () => {
    const { accountId } = await merchant();
    const refused = { __typename: 'PermissionError', code: 'FORBIDDEN', requiresAnyOf: [] };
    const restricted = await addKey(app, { accountId, permissions: ['subcontas.sacar'] });
    expect(await request({ client: app.client(restricted) })).toMatchObject(refused);
    const token = await addToken(app, { accountId, kind: 'dashboard', grant: { scopes: ['payouts'] } });
    expect(await request({ client: app.client(token) })).toMatchObject(refused);
  });
});

describe('payout', () => {
  test('a payout is found by either reference, by its merchant alone', async () => {
    const [one, other] = [await merchant(), await merchant()];
    const { payout } = await request(one);
    const { withdrawalId, code } = payout;
    for (const reference of [{ withdrawalId }, { code }])
      expect((await one.client.request(ONE, reference)).payout).toEqual(payout);
    const sandbox = app.client(await addKey(app, { accountId: one.accountId, environment: 'sandbox' }));
    for (const client of [other.client, sandbox])
      expect(await client.request(ONE, { code })).toEqual({ payout: null });
  });

  test('a payout query accepts names of the form that this service issues, and no other', async () => {
    const one = await merchant();
    const { withdrawalId, code } = (await request(one)).payout;
    for (const names of [
      { withdrawalId: code },
      { withdrawalId: 'A'.repeat(24) },
      { code: withdrawalId },
      { code: code.toLowerCase() },
      { code: '\u0000' },
    ]) {
      const { body } = await one.client.send(ONE, names);
      expect(body.errors).toMatchObject([
        { extensions: { code: 'BAD_USER_INPUT', fields: [{ path: Object.keys(names)[0] }] } },
      ]);
    }
  });

  test('a payout query needs exactly one of its two arguments', async () => {
    const { client } = await merchant();
    for (const variables of [{}, { withdrawalId: null }, { withdrawalId: 'a', code: 'b' }])
      expect((await client.send(ONE, variables)).body.errors[0]).toMatchObject({
        message: expect.stringContaining('withdrawalId'),
        extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
      });
  });
});

describe('followed', () => {
  test('a subscription to one payout with after sends each change since, in the state of that moment', async () => {
    const one = await merchant();
    const { updatesCursor: before } = await one.client.request('{ updatesCursor }');
    const { withdrawalId } = (await request(one, { destination: 'nega@psa.example', method: 'PIX_TURBO' }))
      .payout;
    await pass(3_000);
    const updates = [];
    for await (const { data } of one.client.ws(FOLLOW, { withdrawalId, after: before }))
      updates.push(data.payoutUpdates);
    expect(
      updates.map(({ previousStatus, payout }) => [previousStatus, payout.status, payout.version]),
    ).toEqual([
      [null, 'PENDING', 1],
      ['PENDING', 'PROCESSING', 2],
      ['PROCESSING', 'DENIED', 3],
    ]);
    const later = [];
    for await (const { data } of one.client.sse(FOLLOW, { withdrawalId, after: updates[1].cursor }))
      later.push(data.payoutUpdates);
    expect(later).toEqual([updates[2]]);
  });

  test('a payout is followed by its id', async () => {
    const one = await merchant();
    const { payout } = await request(one);
    const stream = one.client.ws(FOLLOW_ID, { id: payout.id });
    expect((await stream.data()).payoutUpdates.payout).toMatchObject({ id: payout.id });
    await stream.close();
    const wrong = one.client.ws(FOLLOW_ID, { id: Buffer.from('Wallet:1').toString('base64') });
    await expect(wrong.data()).rejects.toThrow('BAD_USER_INPUT');
    const both = one.client.ws(FOLLOW_ID, { id: payout.id, withdrawalId: payout.withdrawalId });
    await expect(both.data()).rejects.toThrow('BAD_USER_INPUT');
  });
});
