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
const LIST = `query ($first: Int, $after: String, $last: Int, $before: String, $filter: PayoutFilter) {
  payouts(first: $first, after: $after, last: $last, before: $before, filter: $filter) {
    totalCount nodes { code } edges { cursor node { code } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;
const FOLLOW = `subscription ($withdrawalId: String!, $after: String) {
  payoutUpdates(withdrawalId: $withdrawalId, after: $after) {
    cursor occurredAt previousStatus payout { withdrawalId status version final destination }
  }
}`;
const FOLLOW_ID = `subscription ($id: ID, $withdrawalId: String) {
  payoutUpdates(id: $id, withdrawalId: $withdrawalId) { payout { id } }
}`;
const FOLLOW_ALL = `subscription ($after: String) {
  allPayoutUpdates(after: $after) { cursor previousStatus payout { withdrawalId status version } }
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

  test.each([
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
  ])('requestPayout is refused with ValidationError by the name of its %s: %j', async (field, input) => {
    const one = await merchant();
    expect(await request(one, input)).toMatchObject({
      __typename: 'ValidationError',
      code: 'BAD_USER_INPUT',
      fields: [{ path: `input.${field}` }],
    });
    expect(await one.client.request('{ payouts { totalCount } wallet { balanceCents } }')).toEqual({
      payouts: { totalCount: 0 },
      wallet: { balanceCents: 100_000 },
    });
  });

  test.each([
    ['amountCents', { amountCents: -1 }],
    ['amountCents', { amountCents: 1.5 }],
    ['amountCents', { amountCents: 2 ** 53 }],
    ['amountCents', { amountCents: null }],
    ['method', { method: 'NO_METHOD' }],
    ['method', { method: null }],
    ['destination', { destination: null }],
  ])(
    'requestPayout with a value of the wrong type is BAD_USER_INPUT that names %s: %j',
    async (field, input) => {
      const { body } = await (await merchant()).client.send(REQUEST, {
        input: { method: 'PIX', amountCents: 1_000, destination: CPF, ...input },
      });
      expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
      expect(body.errors[0].message).toContain(field);
    },
  );

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
  test('a payout is found by either reference, and as a node', async () => {
    const one = await merchant();
    const { payout } = await request(one);
    const { withdrawalId, code, id } = payout;
    expect((await one.client.request(ONE, { withdrawalId })).payout).toEqual(payout);
    expect((await one.client.request(ONE, { code })).payout).toEqual(payout);
    const { node } = await one.client.request('query ($id: ID!) { node(id: $id) { __typename id } }', { id });
    expect(node).toEqual({ __typename: 'Payout', id });
  });

  test('a payout is null to another account and to the other environment', async () => {
    const [one, other] = [await merchant(), await merchant()];
    const { withdrawalId, code, id } = (await request(one)).payout;
    const sandbox = app.client(await addKey(app, { accountId: one.accountId, environment: 'sandbox' }));
    for (const client of [other.client, sandbox]) {
      expect(await client.request(ONE, { withdrawalId })).toEqual({ payout: null });
      expect(await client.request(ONE, { code })).toEqual({ payout: null });
      expect(await client.request('query ($id: ID!) { node(id: $id) { id } }', { id })).toEqual({
        node: null,
      });
      expect(await client.request('{ payouts { totalCount nodes { id } } }')).toEqual({
        payouts: { totalCount: 0, nodes: [] },
      });
    }
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

  test.each([{}, { withdrawalId: null }, { withdrawalId: 'a', code: 'b' }])(
    'a payout query needs exactly one of its two arguments: %j',
    async (variables) => {
      const { body } = await (await merchant()).client.send(ONE, variables);
      expect(body.errors[0]).toMatchObject({
        extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
      });
      expect(body.errors[0].message).toContain('withdrawalId');
    },
  );

  test('a payout is readable with a dashboard token of the scope payouts, and with no other', async () => {
    const one = await merchant();
    const { withdrawalId } = (await request(one)).payout;
    const { accountId } = one;
    const dashboard = app.client(
      await addToken(app, { accountId, kind: 'dashboard', grant: { scopes: ['payouts'] } }),
    );
    expect((await dashboard.request(ONE, { withdrawalId })).payout.status).toBe('PENDING');
    expect((await dashboard.request(LIST)).payouts.totalCount).toBe(1);
    const others = [
      await addToken(app, { accountId, kind: 'dashboard', grant: { scopes: ['wallet', 'subaccounts'] } }),
      await addToken(app, { accountId, kind: 'payment', grant: { orderCode: 'PSC-1' } }),
      await addKey(app, { accountId, permissions: ['subcontas.gerenciar', 'subcontas.sacar'] }),
    ];
    for (const credential of others) {
      const client = app.client(credential);
      for (const [document, variables] of [
        [ONE, { withdrawalId }],
        [LIST, {}],
      ] as const) {
        const { body } = await client.send(document, variables);
        expect(body.errors[0].extensions.code).toBe('FORBIDDEN');
      }
      for (const stream of [client.sse(FOLLOW, { withdrawalId }), client.sse(FOLLOW_ALL)])
        await expect(stream.data()).rejects.toThrow('FORBIDDEN');
    }
  });
});

describe('payouts', () => {
  let one: Merchant;
  let codes: string[];
  beforeAll(async () => {
    one = await merchant();
    codes = [];
    for (const input of [{}, { method: 'PIX_TURBO' }, {}, { method: 'USDT', destination: USDT }, {}]) {
      codes.push((await request(one, input)).payout.code);
      await pass(60_000);
    }
    codes.reverse();
  });
  const list = async (variables: Record<string, unknown>) =>
    (await one.client.request(LIST, variables)).payouts;
  const codesOf = ({ nodes }: { nodes: { code: string }[] }) => nodes.map(({ code }) => code);

  test('the list of payouts is read newest first, page by page towards the older', async () => {
    const seen: string[] = [];
    let after: string | null = null;
    for (let page = 0; page < 3; page += 1) {
      const answer = await list({ first: 2, after });
      expect(answer.totalCount).toBe(5);
      expect(answer.edges.map(({ node }: { node: { code: string } }) => node.code)).toEqual(codesOf(answer));
      expect(answer.pageInfo).toEqual({
        hasNextPage: page < 2,
        hasPreviousPage: page > 0,
        startCursor: answer.edges[0].cursor,
        endCursor: answer.edges.at(-1).cursor,
      });
      seen.push(...codesOf(answer));
      after = answer.pageInfo.endCursor;
    }
    expect(seen).toEqual(codes);
  });

  test('the list of payouts is read from its end, page by page towards the newer', async () => {
    const seen: string[] = [];
    let before: string | null = null;
    for (let page = 0; page < 3; page += 1) {
      const answer = await list({ last: 2, before });
      expect(answer.pageInfo).toMatchObject({ hasPreviousPage: page < 2, hasNextPage: page > 0 });
      seen.unshift(...codesOf(answer));
      before = answer.pageInfo.startCursor;
    }
    expect(seen).toEqual(codes);
  });

  test('a payout requested between two pages moves no other', async () => {
    const two = await merchant();
    const made = [];
    for (let n = 0; n < 4; n += 1) made.unshift((await request(two)).payout.code);
    const first = (await two.client.request(LIST, { first: 2 })).payouts;
    await request(two);
    const next = (await two.client.request(LIST, { first: 2, after: first.pageInfo.endCursor })).payouts;
    expect([...codesOf(first), ...codesOf(next)]).toEqual(made);
  });

  test('the list of payouts is filtered by method, status and instant', async () => {
    expect(codesOf(await list({ filter: { method: ['PIX_TURBO', 'USDT'] } }))).toEqual([codes[1], codes[3]]);
    expect(await list({ filter: { status: ['DENIED', 'PENDING'] } })).toMatchObject({
      totalCount: 0,
      nodes: [],
    });
    expect(await list({ filter: { status: [] } })).toMatchObject({ totalCount: 0 });
    expect(await list({ filter: { status: ['COMPLETED'] }, first: 1 })).toMatchObject({
      totalCount: 5,
      pageInfo: { hasNextPage: true },
    });
    const instants = await Promise.all(
      codes.map(async (code) => (await one.client.request(ONE, { code })).payout.requestedAt),
    );
    const filter = { requestedAfter: instants[3], requestedBefore: instants[1] };
    expect(await list({ filter })).toMatchObject({
      totalCount: 2,
      nodes: [{ code: codes[2] }, { code: codes[3] }],
    });
  });

  test.each([
    ['filter.status', { filter: { status: ['UNKNOWN'] } }],
    ['filter.method', { filter: { method: ['PIX', 'UNKNOWN'] } }],
    ['first', { first: 0 }],
    ['first', { first: 101 }],
    ['last', { last: 0 }],
    ['last', { last: 101 }],
    ['last', { first: 1, last: 1 }],
    ['after', { after: 'x' }],
    ['before', { before: 'x' }],
  ])('the list of payouts refuses a wrong %s', async (field, variables) => {
    const { body } = await one.client.send(LIST, variables);
    expect(body.errors[0]).toMatchObject({
      extensions: { code: 'BAD_USER_INPUT', fields: [{ path: field }] },
    });
  });

  test('the list of payouts refuses a cursor of another account', async () => {
    const other = await merchant();
    await request(other);
    const { endCursor } = (await other.client.request(LIST)).payouts.pageInfo;
    const { body } = await one.client.send(LIST, { after: endCursor });
    expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });
});

describe.each(['ws', 'sse'] as const)('followed over %s', (transport) => {
  test('a subscription to one payout sends its state at once, then each change, and completes', async () => {
    const one = await merchant();
    const { withdrawalId } = (await request(one, { method: 'PIX_TURBO' })).payout;
    const stream = one.client[transport](FOLLOW, { withdrawalId });
    const first = (await stream.data()).payoutUpdates;
    await pass(3_000);
    const rest = [];
    for await (const { data } of stream) rest.push(data.payoutUpdates);
    const seen = [first, ...rest].map(({ payout }) => payout.status);
    // The number of updates depends on timing; their order and the last one do not.
    expect(['PENDING', 'PROCESSING', 'COMPLETED'].slice(-seen.length)).toEqual(seen);
    expect(first.previousStatus).toBeNull();
    expect(rest.at(-1)).toMatchObject({
      previousStatus: 'PROCESSING',
      payout: { withdrawalId, status: 'COMPLETED', version: 3, final: true, destination: '***.456.789-**' },
    });
  });

  test('a subscription to one payout with after sends each change since, in the state of that moment', async () => {
    const one = await merchant();
    const { updatesCursor: before } = await one.client.request('{ updatesCursor }');
    const { withdrawalId } = (await request(one, { destination: 'nega@psa.example', method: 'PIX_TURBO' }))
      .payout;
    await pass(3_000);
    const updates = [];
    for await (const { data } of one.client[transport](FOLLOW, { withdrawalId, after: before }))
      updates.push(data.payoutUpdates);
    expect(
      updates.map(({ previousStatus, payout }) => [previousStatus, payout.status, payout.version]),
    ).toEqual([
      [null, 'PENDING', 1],
      ['PENDING', 'PROCESSING', 2],
      ['PROCESSING', 'DENIED', 3],
    ]);
    const later = [];
    for await (const { data } of one.client[transport](FOLLOW, { withdrawalId, after: updates[1].cursor }))
      later.push(data.payoutUpdates);
    expect(later).toEqual([updates[2]]);
  });

  test('a subscription to a payout that has ended sends its state and completes', async () => {
    const one = await merchant();
    const { withdrawalId } = (await request(one)).payout;
    await pass(2_000);
    const stream = one.client[transport](FOLLOW, { withdrawalId });
    expect((await stream.data()).payoutUpdates.payout.status).toBe('COMPLETED');
    expect((await stream.next()).done).toBe(true);
  });

  test('a subscription to all payouts sends only changes, in order, and none of another account', async () => {
    const [one, other] = [await merchant(), await merchant()];
    await request(one);
    await pass(2_000);
    const { updatesCursor: after } = await one.client.request('{ updatesCursor }');
    const stream = one.client[transport](FOLLOW_ALL, { after });
    await request(other);
    const ids = [(await request(one)).payout.withdrawalId, (await request(one)).payout.withdrawalId];
    await pass(2_000);
    const seen: string[][] = [];
    for (let n = 0; n < 4; n += 1) {
      const { payout } = (await stream.data()).allPayoutUpdates;
      seen.push([payout.withdrawalId, payout.status]);
    }
    expect(seen.slice(0, 2)).toEqual(ids.map((id) => [id, 'PENDING']));
    expect(seen.slice(2).sort()).toEqual(ids.map((id) => [id, 'COMPLETED']).sort());
    await stream.close();
  });

  test.each([
    ['0'.repeat(24), 'NOT_FOUND'],
    ['A'.repeat(24), 'BAD_USER_INPUT'],
    ['x', 'BAD_USER_INPUT'],
    ['\u0000', 'BAD_USER_INPUT'],
  ])('a subscription to the payout %j is refused with %s', async (withdrawalId, code) => {
    await expect((await merchant()).client[transport](FOLLOW, { withdrawalId }).data()).rejects.toThrow(code);
  });

  test('a payout is followed by its id', async () => {
    const one = await merchant();
    const { payout } = await request(one);
    const stream = one.client[transport](FOLLOW_ID, { id: payout.id });
    expect((await stream.data()).payoutUpdates.payout).toMatchObject({ id: payout.id });
    await stream.close();
    const wrong = one.client[transport](FOLLOW_ID, { id: Buffer.from('Wallet:1').toString('base64') });
    await expect(wrong.data()).rejects.toThrow('BAD_USER_INPUT');
    const both = one.client[transport](FOLLOW_ID, { id: payout.id, withdrawalId: payout.withdrawalId });
    await expect(both.data()).rejects.toThrow('BAD_USER_INPUT');
  });
});
