import { request as httpRequest } from 'node:http';
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
    __typename ... on RequestPayoutSuccess { replayed payout { withdrawalId } }
    ... on UserError { code message } ... on ValidationError { fields { path message } } }`;

async function merchant() {
  const accountId = await addAccount(app);
  const tenant = { accountId, environment: 'live' } as const;
  await fund({ database: app.database, tenant }, { cents: 100_000 });
  const key = await addKey(app, tenant);
  return {
    key,
    client: app.client(key),
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
        requestPayout(input: $input) { ... on RequestPayoutSuccess { replayed payout { withdrawalId } } } }`,
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
      {
        message: expect.stringMatching(message),
        extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
      },
    ]);
    expect(await payouts()).toBe(0);
  });

  test.each<[string, string[]]>([
    ['that is there twice', ['saque-9', 'saque-9']],
    ['that is there twice with other keys', ['saque-9', 'saque-10']],
    ['whose lines a proxy has joined', ['saque-9, saque-9']],
    ['that is quoted and joined', ['"saque-9", "saque-9"']],
    ['with a parameter', ['"saque-9";a=1']],
    ['with one quote', ['"saque-9']],
  ])('a header %s moves nothing, in GraphQL and REST', async (_, lines) => {
    const { key, payouts } = await merchant();
    const send = (path: string, body: object) =>
      new Promise<{ status: number; text: string }>((resolve, reject) => {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
        const sent = httpRequest(`${app.url}${path}`, { method: 'POST', headers }, async (response) => {
          const text = Buffer.concat(await response.toArray()).toString();
          resolve({ status: response.statusCode!, text });
        });
        sent.setHeader('idempotency-key', lines).on('error', reject).end(JSON.stringify(body));
      });
    const rest = { amount: 10, method: 'pix', walletAddress: '12345678909' };
    for (const { status, text } of [
      await send('/graphql', { query: `mutation { ${request()} }` }),
      await send('/v1/payouts', rest),
    ]) {
      expect(status).toBe(400);
      expect(text).toMatch(/Idempotency-Key: (?:is given more than once|must be one key)/);
    }
    expect(await payouts()).toBe(0);
  });

  test.each(['X-Idempotency-Key', 'Idempotency_Key', 'x-idempotency-token'])(
    'a key in the header %s moves nothing, in GraphQL and REST, and the one that was meant is named',
    async (name) => {
      const { key, payouts } = await merchant();
      const rest = { amount: 10, method: 'pix', walletAddress: '12345678909' };
      for (const [path, body] of [
        ['/graphql', { query: `mutation { ${request('saque-9')} }` }],
        ['/v1/payouts', rest],
      ] as const) {
        const answer = await fetch(`${app.url}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', [name]: 'saque-9' },
          body: JSON.stringify(body),
        });
        expect([answer.status, await answer.text()]).toEqual([
          400,
          expect.stringContaining(`${name.toLowerCase()}: is unknown; Idempotency-Key may be meant`),
        ]);
      }
      expect(await payouts()).toBe(0);
    },
  );

  test('one key in both headers is the key, and two keys are refused', async () => {
    const { key, payouts } = await merchant();
    const body = JSON.stringify({ amount: 10, method: 'pix', walletAddress: '12345678909' });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const statuses = [];
    for (const other of ['saque-5', 'saque-5', 'saque-6']) {
      const keys = { 'Idempotency-Key': 'saque-5', 'X-Idempotency-Key': other };
      const answer = await fetch(`${app.url}/v1/payouts`, {
        method: 'POST',
        headers: { ...headers, ...keys },
        body,
      });
      statuses.push(answer.status);
    }
    expect([statuses, await payouts()]).toEqual([[201, 201, 400], 1]);
  });

  test('a header has no effect on a query', async () => {
    const { ask } = await merchant();
    expect((await ask('a', '{ wallet { currency } }')).data).toEqual({ wallet: { currency: 'BRL' } });
  });

  const MONEY = [
    ['requestPayout', PAYOUT],
    [
      'requestSubaccountPayout',
      `subaccountId: "sacc_${'0'.repeat(32)}", amountCents: 1000, pixKey: "ana@example.com"`,
    ],
    ['transferToSubaccount', `subaccountId: "sacc_${'0'.repeat(32)}", amountCents: 1000`],
    ['refundPayment', `paymentId: "psa_${'0'.repeat(32)}"`],
    ['refundCharge', `chargeId: "psc_${'0'.repeat(32)}"`],
    ['refundCardPayment', 'orderCode: "PSC-1"'],
  ] as const;

  test.each(MONEY)(
    '%s moves nothing without a key, and names the member and the header',
    async (name, input) => {
      const { ask, payouts } = await merchant();
      const fields = (members: string) => `mutation { done: ${name}(input: { ${members} }) {
      __typename ... on ValidationError { fields { path message } } } }`;
      const refused = (data: { done: unknown }) =>
        expect(data.done).toMatchObject({
          __typename: 'ValidationError',
          fields: expect.arrayContaining([
            {
              path: 'input.idempotencyKey',
              message: expect.stringMatching(/input\.idempotencyKey, or the header Idempotency-Key/),
            },
          ]),
        });
      refused((await ask(null, fields(input))).data);
      refused((await ask(null, fields(`${input}, idempotencyKey: null`))).data);
      const { data } = await ask('a', fields(input));
      expect(data.done.__typename).not.toBe('ValidationError');
      expect(await payouts()).toBe(name === 'requestPayout' ? 1 : 0);
    },
  );

  test('A missing key is named beside the other wrong members', async () => {
    const { ask } = await merchant();
    const { data } = await ask(null, `mutation { ${request().replace('1000', '0')} }`);
    expect(data.requestPayout.fields.map(({ path }: { path: string }) => path)).toEqual([
      'input.amountCents',
      'input.idempotencyKey',
    ]);
  });

  test('a page of another origin may send the header', async () => {
    const { headers } = await fetch(`${app.url}/graphql`, { method: 'OPTIONS' });
    expect(headers.get('access-control-allow-headers')).toContain('idempotency-key');
    expect(headers.get('access-control-expose-headers')).toContain('idempotent-replayed');
  });
});

/** The members by which REST names its resources. */
const NAMES = ['orderCode', 'paymentId', 'chargeId', 'subscriptionId', 'deliveryId', 'withdrawalId', 'refId'];

describe('lookups by key', () => {
  test('What a request has made is found by its key, in GraphQL and REST, by its account alone', async () => {
    const { client, key } = await merchant();
    const other = await merchant();
    const { product, subaccount } = await client.request(`mutation {
      product: createProduct(input: { name: "Caneca", priceCents: 4990 }) {
        ... on CreateProductSuccess { product { productId } } }
      subaccount: createSubaccount(input: { name: "Bia", externalId: "bia" }) {
        ... on CreateSubaccountSuccess { subaccount { subaccountId } } } }`);
    const { productId } = product.product;
    const { subaccountId } = subaccount.subaccount;
    const made = await client.request(
      `mutation ($productId: String!, $subaccountId: String!) {
        payment: createPayment(input: { valueCents: 500, idempotencyKey: "k" }) {
          ... on CreatePaymentSuccess { made: payment { id: paymentId } } }
        cardPayment: createCardPayment(input: { valueCents: 500, idempotencyKey: "k" }) {
          ... on CreateCardPaymentSuccess { made: cardPayment { id: orderCode } } }
        charge: createCharge(input: { valueCents: 500, idempotencyKey: "k" }) {
          ... on CreateChargeSuccess { made: charge { id: chargeId } } }
        subscription: createSubscription(input: { valueCents: 500, interval: WEEKLY, idempotencyKey: "k" }) {
          ... on CreateSubscriptionSuccess { made: subscription { id: subscriptionId } } }
        delivery: createDelivery(
          input: { productId: $productId, content: { text: "Olá" }, idempotencyKey: "k" }
        ) { ... on CreateDeliverySuccess { made: delivery { id: deliveryId } } }
        payout: requestPayout(input: { ${PAYOUT}, idempotencyKey: "k" }) {
          ... on RequestPayoutSuccess { made: payout { id: withdrawalId } } }
        subaccountTransfer: transferToSubaccount(
          input: { subaccountId: $subaccountId, amountCents: 9000, idempotencyKey: "k" }
        ) { ... on TransferToSubaccountSuccess { made: entry { id: refId } } }
        subaccountPayout: requestSubaccountPayout(
          input: { subaccountId: $subaccountId, amountCents: 4000, pixKey: "ana@psa.example", idempotencyKey: "k" }
        ) { ... on RequestSubaccountPayoutSuccess { made: subaccountPayout { id: payoutId } } } }`,
      { productId, subaccountId },
    );
    const LOOK_UP = `query ($key: String!, $subaccountId: String!) {
      payment(idempotencyKey: $key) { id: paymentId }
      cardPayment(idempotencyKey: $key) { id: orderCode }
      charge(idempotencyKey: $key) { id: chargeId }
      subscription(idempotencyKey: $key) { id: subscriptionId }
      delivery(idempotencyKey: $key) { id: deliveryId }
      payout(idempotencyKey: $key) { id: withdrawalId }
      subaccountTransfer(subaccountId: $subaccountId, idempotencyKey: $key) { id: refId }
      subaccountPayout(idempotencyKey: $key) { id: payoutId } }`;
    const ids = Object.fromEntries(
      Object.entries<{ made: unknown }>(made).map(([name, each]) => [name, each.made]),
    );
    const nothing = Object.fromEntries(Object.keys(made).map((name) => [name, null]));
    expect(await client.request(LOOK_UP, { key: 'k', subaccountId })).toEqual(ids);
    expect(await client.request(LOOK_UP, { key: 'other', subaccountId })).toEqual(nothing);
    expect(await other.client.request(LOOK_UP, { key: 'k', subaccountId })).toEqual(nothing);

    const rest = async (path: string, credential = key) => {
      const answer = await fetch(`${app.url}/v1${path}`, {
        headers: { authorization: `Bearer ${credential}` },
      });
      const { total, ...page } = await answer.json();
      const items: Record<string, unknown>[] = Object.values(page).find(Array.isArray) ?? [];
      const idOf = (item: Record<string, unknown>) => NAMES.map((name) => item[name]).find(Boolean);
      return [answer.status, total, ...items.map(idOf)];
    };
    for (const [path, name] of [
      ['/payments', 'payment'],
      ['/card-payments', 'cardPayment'],
      ['/charges', 'charge'],
      ['/subscriptions', 'subscription'],
      ['/deliveries', 'delivery'],
      ['/payouts', 'payout'],
      [`/subaccounts/${subaccountId}/statement`, 'subaccountTransfer'],
    ] as const) {
      expect(await rest(`${path}?idempotencyKey=k`)).toEqual([200, 1, (ids[name] as { id: string }).id]);
      expect(await rest(`${path}?idempotencyKey=k&offset=1`)).toEqual([200, 1]);
      expect(await rest(`${path}?idempotencyKey=other`)).toEqual([200, 0]);
      if (!path.includes(subaccountId))
        expect(await rest(`${path}?idempotencyKey=k`, other.key)).toEqual([200, 0]);
    }
    expect((await rest(`/deliveries?idempotencyKey=k&productId=${productId}`))[0]).toBe(400);
    expect((await rest('/payments?idempotencyKey=%C3%A9'))[0]).toBe(400);
  });

  test('A subaccount is found by its externalId', async () => {
    const [{ client, key }, other] = [await merchant(), await merchant()];
    await client.request(
      'mutation { createSubaccount(input: { name: "Bia", externalId: "bia" }) { __typename } }',
    );
    const LOOK_UP = 'query ($externalId: String!) { subaccount(externalId: $externalId) { name } }';
    expect(await client.request(LOOK_UP, { externalId: 'bia' })).toEqual({ subaccount: { name: 'Bia' } });
    expect(await client.request(LOOK_UP, { externalId: 'eva' })).toEqual({ subaccount: null });
    expect(await other.client.request(LOOK_UP, { externalId: 'bia' })).toEqual({ subaccount: null });
    const authorization = `Bearer ${key}`;
    const rest = async (externalId: string) =>
      (
        await fetch(`${app.url}/v1/subaccounts?externalId=${externalId}`, { headers: { authorization } })
      ).json();
    expect(await rest('bia')).toMatchObject({ subaccounts: [{ name: 'Bia' }], total: 1 });
    expect(await rest('eva')).toMatchObject({ subaccounts: [], total: 0 });
  });

  test.each([
    ['payment', 'paymentId'],
    ['cardPayment', 'orderCode'],
    ['charge', 'chargeId'],
    ['subscription', 'subscriptionId'],
    ['refund', 'refundId'],
    ['delivery', 'deliveryId'],
    ['subaccountPayout', 'reference'],
  ])('%s needs exactly one of %s and idempotencyKey, and a key that can be one', async (name, idName) => {
    const { client } = await merchant();
    const problemOf = async (args: string) =>
      (await client.send(`{ ${name}${args} { __typename } }`)).body.errors[0];
    for (const args of ['', '(idempotencyKey: null)'])
      expect(await problemOf(args)).toMatchObject({
        message: expect.stringMatching(`give exactly one of ${idName} and idempotencyKey`),
        extensions: { code: 'BAD_USER_INPUT', fields: [{ path: idName }] },
      });
    expect(await problemOf('(idempotencyKey: "é")')).toMatchObject({
      extensions: { code: 'BAD_USER_INPUT', fields: [{ path: 'idempotencyKey' }] },
    });
  });

  test('`lookup` finds what the lookupReference of an error names, and says which text is none', async () => {
    const { client } = await merchant();
    const { payment, subscription, charge } = await client.request(`mutation {
      payment: createPayment(input: { valueCents: 500 }) { ... on CreatePaymentSuccess { payment { id paymentId } } }
      charge: createCharge(input: { valueCents: 500 }) { ... on CreateChargeSuccess { charge { id chargeId } } }
      subscription: createSubscription(input: { valueCents: 500, interval: WEEKLY }) {
        ... on CreateSubscriptionSuccess { subscription { id subscriptionId } } } }`);
    const LOOK_UP = 'query ($reference: String!) { lookup(reference: $reference) { id } }';
    for (const [reference, id] of [
      [payment.payment.paymentId, payment.payment.id],
      [subscription.subscription.subscriptionId, subscription.subscription.id],
      [charge.charge.chargeId, charge.charge.id],
    ])
      expect(await client.request(LOOK_UP, { reference })).toEqual({ lookup: { id } });
    for (const reference of ['ref_idem_a', 'saq_idem_a', `psa_${'0'.repeat(32)}`])
      expect(await client.request(LOOK_UP, { reference })).toEqual({ lookup: null });
    const { body } = await client.send(LOOK_UP, { reference: 'saque-7' });
    expect(body.errors[0].extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      fields: [{ path: 'reference' }],
    });
  });
});
