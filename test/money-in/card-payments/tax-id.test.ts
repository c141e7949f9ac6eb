import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { createLog } from '../../../server/src/programs/ops/log.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { approved } from '../../support/cards.ts';
import { startPair } from '../../support/pair.ts';
import { startReceiver } from '../../support/receiver.ts';

// The payer's CPF or CNPJ is stored whole, and shown masked to the merchant alone.

const CUSTOMER = 'customer { name email externalId taxId }';
const ERRORS =
  '__typename ... on UserError { code message } ... on ValidationError { fields { path message } }';
const CREATE = `mutation ($input: CreateCardPaymentInput!) { createCardPayment(input: $input) {
  ... on CreateCardPaymentSuccess { replayed cardPayment { orderCode ${CUSTOMER} } } ${ERRORS} } }`;
const MINT = `mutation ($input: CreateCheckoutTokenInput!) { createCheckoutToken(input: $input) {
  ... on CreateCheckoutTokenSuccess { token } ${ERRORS} } }`;
const START = `mutation ($input: StartCheckoutInput!) { startCheckout(input: $input) {
  ... on StartCheckoutSuccess { paymentToken cardPayment { orderCode ${CUSTOMER} } } ${ERRORS} } }`;
const CANCEL = `mutation ($orderCode: String!) { cancelCardPayment(orderCode: $orderCode) {
  ... on CancelCardPaymentSuccess { cardPayment { ${CUSTOMER} } } ${ERRORS} } }`;
const PAYMENT = `query ($orderCode: String!) { cardPayment(orderCode: $orderCode) { orderCode ${CUSTOMER} } }`;
const PAYMENTS = `{ cardPayments { nodes { ${CUSTOMER} } } }`;
const FOLLOW = `subscription ($orderCode: String!) { cardPaymentUpdates(orderCode: $orderCode) { cardPayment { status ${CUSTOMER} } } }`;
const FOLLOW_ALL = `subscription ($after: String) { allCardPaymentUpdates(after: $after) { cardPayment { status ${CUSTOMER} } } }`;

const CREATE_PIX = `mutation ($input: CreatePaymentInput!) { createPayment(input: $input) {
  ... on CreatePaymentSuccess { payment { paymentId ${CUSTOMER} pix { copyPaste } } } ${ERRORS} } }`;
const START_PIX = `mutation ($input: StartCheckoutInput!) { startPixCheckout(input: $input) {
  ... on StartPixCheckoutSuccess { paymentToken payment { paymentId ${CUSTOMER} } } ${ERRORS} } }`;
const PIX = `query ($paymentId: String!) { payment(paymentId: $paymentId) { ${CUSTOMER} } }`;
const PIX_PAYMENTS = `{ payments { nodes { ${CUSTOMER} } } }`;
const FOLLOW_PIX = `subscription ($after: String) { allPaymentUpdates(after: $after) { payment { status ${CUSTOMER} } } }`;
const REFUND_PIX = `mutation ($paymentId: String!) { refundPayment(input: { paymentId: $paymentId, amountCents: 10, idempotencyKey: $paymentId }) {
  ... on RefundPaymentSuccess { refund { of { ... on Payment { ${CUSTOMER} } } } } ${ERRORS} } }`;

const NUMBERS = [
  { given: '123.456.789-09', taxId: '12345678909', masked: '***.456.789-**' },
  { given: '11.222.333/0001-81', taxId: '11222333000181', masked: '**.***.333/0001-**' },
  { given: '12.abc.345/01de-35', taxId: '12ABC34501DE35', masked: '**.***.345/01DE-**' },
];
const REFUSED = 'must be a CPF or a CNPJ with its check digits';

let app: TestApp;
const lines: string[] = [];
beforeAll(async () => {
  const log = createLog({ write: (line) => void lines.push(line) });
  app = await startApp({ log, environment: { PSA_LOG_SLOW_MS: '0' } });
});
afterAll(() => app.close());

let attempts = 0;
function attemptId(): string {
  attempts += 1;
  return `attempt-${attempts}`.padEnd(22, '0');
}

async function merchant() {
  const accountId = await addAccount(app);
  const key = await addKey(app, { accountId });
  return {
    client: app.client(key),
    rest: app.rest(key),
    tenant: { accountId, environment: 'live' as const },
  };
}

describe('the tax number of a customer', () => {
  test.each(NUMBERS)(
    'The whole number is stored, and is in no answer, update, webhook or line of the log: $given',
    async ({ given, taxId, masked }) => {
      const { client, rest, tenant } = await merchant();
      const receiver = await startReceiver();
      const shown: unknown[] = [];
      const show = <Shown>(answer: Shown): Shown => {
        shown.push(answer);
        return answer;
      };
      const customer = { name: 'Ana', email: 'ana@example.com', externalId: '7', taxId: given };
      const expected = { ...customer, taxId: masked };

      const all = client.sse(FOLLOW_ALL, {
        after: (await client.request('{ updatesCursor }')).updatesCursor,
      });
      onTestFinished(() => all.close());
      const input = { valueCents: 4990, customer, callbackUrl: receiver.url };
      const { createCardPayment } = show(await client.request(CREATE, { input }));
      const { orderCode } = createCardPayment.cardPayment;
      expect(createCardPayment.cardPayment.customer).toEqual(expected);
      expect((await app.cardPayments.find(tenant, orderCode))!.customer).toEqual({ ...customer, taxId });
      expect(show(await client.request(PAYMENT, { orderCode })).cardPayment.customer).toEqual(expected);
      expect(show(await client.request(PAYMENTS)).cardPayments.nodes).toEqual([{ customer: expected }]);
      expect(show((await rest.get(`/card-payments/${orderCode}`)).body).customer).toEqual(expected);
      expect(show((await rest.get('/card-payments')).body).cardPayments[0].customer).toEqual(expected);

      const one = client.ws(FOLLOW, { orderCode });
      onTestFinished(() => one.close());
      const update = (status: string) => ({ cardPayment: { status, customer: expected } });
      expect(show(await one.data()).cardPaymentUpdates).toEqual(update('PENDING'));
      expect(show(await all.data()).allCardPaymentUpdates).toEqual(update('PENDING'));
      const webhook = receiver.next();
      await app.cardPayments.pay(orderCode, approved());
      expect(show(await one.data()).cardPaymentUpdates).toEqual(update('PAID'));
      expect(show(await all.data()).allCardPaymentUpdates).toEqual(update('PAID'));
      const { body } = show(await webhook);
      expect(JSON.parse(body).customer).toEqual({ name: 'Ana', email: 'ana@example.com' });

      const created = show((await rest.post('/card-payments', { valueCents: 4990, customer })).body);
      const canceled = await rest.delete(`/card-payments/${created.orderCode}`);
      expect(show(canceled.body).customer).toEqual(expected);
      const again = show(await client.request(CREATE, { input }));
      const { orderCode: other } = again.createCardPayment.cardPayment;
      const answer = show(await client.request(CANCEL, { orderCode: other }));
      expect(answer.cancelCardPayment.cardPayment.customer).toEqual(expected);

      expect(lines.length).toBeGreaterThan(0);
      for (const text of [JSON.stringify(shown), lines.join()]) {
        expect(text).not.toContain(taxId);
        expect(text.toUpperCase()).not.toContain(given.toUpperCase());
      }
    },
  );

  test.each(NUMBERS)(
    'The whole number of who pays by PIX is stored, and shown nowhere: $given',
    async ({ given, taxId, masked }) => {
      const { client, rest, tenant } = await merchant();
      const receiver = await startReceiver();
      const shown: unknown[] = [];
      const show = <Shown>(answer: Shown): Shown => {
        shown.push(answer);
        return answer;
      };
      const customer = { name: 'Ana', email: 'ana@example.com', externalId: '7', taxId: given };
      const expected = { ...customer, taxId: masked };
      const all = client.sse(FOLLOW_PIX, {
        after: (await client.request('{ updatesCursor }')).updatesCursor,
      });
      onTestFinished(() => all.close());
      const input = { valueCents: 4990, customer, callbackUrl: receiver.url };
      const { createPayment } = show(await client.request(CREATE_PIX, { input }));
      const { paymentId } = createPayment.payment;
      expect(createPayment.payment.customer).toEqual(expected);
      expect((await app.payments.find(tenant, paymentId))!.customer).toEqual({ ...customer, taxId });
      expect(show(await client.request(PIX, { paymentId })).payment.customer).toEqual(expected);
      expect(show(await client.request(PIX_PAYMENTS)).payments.nodes).toEqual([{ customer: expected }]);
      expect(show((await rest.get(`/payments/${paymentId}`)).body).customer).toEqual(expected);
      expect(show((await rest.get('/payments')).body).payments[0].customer).toEqual(expected);
      const created = show((await rest.post('/payments', { valueCents: 4990, customer })).body);
      expect(created.customer).toEqual(expected);

      const webhook = receiver.next();
      for (const amountCents of [4991, 4990]) await app.pix.pay({ txid: txidOf(paymentId), amountCents });
      await app.payments.receive(tenant, paymentId);
      expect(JSON.parse(show(await webhook).body).customer).toEqual({
        name: 'Ana',
        email: 'ana@example.com',
      });
      const { refundPayment } = show(await client.request(REFUND_PIX, { paymentId }));
      expect(refundPayment.refund.of.customer).toEqual(expected);
      await app.work.settled();
      show(receiver.received);
      show((await rest.get(`/payments/${paymentId}`)).body);
      // The webhooks: two creations, the accepted credit, the returned credit and its end, and the refund.
      for (let count = 0; count < 6; count += 1)
        expect(show(await all.data()).allPaymentUpdates.payment.customer).toEqual(expected);
      // An error names the payment, and not its payer.
      const failing = { valueCents: 1, customer: { email: 'sem-codigo@psa.example', taxId: given } };
      expect(show(await rest.post('/payments', failing)).status).toBe(409);
      expect(show(await client.request(CREATE_PIX, { input: failing })).createPayment.code).toMatch(/\w/);

      expect(lines.length).toBeGreaterThan(0);
      for (const text of [JSON.stringify(shown), lines.join()]) {
        expect(text).not.toContain(taxId);
        expect(text.toUpperCase()).not.toContain(given.toUpperCase());
      }
    },
  );

  test('A payer’s token for PIX shows no customer, and its number is stored', async () => {
    const { client, tenant } = await merchant();
    const { createCheckoutToken } = await client.request(MINT, {
      input: { methods: ['PIX'], amount: { fixedCents: 4990 } },
    });
    const input = { attemptId: attemptId(), customer: { taxId: '123.456.789-09' } };
    const { startPixCheckout } = await app.client(createCheckoutToken.token).request(START_PIX, { input });
    const { paymentId } = startPixCheckout.payment;
    expect(startPixCheckout.payment.customer).toBeNull();
    const payer = app.client(startPixCheckout.paymentToken);
    expect(await payer.request(PIX, { paymentId })).toEqual({ payment: { customer: null } });
    expect((await app.payments.find(tenant, paymentId))!.customer).toEqual({ taxId: '12345678909' });
  });

  test('A payer’s token shows no customer, and both the token’s and the payer’s own tax number are stored', async () => {
    const { client, tenant } = await merchant();
    const mint = async (customer?: object) =>
      (
        await client.request(MINT, {
          input: { amount: { fixedCents: 4990 }, ...(customer && { customer }) },
        })
      ).createCheckoutToken.token as string;
    const taxId = '123.456.789-09';
    for (const [token, customer] of [
      [await mint({ taxId }), null],
      [await mint(), { taxId }],
    ] as const) {
      const page = app.client(token);
      const { startCheckout } = await page.request(START, { input: { attemptId: attemptId(), customer } });
      const { orderCode } = startCheckout.cardPayment;
      expect(startCheckout.cardPayment.customer).toBeNull();
      const payer = app.client(startCheckout.paymentToken);
      expect(await payer.request(PAYMENT, { orderCode })).toEqual({
        cardPayment: { orderCode, customer: null },
      });
      expect((await app.cardPayments.find(tenant, orderCode))!.customer).toEqual({ taxId: '12345678909' });
      expect((await client.request(PAYMENT, { orderCode })).cardPayment.customer).toEqual({
        name: null,
        email: null,
        externalId: null,
        taxId: '***.456.789-**',
      });
    }
  });

  test('The same number with punctuation and without is the same input', async () => {
    const { client, rest } = await merchant();
    const key = (taxId: string) => ({ valueCents: 4990, idempotencyKey: 'k-1', customer: { taxId } });
    const create = async (taxId: string) =>
      (await client.request(CREATE, { input: key(taxId) })).createCardPayment;
    const first = await create('12.ABC.345/01DE-35');
    const second = await create('12abc34501de35');
    expect(second).toEqual({ ...first, replayed: true });
    const { status, body } = await rest.post('/card-payments', key('12ABC34501DE35'));
    expect([status, body.orderCode]).toEqual([201, first.cardPayment.orderCode]);
    expect(await create('123.456.789-09')).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });

    const order = (taxId: string) => ({
      externalId: '1042',
      amount: { fixedCents: 4990 },
      customer: { name: 'Ana', taxId },
    });
    const mint = async (taxId: string) =>
      (await client.request(MINT, { input: order(taxId) })).createCheckoutToken;
    const { token } = await mint('12345678909');
    expect(await mint('123.456.789-09')).toHaveProperty('token');
    expect(await mint('529.982.247-25')).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });

    const start = async (id: string, taxId: string) =>
      (
        await app.client(token).request(START, {
          input: { attemptId: id, customer: { taxId } },
        })
      ).startCheckout;
    const id = attemptId();
    const started = await start(id, '529.982.247-25');
    const repeated = await start(id, '52998224725');
    expect(repeated.cardPayment).toEqual(started.cardPayment);
    expect(await start(id, '12345678909')).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  test.each([
    '123.456.789-08',
    '111.111.111-11',
    '11.222.333/0001-82',
    '12.ABC.345/01DE-36',
    '1234567890',
    'ana@padaria.example',
    '',
  ])(
    'A wrong number is refused by the name of its field, and the message does not repeat it: %j',
    async (taxId) => {
      const { client, rest } = await merchant();
      const customer = { name: 'Ana', taxId };
      const { token } = (await client.request(MINT, { input: { amount: { fixedCents: 4990 } } }))
        .createCheckoutToken;
      const page = app.client(token);
      const fields = [{ path: 'input.customer.taxId', message: REFUSED }];
      for (const [who, operation, input] of [
        [client, CREATE, { valueCents: 4990, customer }],
        [client, CREATE_PIX, { valueCents: 4990, customer }],
        [client, MINT, { amount: { fixedCents: 4990 }, customer }],
        [page, START, { attemptId: attemptId(), customer }],
      ] as const) {
        const [answer] = Object.values(await who.request(operation, { input })) as [object];
        expect(answer).toEqual({
          __typename: 'ValidationError',
          code: 'BAD_USER_INPUT',
          fields,
          message: `input.customer.taxId: ${REFUSED}`,
        });
      }
      for (const path of ['/card-payments', '/payments']) {
        const { status, body } = await rest.post(path, { valueCents: 4990, customer });
        expect([status, body]).toMatchObject([400, { error: `customer.taxId: ${REFUSED}` }]);
        expect((await rest.get(path)).body.total).toBe(0);
      }
    },
  );

  test('A number that is no text is refused without being repeated', async () => {
    const { client, rest } = await merchant();
    const customer = { taxId: 12345678909 };
    const { status, body } = await client.send(CREATE, { input: { valueCents: 4990, customer } });
    expect([status, body.errors[0].extensions.code]).toEqual([200, 'BAD_USER_INPUT']);
    expect(body.errors[0].message).toContain('input.customer.taxId');
    const refused = await rest.post('/card-payments', { valueCents: 4990, customer });
    expect(refused).toMatchObject({ status: 400, body: { error: 'customer.taxId: must be a string' } });
    expect(JSON.stringify([body, refused])).not.toContain('12345678909');
  });
});

test('In front of another service a tax number stays at the facade, and is shown masked there', async () => {
  const pair = await startPair();
  onTestFinished(() => pair.close());
  const { live } = pair.facade;
  const customer = { name: 'Ana', email: 'ana@example.com', externalId: '7' };
  const input = { valueCents: 4990, customer: { ...customer, taxId: '123.456.789-09' } };
  const { createCardPayment } = await live.request(CREATE, { input });
  const { orderCode } = createCardPayment.cardPayment;
  const shown = { ...customer, taxId: '***.456.789-**' };
  expect(createCardPayment.cardPayment.customer).toEqual(shown);
  const tenant = { accountId: pair.accountIds.service, environment: 'live' as const };
  expect((await pair.service.cardPayments.find(tenant, orderCode))!.customer).toEqual(customer);
  // The service's own state has no tax number, and does not remove the stored one.
  await pair.service.cardPayments.pay(orderCode, approved());
  await pair.settled();
  expect((await live.request(PAYMENT, { orderCode })).cardPayment).toEqual({ orderCode, customer: shown });
  expect(pair.facade.faults).toEqual([]);
});
