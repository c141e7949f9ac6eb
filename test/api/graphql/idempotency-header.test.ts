import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { fund } from '../../support/funds.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

const PAYOUT = 'method: PIX, amountCents: 1000, destination: "12345678909"';
const request = (key?: string) =>
  `requestPayout(input: { ${PAYOUT}${key ? `, idempotencyKey: "${key}"` : ''} }) {
    __typename ... on PayoutSuccess { replayed payout { withdrawalId } }
    ... on UserError { code message } ... on ValidationError { fields { path message } } }`;

async function merchant() {
  const accountId = await addAccount(app);
  const tenant = { accountId, environment: 'live' } as const;
  await fund({ database: app.database, tenant }, { cents: 100_000 });
  const key = await addKey(app, tenant);
  return {
    payouts: async () => (await app.client(key).request('{ payouts { totalCount } }')).payouts.totalCount,
    async ask(idempotencyKey: string | null, query: string, variables?: object) {
      const answer = await fetch(`${app.url}/graphql`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
        },
        body: JSON.stringify({ query, variables }),
      });
      const { data, errors } = await answer.json();
      return { status: answer.status, data, errors, replayed: answer.headers.get('idempotent-replayed') };
    },
  };
}

describe('Idempotency-Key', () => {
  test('the header is the key of the one mutation field, in text or by a variable, and marks a replay', async () => {
    const { ask, payouts } = await merchant();
    const first = await ask('saque-7', `mutation { ${request()} }`);
    expect([first.status, first.data.requestPayout.replayed, first.replayed]).toEqual([200, false, null]);
    const { withdrawalId } = first.data.requestPayout.payout;
    const input = { method: 'PIX', amountCents: 1_000, destination: '12345678909' };
    const again = await ask(
      '"saque-7"',
      `mutation Withdraw($input: RequestPayoutInput!) { ...Asked } fragment Asked on Mutation {
        requestPayout(input: $input) { ... on PayoutSuccess { replayed payout { withdrawalId } } } }`,
      { input },
    );
    expect(again.data.requestPayout).toEqual({ replayed: true, payout: { withdrawalId } });
    expect(again.replayed).toBe('true');
    const inBody = await ask(null, `mutation { ${request('saque-7')} }`);
    expect([inBody.data.requestPayout.payout.withdrawalId, inBody.replayed]).toEqual([withdrawalId, 'true']);
    expect(await payouts()).toBe(1);
  });

  test('`__typename` beside the one mutation field changes nothing, and a field that is skipped is none', async () => {
    const { ask, payouts } = await merchant();
    const query = `mutation { __typename ${request()} }`;
    expect((await ask('a', query)).replayed).toBeNull();
    const again = await ask('a', query);
    expect([again.data.requestPayout.replayed, again.replayed]).toEqual([true, 'true']);
    const skipped = await ask(
      null,
      `mutation ($is: Boolean!) { ${request('a')} b: ${request('b').replace(') {', ') @skip(if: $is) {')} }`,
      { is: true },
    );
    expect([skipped.data, skipped.replayed]).toEqual([{ requestPayout: again.data.requestPayout }, 'true']);
    expect(await payouts()).toBe(1);
  });

  test('a response is not marked as replayed where one of two fields was, also in a fragment', async () => {
    const { ask, payouts } = await merchant();
    await ask(null, `mutation { ${request('a')} }`);
    const both = await ask(
      null,
      `mutation { ...F } fragment F on Mutation { a: ${request('a')} b: ${request('b')} }`,
    );
    expect([both.data.a.replayed, both.data.b.replayed, both.replayed]).toEqual([true, false, null]);
    expect(await payouts()).toBe(2);
  });

  test('a header that differs from the key of the input is a conflict', async () => {
    const { ask, payouts } = await merchant();
    const { data } = await ask('a', `mutation { ${request('b')} }`);
    expect(data.requestPayout).toMatchObject({
      __typename: 'IdempotencyError',
      code: 'IDEMPOTENCY_CONFLICT',
    });
    expect((await ask('b', `mutation { ${request('b')} }`)).data.requestPayout.replayed).toBe(false);
    expect(await payouts()).toBe(1);
  });

  test('a malformed key in the header is refused with the name of the field', async () => {
    const { ask, payouts } = await merchant();
    const { data } = await ask('a\tb', `mutation { ${request()} }`);
    expect(data.requestPayout.fields).toMatchObject([{ path: 'input.idempotencyKey' }]);
    expect(await payouts()).toBe(0);
  });

  test.each([
    ['two mutation fields', `mutation { a: ${request()} b: ${request()} }`, /exactly one mutation field/],
    [
      'two mutation fields in fragments',
      `mutation { ...F ... { b: ${request()} } } fragment F on Mutation { a: ${request()} }`,
      /exactly one mutation field/,
    ],
    [
      'a mutation without a key in its input',
      'mutation { createProduct(input: { name: "Caneca", priceCents: 100 }) { __typename } }',
      /createProduct takes no idempotency key/,
    ],
  ])('a header is refused for %s, and nothing runs', async (_, query, message) => {
    const { ask, payouts } = await merchant();
    const { status, data, errors } = await ask('a', query);
    expect([status, data]).toEqual([400, undefined]);
    expect(errors).toMatchObject([
      { message: expect.stringMatching(message), extensions: { code: 'BAD_USER_INPUT' } },
    ]);
    expect(await payouts()).toBe(0);
  });

  test('a header has no effect on a query', async () => {
    const { ask } = await merchant();
    expect((await ask('a', '{ wallet { currency } }')).data).toEqual({ wallet: { currency: 'BRL' } });
  });

  test('a page of another origin may send the header', async () => {
    const { headers } = await fetch(`${app.url}/graphql`, { method: 'OPTIONS' });
    expect(headers.get('access-control-allow-headers')).toContain('idempotency-key');
    expect(headers.get('access-control-expose-headers')).toContain('idempotent-replayed');
  });
});
