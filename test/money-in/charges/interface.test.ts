import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseBrCode } from '../../../server/src/kernel/br-code.ts';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { createClient, type GraphQLClient } from '../../support/graphql.ts';
import type { RestClient } from '../../support/rest.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const CREATE = `mutation ($input: CreateChargeInput!) { createCharge(input: $input) {
  __typename ... on UserError { code message }
  ... on CreateChargeSuccess { replayed charge { id chargeId status amountCents } } } }`;
const WHOLE = `{
  __typename chargeId status amountCents otherPaidCents feeCents netAmountCents ownerAmountCents currency description metadata
  pix { copyPaste txid qr { size path } } checkoutUrl createdAt expiresAt expiresInSeconds paidAt paidLate endToEndId
  refundedAt refundedCents refundableCents failureReason final version
  splits { subaccountId amountCents percent refundedCents subaccount { name balanceCents } }
  returnedCredits { amountCents cause returnedAt } refunds { refundId amountCents status of { ... on Charge { chargeId } } }
}`;

let app: TestApp;
/** The account of the running test. */
let tenant: Tenant;
let rest: RestClient;
let graphql: GraphQLClient;
beforeAll(async () => {
  app = await startApp({ environment: { PUBLIC_URL: 'https://pay.example/psa' } });
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

async function merchant(settings: Parameters<typeof addAccount>[1] = {}): Promise<string> {
  tenant = { accountId: await addAccount(app, settings), environment: 'live' };
  const key = await addKey(app, tenant);
  const local = `http://127.0.0.1:${app.port}`;
  rest = app.rest(key, local);
  graphql = createClient(`${local}/graphql`, key);
  return (await rest.post('/subaccounts', { name: 'Ana' })).body.id;
}

async function pay(chargeId: string, order: object = {}): Promise<void> {
  await app.pix.pay({ txid: txidOf(chargeId), ...order });
  await app.charges.receive(tenant, chargeId);
}

const createdBy = async (input: object) => (await graphql.request(CREATE, { input })).createCharge.charge;
const found = async (chargeId: string, client = graphql) =>
  (await client.request(`query ($id: String!) { charge(chargeId: $id) ${WHOLE} }`, { id: chargeId })).charge;

describe('charges over REST', () => {
  test('A creation is answered with the code, and every field is there, null where it is empty', async () => {
    await merchant({ pixFeeCents: 50 });
    const { status, body } = await rest.post('/charges', { valueCents: 14_990 });
    expect(status).toBe(201);
    const txid = body.chargeId.slice('psc_'.length);
    const now = app.clock.now().getTime();
    expect(body).toEqual({
      chargeId: expect.stringMatching(/^psc_[0-9a-f]{32}$/),
      status: 'pending',
      currency: 'BRL',
      externalId: null,
      language: null,
      description: null,
      metadata: null,
      splits: [],
      amountCents: 14_990,
      feeCents: 50,
      netAmountCents: 14_940,
      ownerAmountCents: 14_940,
      checkoutUrl: `https://pay.example/psa/checkout/${body.chargeId}`,
      pixCopyPaste: expect.stringContaining(`pix.psa.invalid/v2/${txid}`),
      txid,
      createdAt: new Date(now).toISOString(),
      expiresAt: new Date(now + DAY).toISOString(),
      paidAt: null,
      paidLate: false,
      canceledAt: null,
      endToEndId: null,
      failureReason: null,
      refundedAt: null,
      refundedCents: 0,
      refundableCents: 0,
      refunds: [],
      returnedCredits: [],
    });
    expect(parseBrCode(body.pixCopyPaste)).toMatchObject({ amountCents: 14_990 });
    expect(await rest.get(`/charges/${body.chargeId}`)).toMatchObject({ status: 200, body });
  });

  test('A split charge is paid, refunded in part, listed, and found with both', async () => {
    const subaccountId = await merchant();
    const splits = [{ subaccountId, percent: 12.5 }];
    const { body } = await rest.post('/charges', { valueCents: 1_000, splits, expiresInSeconds: 60 });
    expect(body).not.toHaveProperty('metadata');
    await pay(body.chargeId);
    const refund = await rest.post(`/charges/${body.chargeId}/refunds`, {
      amountCents: 400,
      reason: 'Desistência',
      idempotencyKey: 'r-1',
    });
    expect(refund).toMatchObject({ status: 201, body: { status: 'processing', chargeId: body.chargeId } });
    expect(Object.keys(refund.body)).not.toContain('paymentId');
    await app.work.settled();
    const paid = (await rest.get(`/charges/${body.chargeId}`)).body;
    expect(paid).toMatchObject({
      status: 'paid',
      pixCopyPaste: null,
      refundedCents: 400,
      refundableCents: 600,
      splits: [{ subaccountId, amountCents: 125, percent: 12.5, refundedCents: 50 }],
      refunds: [{ refundId: refund.body.refundId, amountCents: 400, status: 'completed' }],
    });
    expect((await rest.get('/refunds/ref_idem_r-1')).body.chargeId).toBe(body.chargeId);
    const { body: list } = await rest.get('/charges?limit=1');
    expect(list).toEqual({ charges: [paid], total: 1, limit: 1, offset: 0 });
    expect((await rest.post(`/charges/${body.chargeId}/refunds`, { amountCents: 601 })).status).toBe(400);
  });

  test('The refund of a payment names the payment alone: the rail’s name of its money is not in it', async () => {
    await merchant();
    const { payment } = await app.payments.create(tenant, { valueCents: 500 });
    await app.pix.pay({ txid: txidOf(payment.paymentId) });
    await app.payments.receive(tenant, payment.paymentId);
    const { body } = await rest.post(`/payments/${payment.paymentId}/refunds`, {});
    expect(body).toMatchObject({ paymentId: payment.paymentId });
    expect(Object.keys(body)).not.toContain('chargeId');
  });
});

describe('charges over GraphQL', () => {
  test('A charge is found by the merchant’s own number, which it shows', async () => {
    await merchant({});
    const externalId = 'pedido 1042/7';
    const { chargeId } = await createdBy({ valueCents: 1_010, externalId });
    const { body } = await rest.post('/charges', { valueCents: 1_010, externalId });
    await createdBy({ valueCents: 1_010 });
    expect(body.externalId).toBe(externalId);
    expect((await rest.get(`/charges/${chargeId}`)).body.externalId).toBe(externalId);
    const { charges } = await graphql.request(
      'query ($filter: ChargeFilter) { charges(filter: $filter) { totalCount nodes { chargeId externalId } } }',
      { filter: { externalId } },
    );
    expect(charges).toEqual({
      totalCount: 2,
      nodes: [body.chargeId, chargeId].map((each) => ({ chargeId: each, externalId })),
    });
  });

  test('A charge has every member, before and after it is paid and refunded', async () => {
    const subaccountId = await merchant({ pixFeeCents: 10 });
    const { chargeId, id } = await createdBy({
      valueCents: 1_010,
      description: 'Aula',
      splits: [{ subaccountId, share: { percent: '33.30' } }],
    });
    const pending = await found(chargeId);
    expect(pending).toMatchObject({
      status: 'PENDING',
      amountCents: 1_010,
      feeCents: 10,
      netAmountCents: 1_000,
      ownerAmountCents: 667,
      metadata: null,
      description: 'Aula',
      expiresInSeconds: 86_400,
      final: false,
      version: 2,
      pix: { txid: txidOf(chargeId), qr: { size: expect.any(Number) } },
      checkoutUrl: `https://pay.example/psa/checkout/${chargeId}`,
      splits: [
        { subaccountId, amountCents: 333, percent: '33.3', subaccount: { name: 'Ana', balanceCents: 0 } },
      ],
    });
    await pay(chargeId);
    // The fee is not returned, so the account pays it from other money.
    const funds = await createdBy({ valueCents: 20 });
    await pay(funds.chargeId);
    const { refundCharge } = await graphql.request(
      `mutation ($input: RefundChargeInput!) { refundCharge(input: $input) {
        ... on RefundChargeSuccess { refund { of { __typename ... on Charge { chargeId } } } } } }`,
      { input: { chargeId } },
    );
    expect(refundCharge.refund.of).toEqual({ __typename: 'Charge', chargeId });
    await app.work.settled();
    expect(await found(chargeId)).toMatchObject({
      status: 'REFUNDED',
      pix: null,
      final: true,
      refundedCents: 1_010,
      refundableCents: 0,
      splits: [{ refundedCents: 333, subaccount: { balanceCents: 0 } }],
      refunds: [{ amountCents: 1_010, status: 'COMPLETED', of: { chargeId } }],
    });
    const { node } = await graphql.request(
      `query ($id: ID!) { node(id: $id) { ... on Charge { chargeId } } }`,
      { id },
    );
    expect(node).toEqual({ chargeId });
    const { refunds } = await graphql.request('{ refunds { nodes { __typename id refundId } } }');
    const asked = { id: refunds.nodes[0].id };
    // A refund has the charge of its rail, and is none.
    expect(await graphql.request('query ($id: ID!) { node(id: $id) { __typename } }', asked)).toEqual({
      node: { __typename: 'Refund' },
    });
  });

  test('A dashboard token of payments reads charges, and of their subaccounts the id alone', async () => {
    const subaccountId = await merchant();
    const { chargeId } = await createdBy({
      valueCents: 100,
      splits: [{ subaccountId, share: { amountCents: 40 } }],
    });
    const minted = (scopes: string) =>
      graphql
        .request(
          `mutation { createDashboardToken(input: { scopes: [${scopes}] }) { ... on CreateDashboardTokenSuccess { token } } }`,
        )
        .then(({ createDashboardToken }) =>
          createClient(`http://127.0.0.1:${app.port}/graphql`, createDashboardToken.token),
        );
    const splitsSeen = async (client: GraphQLClient) => (await found(chargeId, client)).splits;
    expect(await splitsSeen(await minted('PAYMENTS'))).toMatchObject([
      { subaccountId, amountCents: 40, subaccount: null },
    ]);
    expect(await splitsSeen(await minted('PAYMENTS, SUBACCOUNTS'))).toMatchObject([
      { subaccountId, subaccount: { name: 'Ana' } },
    ]);
  });

  test.each([
    ['checkout', { amount: { kind: 'fixed', cents: 500 }, reusable: true, methods: ['pix'] }],
    ['payment', { paymentId: `psa_${'0'.repeat(32)}` }],
  ] as const)('A browser’s %s token sees no charge', async (kind, grant) => {
    await merchant();
    const { chargeId } = await createdBy({ valueCents: 100 });
    const token = await addToken(app, { ...tenant, kind, grant });
    const browser = createClient(`http://127.0.0.1:${app.port}/graphql`, token);
    for (const query of [
      `{ charge(chargeId: "${chargeId}") { status } }`,
      '{ charges { totalCount } }',
      'mutation { createCharge(input: { valueCents: 100 }) { __typename } }',
      `mutation { refundCharge(input: { chargeId: "${chargeId}", idempotencyKey: "a" }) { __typename } }`,
      `mutation { simulatePayment(input: { id: "${chargeId}" }) { __typename } }`,
    ]) {
      const { body } = await browser.send(query);
      const [answer] = Object.values((body.data ?? {}) as Record<string, { __typename?: string } | null>);
      expect(answer?.__typename ?? body.errors[0].extensions.code, query).toBeOneOf([
        ...['PermissionError', 'FORBIDDEN'],
      ]);
    }
  });
});

describe('the hosted page of a charge', () => {
  test('The page shows the code, knows nothing of the shares, and shows that the charge is paid', async () => {
    const subaccountId = await merchant();
    const { chargeId } = await createdBy({
      valueCents: 12_345,
      description: 'Aula de violão',
      splits: [{ subaccountId, share: { amountCents: 6_789 } }],
    });
    const page = async () => {
      const answer = await fetch(`http://127.0.0.1:${app.port}/checkout/${chargeId}`);
      return { status: answer.status, text: await answer.text() };
    };
    const pending = await page();
    expect(pending.status).toBe(200);
    expect(pending.text).toMatch(/R\$\s123,45/);
    expect(pending.text).toContain('Aula de violão');
    expect(pending.text).toContain('data-pix-code');
    for (const hidden of ['67,89', subaccountId]) expect(pending.text).not.toContain(hidden);
    await pay(chargeId);
    expect((await page()).text).toContain('Pagamento confirmado');
    const missing = await fetch(`http://127.0.0.1:${app.port}/checkout/psplit_${'0'.repeat(32)}`);
    expect(missing.status).toBe(404);
  });
});

describe('sales', () => {
  const SALE = `fragment Sale on Sale {
    __typename id status method isFinal amountCents serviceFeeCents netAmountCents refundedCents refundableCents
    customer { name externalId } orderId description metadata currency checkoutUrl language version unresolved
    createdAt expiresAt expiresInSeconds paidAt paidLate canceledAt refundedAt failureReason otherPaidCents
    refunds { amountCents of { ...Refunded } } disputes { amountCents }
  }
  fragment Refunded on Sale { __typename id status amountCents }`;

  test('One fragment reads card payments, payments and charges: what one of them has not is null', async () => {
    await merchant({ pixFeeCents: 50 });
    const sale = { amountCents: 5_000, description: 'Caneca', metadata: '{"a":1}' };
    const customer = { name: 'Ana', externalId: 'u-17' };
    const { orderCode } = (await rest.post('/card-payments', { ...sale, customer, orderId: '1042' })).body;
    const { paymentId } = (await rest.post('/payments', { ...sale, customer, orderId: '1043' })).body;
    const { chargeId } = (await rest.post('/charges', { ...sale, externalId: '1044' })).body;
    await pay(chargeId);
    await rest.post(`/charges/${chargeId}/refunds`, { amountCents: 100 });
    await app.work.settled();
    const { card, payment, charge } = await graphql.request(
      `query ($card: String!, $payment: String!, $charge: String!) {
        card: cardPayment(orderCode: $card) { id } payment: payment(paymentId: $payment) { id }
        charge: charge(chargeId: $charge) { id } }`,
      { card: orderCode, payment: paymentId, charge: chargeId },
    );
    const ids = [card.id, payment.id, charge.id];
    const { nodes } = await graphql.request(`query ($ids: [ID!]!) { nodes(ids: $ids) { ...Sale } } ${SALE}`, {
      ids,
    });
    const given = { amountCents: 5_000, description: 'Caneca', metadata: '{"a":1}', currency: 'BRL' };
    expect(nodes).toEqual([
      expect.objectContaining({
        ...{ __typename: 'CardPayment', id: card.id, ...given, customer, orderId: '1042', method: 'CARD' },
        ...{ status: 'PENDING', isFinal: false, serviceFeeCents: 0, netAmountCents: 5_000, refunds: [] },
      }),
      expect.objectContaining({
        ...{ __typename: 'Payment', id: payment.id, ...given, customer, orderId: '1043', method: 'PIX' },
        ...{ status: 'PENDING', isFinal: false, serviceFeeCents: 50, netAmountCents: 4_950, refunds: [] },
      }),
      // A charge has no customer, and belongs to no order.
      expect.objectContaining({
        ...{ __typename: 'Charge', id: charge.id, ...given, customer: null, orderId: null, method: 'PIX' },
        ...{ status: 'PAID', isFinal: false, serviceFeeCents: 50, netAmountCents: 4_950, refundedCents: 100 },
        refunds: [
          {
            amountCents: 100,
            of: { __typename: 'Charge', id: charge.id, status: 'PAID', amountCents: 5_000 },
          },
        ],
      }),
    ]);
  });

  test('A charge takes no orderId, in either interface: a second one of its label is never sent back', async () => {
    await merchant();
    const body = { amountCents: 500, orderId: '1042' };
    expect(await rest.post('/charges', body)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('orderId: is unknown') },
    });
    const { body: refused } = await graphql.send(CREATE, { input: body });
    expect(refused.errors[0].message).toContain('orderId');
  });

  test('A return of an order and one of a charge with the same text differ in orderId', async () => {
    await merchant();
    const { paymentId } = (await rest.post('/payments', { amountCents: 500, orderId: '1042' })).body;
    const { chargeId } = (await rest.post('/charges', { amountCents: 500, externalId: '1042' })).body;
    for (let paid = 0; paid < 2; paid += 1) {
      await pay(chargeId);
      await app.pix.pay({ txid: txidOf(paymentId) });
      await app.payments.receive(tenant, paymentId);
    }
    const listed = async (filter: object) =>
      (
        await graphql.request(
          `query ($filter: PaymentReturnFilter) { returns(filter: $filter) {
            totalCount nodes { orderId of { __typename } } } }`,
          { filter },
        )
      ).returns;
    const ofOrder = { orderId: '1042', of: { __typename: 'Payment' } };
    expect(await listed({ orderId: '1042' })).toEqual({ totalCount: 1, nodes: [ofOrder] });
    const both = await listed({ externalId: '1042' });
    expect(both.totalCount).toBe(2);
    expect(both.nodes).toContainEqual({ orderId: null, of: { __typename: 'Charge' } });
    const { returns } = (await rest.get('/returns')).body;
    expect(new Set(returns.map((each: { orderId: string | null }) => each.orderId))).toEqual(
      new Set(['1042', null]),
    );
  });

  test('The deprecated names of a charge answer the same as their successors', async () => {
    await merchant({ pixFeeCents: 50 });
    const { chargeId } = await createdBy({ valueCents: 5_000 });
    const { charge } = await graphql.request(
      'query ($id: String!) { charge(chargeId: $id) { amountCents feeCents serviceFeeCents } }',
      { id: chargeId },
    );
    expect(charge).toEqual({ amountCents: 5_000, feeCents: 50, serviceFeeCents: 50 });
  });
});
