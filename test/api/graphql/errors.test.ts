import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../../../server/src/programs/ops/log.ts';
import { addToken } from '../../support/accounts.ts';
import { LIVE_KEY, startApp, TEST_KEY, type TestApp } from '../../support/app.ts';
import { openRawSocket } from '../../support/raw-socket.ts';

const opened: TestApp[] = [];
const start: typeof startApp = async (options) => {
  const app = await startApp(options);
  opened.push(app);
  return app;
};
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
});

/** The lines that a log would write to stderr. */
function captureLog() {
  const lines: string[] = [];
  return { lines, log: createLog({ write: (line) => lines.push(line) }) };
}

describe('an internal fault', () => {
  test('an internal fault shows nothing of its cause, and is logged with it', async () => {
    const { lines, log } = captureLog();
    const app = await start({ log });
    await app.database.sql.schema.dropTable('card_payment').cascade().execute();
    const { status, body } = await app.live.send('{ cardPayments { totalCount } }');
    expect(status).toBe(500);
    expect(body).toEqual({
      data: { cardPayments: null },
      errors: [
        {
          message: 'Internal error',
          path: ['cardPayments'],
          locations: [{ line: 1, column: 3 }],
          extensions: { code: 'INTERNAL_SERVER_ERROR', retryPolicy: 'LOOK_UP' },
        },
      ],
    });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 'error',
      err: { message: expect.stringContaining('card_payment') },
    });
  });

  test('a fault of a mutation is a top-level error, and a fault of one field leaves the others', async () => {
    const app = await start();
    await app.database.sql.schema.dropTable('card_payment').cascade().execute();
    const mutation = await app.live.send(
      'mutation { createCardPayment(input: { valueCents: 100 }) { __typename } }',
    );
    expect(mutation.body.errors[0]).toMatchObject({
      message: 'Internal error',
      extensions: { code: 'INTERNAL_SERVER_ERROR', retryPolicy: 'LOOK_UP' },
    });
    const query = await app.live.send(
      '{ viewer { credential } cardPayment(orderCode: "PSC-0123456789ABCDEFGHJKMNPQ") { id } }',
    );
    expect(query.status).toBe(200);
    expect(query.body.data).toEqual({ viewer: { credential: 'API_KEY' }, cardPayment: null });
    expect(app.faults).toHaveLength(2);
  });

  test('a fault before the caller is identified is an internal fault too', async () => {
    const app = await start();
    await app.database.close();
    const { status, body } = await app.live.send('{ viewer { credential } }');
    expect(status).toBe(500);
    expect(body).toEqual({
      errors: [
        { message: 'Internal error', extensions: { code: 'INTERNAL_SERVER_ERROR', retryPolicy: 'LOOK_UP' } },
      ],
    });
    const socket = openRawSocket(app.url);
    await socket.init(LIVE_KEY).catch(() => undefined);
    expect(await socket.closed).toEqual({ code: 4500, reason: 'Internal error' });
    expect(app.faults.length).toBeGreaterThanOrEqual(2);
  });

  test('a value that its own type refuses is an internal fault, and no mistake of the caller’s', async () => {
    const app = await start();
    const { createCardPayment } = await app.live.request(
      'mutation { createCardPayment(input: { valueCents: 100 }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
    );
    await app.database.sql.updateTable('card_payment').set({ created_at: sql<Date>`'infinity'` }).execute();
    const { body } = await app.live.send(
      'query ($code: String!) { cardPayment(orderCode: $code) { createdAt } }',
      {
        code: createCardPayment.cardPayment.orderCode,
      },
    );
    expect(body.errors[0]).toMatchObject({
      message: 'Internal error',
      extensions: { code: 'INTERNAL_SERVER_ERROR', retryPolicy: 'LOOK_UP' },
    });
    expect(app.faults).toHaveLength(1);
  });
});

describe('errors of several fields', () => {
  test('errors of several fields are in the document’s order, with one status, whichever field fails first', async () => {
    const { lines, log } = captureLog();
    const app = await start({ log, compileAfter: 1, environment: { PSA_FAST_PATH: 'on' } });
    const query = `query ($after: String) {
      cardPayments { totalCount }
      payouts(after: $after) { totalCount }
      one: cardPayment(orderCode: "x") { id }
    }`;
    await app.live.request(query, { after: null });
    await app.live.request(query, { after: null });
    expect(app.fastAnswers()).toBe(1);
    await app.database.sql.schema.dropTable('card_payment').cascade().execute();
    // The database refuses the first field after the cursor has been refused.
    const first = {
      status: 500,
      body: {
        data: { cardPayments: null, payouts: null, one: null },
        errors: [
          { path: ['cardPayments'], extensions: { code: 'INTERNAL_SERVER_ERROR', retryPolicy: 'LOOK_UP' } },
          { path: ['payouts'], extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' } },
        ],
      },
    };
    const ask = (text: string) => app.live.send(text, { after: 'x' });
    const expectFirst = (answers: { status: number; body: unknown }[]) => {
      for (const { status, body } of answers) expect({ status, body }).toMatchObject(first);
    };
    // The error is the same for a compiled query, an executed one, and many at once.
    expectFirst([await ask(query), await ask(`${query} # another document`)]);
    expectFirst(
      await Promise.all(Array.from({ length: 20 }, (_, at) => ask(at % 2 ? query : `${query} #${at}`))),
    );
    expect(lines.length).toBeGreaterThan(0);
  });

  test('errors of nullable fields are all shown, in the document’s order', async () => {
    const app = await start({ compileAfter: 1, environment: { PSA_FAST_PATH: 'on' } });
    const query = `query ($reference: String!) {
      subaccountPayout(subaccountId: "0123456789abcdef01234567", reference: $reference) { payoutId }
      cardPayment(orderCode: $reference) { orderCode }
      again: subaccountPayout(subaccountId: "0123456789abcdef01234567", reference: $reference) { payoutId }
    }`;
    await app.live.send(query, { reference: 'saq_idem_none' });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        app.live.send(at % 2 ? query : `${query} #${at}`, { reference: 'no reference' }),
      ),
    );
    const shown = answers.map(({ status, body }) => ({
      status,
      paths: body.errors?.map(({ path }: { path: string[] }) => path[0]),
    }));
    expect(new Set(shown.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(shown[0]!.paths).toEqual(['subaccountPayout', 'again']);
  });
});

describe('mistakes of the caller', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  const CREATE =
    'mutation ($input: CreateCardPaymentInput!) { createCardPayment(input: $input) { __typename ... on ValidationError { fields { path } } } }';

  test.each([
    [{ input: { valueCents: 1.5 } }, 'input.valueCents'],
    [{ input: { valueCents: '100' } }, 'input.valueCents'],
    [{ input: { valueCents: -1 } }, 'input.valueCents'],
    [{ input: { valueCents: 9_007_199_254_740_992 } }, 'input.valueCents'],
    [{ input: { valueCents: { a: 1 } } }, 'input.valueCents'],
    [{ input: { valueCents: 100, nothing: 1 } }, 'nothing'],
    [{ input: { valueCents: 100, description: 7 } }, 'input.description'],
    [{ input: { valueCents: 100, callbackUrl: 7 } }, 'input.callbackUrl'],
    [{ input: { valueCents: 100, customer: 'Ana' } }, 'input.customer'],
    [{ input: [1, 2] }, 'input'],
    [{}, 'input'],
  ])('the refusal of a wrong variable names it: %j', async (variables, names) => {
    const { body } = await app.live.send(CREATE, variables);
    expect(body.data).toBeUndefined();
    expect(body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
    expect(body.errors[0].message).toContain(names);
    expect(app.faults).toEqual([]);
  });

  test.each([
    'valueCents: 1.5',
    'valueCents: "100"',
    'valueCents: -1',
    'valueCents: 1e3',
    'valueCents: 9007199254740993',
  ])('the refusal of a wrong value in the document names it: %s', async (text) => {
    const { body } = await app.live.send(`mutation { createCardPayment(input: { ${text} }) { __typename } }`);
    expect(body.errors[0].message).toContain('Cents must be');
    expect(body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  test.each([
    ['{ cardPayments(first: "x") { totalCount } }', 'Argument "first" got invalid value; Int cannot', 23],
    [
      '{ payouts(filter: { status: [PENDING, NO] }) { totalCount } }',
      'Argument "filter" got invalid value at "filter.status[1]"; Value does not exist',
      39,
    ],
    [
      '{ payouts(filter: { no: 1 }) { totalCount } }',
      'Argument "filter" got invalid value at "filter.no"; Field "no" is not defined',
      21,
    ],
    [
      'mutation { createCardPayment(input: { valueCents: 1.5 }) { __typename } }',
      'Argument "input" got invalid value at "input.valueCents"; Cents must be',
      51,
    ],
    [
      'mutation { createCardPayment(input: { valueCents: 1, customer: { name: 5 } }) { __typename } }',
      'Argument "input" got invalid value at "input.customer.name"; String cannot',
      72,
    ],
    [
      'mutation { createProduct(input: { priceCents: 80 }) { __typename } }',
      'Argument "input" got invalid value; Field "CreateProductInput.name" of required',
      33,
    ],
    [
      'mutation { createCardPayment(input: null) { __typename } }',
      'Argument "input" got invalid value; Expected value of type',
      37,
    ],
    [
      'query ($n: Int = "x") { cardPayments(first: $n) { totalCount } }',
      'Variable "$n" got invalid default value; Int cannot',
      18,
    ],
    [
      '{ cardPayments @include(if: 3) { totalCount } }',
      'Argument "if" got invalid value; Boolean cannot',
      29,
    ],
  ])('the refusal of a literal names its argument and its place: %s', async (query, says, column) => {
    const { body } = await app.live.send(query);
    expect(body.errors[0]).toMatchObject({
      message: expect.stringContaining(says),
      locations: [{ line: 1, column }],
      extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
    });
    const stream = app.live.ws(query);
    await expect(stream.data()).rejects.toMatchObject([{ message: body.errors[0].message }]);
    await stream.close();
  });

  const KEY = 'maria.silva@exemplo.com.br';
  const PAY_OUT = 'mutation ($input: RequestPayoutInput!) { requestPayout(input: $input) { __typename } }';
  const inDocument = (value: string) =>
    `mutation { requestPayout(input: { method: PIX, amountCents: 100, destination: ${value} }) { __typename } }`;

  test.each<[string, string, Record<string, unknown>?]>([
    ['String cannot represent a non string value', inDocument('11987654321')],
    ['String cannot represent a non string value', inDocument(`{ key: "${KEY}" }`)],
    [
      'Expected value of type "RequestPayoutInput!"',
      `mutation { requestPayout(input: "${KEY}") { __typename } }`,
    ],
    [
      'cannot represent non-enum value',
      `mutation { requestPayout(input: { method: "${KEY}" }) { __typename } }`,
    ],
    ['Int cannot represent non-integer value', `{ payouts(first: "${KEY}") { totalCount } }`],
    ['Syntax Error: Expected Name, found String.', `{ payouts("${KEY}": 1) { totalCount } }`],
    ['Syntax Error: Expected Name, found Int.', `{ payouts(11987654321: 1) { totalCount } }`],
    [
      'Argument "input" has invalid value.',
      `mutation ($cents: Cents = 500) { requestPayout(input: { method: PIX, amountCents: $cents, destination: "${KEY}" }) { __typename } }`,
      { cents: null },
    ],
    ['got invalid value; Expected type "RequestPayoutInput" to be an object.', PAY_OUT, { input: KEY }],
    [
      'at "input.destination"; String cannot represent a non string value',
      PAY_OUT,
      { input: { method: 'PIX', amountCents: 1, destination: { key: KEY } } },
    ],
    [
      'at "input.destination"; String cannot represent a non string value',
      PAY_OUT,
      { input: { method: 'PIX', amountCents: 1, destination: 11987654321 } },
    ],
    ['at "input.method"; Value does not exist in "PayoutMethod" enum', PAY_OUT, { input: { method: KEY } }],
    [
      'at "input.method"; Enum "PayoutMethod" cannot represent non-string value',
      PAY_OUT,
      { input: { method: [KEY] } },
    ],
  ])('a refusal does not repeat the value: %s', async (says, query, variables) => {
    const { body } = await app.live.send(query, variables);
    const messages = body.errors.map(({ message }: { message: string }) => message).join('\n');
    expect(messages).toContain(says);
    expect(JSON.stringify(body)).not.toMatch(/maria|11987654321/);
  });

  test.each([
    '{"__proto__":{"input":{"valueCents":100}}}',
    '{"input":{"valueCents":100,"__proto__":{"valueCents":1,"idempotencyKey":"x"}}}',
    '{"input":{"valueCents":100,"customer":{"__proto__":{"name":"x"}}}}',
    '{"input":{"valueCents":100,"constructor":{"prototype":{"polluted":true}}}}',
    '{"input":{"valueCents":100},"__proto__":{"polluted":true}}',
  ])('the variables %s change no prototype', async (variables) => {
    const answer = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${LIVE_KEY}`, 'content-type': 'application/json' },
      body: `{"query":${JSON.stringify(CREATE)},"variables":${variables}}`,
    });
    const { data, errors } = await answer.json();
    if (errors) expect(errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
    else expect(data.createCardPayment.__typename).toBe('CreateCardPaymentSuccess');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(app.faults).toEqual([]);
  });

  test('variables 40,000 levels deep are refused before they are read', async () => {
    const deep = `${'['.repeat(40_000)}${']'.repeat(40_000)}`;
    for (const variables of [`{"input":${deep}}`, `{"input":{"valueCents":${deep}}}`, `{"x":${deep}}`]) {
      const answer = await fetch(`${app.url}/graphql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${LIVE_KEY}`, 'content-type': 'application/json' },
        body: `{"query":${JSON.stringify(CREATE)},"variables":${variables}}`,
      });
      expect((await answer.json()).errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
    }
    expect(app.faults).toEqual([]);
  });

  test('an argument from a variable that is null where it must not be is the caller’s mistake', async () => {
    const { body } = await app.live.send(
      'query ($code: String = "x") { cardPayment(orderCode: $code) { id } }',
      { code: null },
    );
    expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    expect(app.faults).toEqual([]);
  });
});

test('no credential, card or key is written to a log', async () => {
  const { lines, log } = captureLog();
  const app = await start({ log });
  const dashboard = await addToken(app, { kind: 'dashboard', grant: { scopes: ['card_payments'] } });
  const { createCheckoutToken } = await app.live.request(
    'mutation { createCheckoutToken(input: { amount: { fixedCents: 100 }, reusable: true }) { ... on CreateCheckoutTokenSuccess { token } } }',
  );
  const checkout = createCheckoutToken.token as string;
  const { startCheckout } = await app
    .client(checkout)
    .request(
      'mutation { startCheckout(input: { attemptId: "attempt-0123456789abcdef" }) { ... on StartCheckoutSuccess { paymentToken cardPayment { orderCode } } } }',
    );
  const payment = startCheckout.paymentToken as string;
  const card = {
    number: '4242424242424242',
    holder: 'ANA',
    expiryMonth: 12,
    expiryYear: 2030,
    securityCode: '987',
  };
  await app.cardPayments.pay(startCheckout.cardPayment.orderCode, card);
  await app.live.request('mutation ($token: String!) { revokeToken(token: $token) { __typename } }', {
    token: dashboard,
  });

  // Each way to an internal fault: queries, mutations, sockets, authentication.
  await app.database.sql.schema.dropTable('token').cascade().execute();
  for (const credential of [checkout, payment, dashboard, 'ps_checkout_wrong']) {
    await app.client(credential).send('{ viewer { credential } }');
    const socket = openRawSocket(app.url);
    await socket.init(credential).catch(() => undefined);
    await socket.closed;
  }
  await app.live.send('mutation ($token: String!) { revokeToken(token: $token) { __typename } }', {
    token: checkout,
  });
  await app.database.sql.schema.dropTable('api_key').cascade().execute();
  await app.live.send('{ viewer { credential } }');
  log.error(
    {
      authorization: `Bearer ${LIVE_KEY}`,
      request: { headers: { authorization: LIVE_KEY } },
      card,
      token: payment,
    },
    'careless',
  );

  const text = lines.join('');
  expect(lines.length).toBeGreaterThan(8);
  for (const secret of [LIVE_KEY, TEST_KEY, checkout, payment, dashboard, card.number])
    expect(text).not.toContain(secret);
  // The three digits of the code may also be a part of an instant.
  expect(text).not.toMatch(new RegExp(`(?<![\\d.])${card.securityCode}(?!\\d)`));
});
