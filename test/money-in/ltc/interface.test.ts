import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { createClient } from '../../support/graphql.ts';
import { startReceiver } from '../../support/receiver.ts';
import type { RestClient } from '../../support/rest.ts';
import { ownMembers } from '../../support/webhook-bodies.ts';

const MINUTE = 60_000;
const ASKED = 8_149_068;
/** The header of a browser that opens a page. */
const HTML = { accept: 'text/html' };

let app: TestApp;
let tenant: Tenant;
let key: string;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

async function merchant(
  settings: Parameters<typeof addAccount>[1] = {},
  environment: Tenant['environment'] = 'live',
): Promise<RestClient> {
  tenant = { accountId: await addAccount(app, settings), environment };
  key = await addKey(app, tenant);
  return app.rest(key, app.url);
}
const graphql = () => createClient(`${app.url}/graphql`, key);

/** Changes the network's state, as the simulator's page does. */
async function network(address: string, change: object): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${app.url}/simulator/ltc/${address}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: app.url },
    body: JSON.stringify(change),
  });
  const body = await response.json();
  await app.work.settled();
  return { status: response.status, body };
}

const LTC_FIELDS = `ltc { address amountLtc receivedLtc confirmations requiredConfirmations uri qr { size } }`;
const create = (input: object) =>
  graphql().request(
    `mutation ($input: CreatePaymentInput!) {
      createPayment(input: $input) {
        __typename
        ... on CreatePaymentSuccess { payment { paymentId status method feeCents netAmountCents pix { txid } ${LTC_FIELDS} } }
        ... on UserError { message code }
        ... on ValidationError { fields { path message } }
      }
    }`,
    { input: { valueCents: 4_990, method: 'LTC', ...input } },
  );

describe('payments by LTC over HTTP', () => {
  test('A payment over REST has its address and its amount, and every member of PIX is null', async () => {
    const shop = await merchant({ pixFeeCents: 50 });
    const { status, body } = await shop.post('/payments', { valueCents: 4_990, method: 'ltc' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      method: 'ltc',
      status: 'pending',
      amountCents: 4_990,
      feeCents: 0,
      netAmountCents: 4_990,
      ltcAddress: expect.stringMatching(/^rltc1/),
      ltcAmount: '0.08149068',
      ltcReceived: '0.00000000',
      confirmations: 0,
      requiredConfirmations: 2,
      pixCopyPaste: null,
      txid: null,
      endToEndId: null,
      returnedCredits: [],
      refundableCents: 0,
    });
    await network(body.ltcAddress, { litoshi: 8_000_000, confirmations: 1 });
    await network(body.ltcAddress, { confirmations: 0 });
    const seen = await shop.get(`/payments/${body.paymentId}`);
    expect(seen.body).toMatchObject({ status: 'pending', ltcReceived: '0.08149068', confirmations: 0 });
    await network(body.ltcAddress, { blocks: 2 });
    const paid = await shop.get(`/payments/${body.paymentId}`);
    expect(paid.body).toMatchObject({
      status: 'paid',
      paidLate: false,
      confirmations: 2,
      refundableCents: 0,
    });
    expect((await shop.get('/wallet')).body).toMatchObject({ balance: 0, cryptoBalanceLtc: 0.08149068 });
    expect(await shop.post(`/payments/${body.paymentId}/refunds`, {})).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('LTC cannot be sent back') },
    });
  });

  test('A payment over GraphQL has the URI and the QR code of its request, and is found by method', async () => {
    await merchant();
    const { createPayment } = await create({});
    const { payment } = createPayment;
    expect(payment).toMatchObject({
      status: 'PENDING',
      method: 'LTC',
      feeCents: 0,
      netAmountCents: 4_990,
      pix: null,
      ltc: {
        amountLtc: '0.08149068',
        receivedLtc: '0.00000000',
        confirmations: 0,
        requiredConfirmations: 2,
        uri: `litecoin:${payment.ltc.address}?amount=0.08149068`,
        qr: { size: expect.any(Number) },
      },
    });
    const { payments } = await graphql().request(
      '{ payments(filter: { method: [LTC] }) { totalCount nodes { paymentId } } }',
    );
    expect(payments).toEqual({ totalCount: 1, nodes: [{ paymentId: payment.paymentId }] });
  });

  test('A payment by LTC sends payment.paid with the body of any other', async () => {
    const receiver = await startReceiver();
    await merchant();
    const { createPayment } = await create({ callbackUrl: receiver.url, metadata: '{"pedido":7}' });
    const { paymentId, ltc } = createPayment.payment;
    await network(ltc.address, { confirmations: 2 });
    const [sent] = receiver.received;
    expect(ownMembers(sent!.body)).toEqual({
      event: 'payment.paid',
      paymentId,
      amountCents: 4_990,
      status: 'paid',
      paidAt: app.clock.now().toISOString(),
      metadata: '{"pedido":7}',
    });
  });

  test('Subscribers get what has come, each confirmation, and the end', async () => {
    await merchant();
    const { createPayment } = await create({});
    const { paymentId, ltc } = createPayment.payment;
    const updates = graphql().sse(
      `subscription ($id: String!) {
        paymentUpdates(paymentId: $id) { previousStatus payment { status version ltc { receivedLtc confirmations } } }
      }`,
      { id: paymentId },
    );
    const seen: unknown[] = [];
    const changes = [{ litoshi: ASKED, txid: 'e'.repeat(64) }, { blocks: 1 }, { blocks: 1 }];
    for await (const { data } of updates) {
      const { paymentUpdates } = data;
      const { status, ltc: now } = paymentUpdates.payment;
      seen.push([paymentUpdates.previousStatus, status, now.receivedLtc, now.confirmations]);
      const next = changes.shift();
      if (next) await network(ltc.address, next);
    }
    expect(seen).toEqual([
      [null, 'PENDING', '0.00000000', 0],
      ['PENDING', 'PENDING', '0.08149068', 0],
      ['PENDING', 'PENDING', '0.08149068', 1],
      ['PENDING', 'PAID', '0.08149068', 2],
    ]);
  });

  test.each<[string, Parameters<typeof merchant>, number, string]>([
    ['with a test key', [{}, 'sandbox'], 403, 'not available in sandbox'],
    ['for an account without LTC', [{ ltcEnabled: false }], 409, 'LTC are not configured'],
  ])('A payment by LTC %s is refused', async (_, account, status, message) => {
    const shop = await merchant(...account);
    const answer = await shop.post('/payments', { valueCents: 4_990, method: 'ltc' });
    expect(answer).toMatchObject({ status, body: { error: expect.stringContaining(message) } });
    expect((await create({})).createPayment.message).toContain(message);
  });
});

describe('the page of the payer', () => {
  const open = async (paymentId: string) => {
    const response = await fetch(`${app.url}/checkout/${paymentId}`, { headers: HTML });
    return { status: response.status, text: await response.text() };
  };
  const stateOf = async (paymentId: string) =>
    (await (await fetch(`${app.url}/checkout/${paymentId}/status`)).json()) as { state: string };

  test('The page shows the address and the amount, then the confirmations, then that it is paid', async () => {
    await merchant();
    const { createPayment } = await create({ successUrl: 'https://loja.example/ok' });
    const { paymentId, ltc } = createPayment.payment;
    const pending = await open(paymentId);
    expect(pending.status).toBe(200);
    for (const text of [
      ltc.address,
      '0,08149068 LTC',
      'data-copied-text="0.08149068"',
      'não pode ser devolvida',
      'litecoin:',
    ])
      expect(pending.text).toContain(text);
    expect(await stateOf(paymentId)).toMatchObject({ state: 'pending' });
    await network(ltc.address, { litoshi: 8_000_000, txid: 'd'.repeat(64) });
    expect(await stateOf(paymentId)).toMatchObject({ state: 'part' });
    expect((await open(paymentId)).text).toContain('0,00149068 LTC');
    await network(ltc.address, {});
    expect(await stateOf(paymentId)).toMatchObject({ state: 'confirming' });
    const confirming = await open(paymentId);
    expect(confirming.text).toContain('0 de 2');
    expect(confirming.text).not.toContain(ltc.address);
    await network(ltc.address, { blocks: 2 });
    const paid = await open(paymentId);
    for (const text of ['Pagamento confirmado', 'https://loja.example/ok']) expect(paid.text).toContain(text);
    expect(await stateOf(paymentId)).toMatchObject({ status: 'paid', state: 'paid' });
  });

  test('The page hides the address once the time is over, and names the payment where a part came', async () => {
    await merchant();
    const [empty, part] = [
      (await create({})).createPayment.payment,
      (await create({})).createPayment.payment,
    ];
    await network(part.ltc.address, { litoshi: 5, confirmations: 9 });
    app.clock.advance(30 * MINUTE);
    await app.work.settled();
    expect(await stateOf(empty.paymentId)).toMatchObject({ state: 'expired' });
    const expired = await open(empty.paymentId);
    expect(expired.text).toContain('O tempo para pagar acabou');
    expect(expired.text).not.toContain(empty.ltc.address);
    const failed = await open(part.paymentId);
    for (const text of ['0,00000005 LTC', part.paymentId]) expect(failed.text).toContain(text);
    expect(failed.text).not.toContain(part.ltc.address);
  });

  test('A payer who comes back sees what has come, though no notification was sent', async () => {
    await merchant();
    const { paymentId, ltc } = (await create({})).createPayment.payment;
    await network(ltc.address, { txid: 'f'.repeat(64), confirmations: 0 });
    const { sql } = app.database;
    await sql
      .updateTable('simulated_ltc_output')
      .set({ confirmations: 2 })
      .where('txid', '=', 'f'.repeat(64))
      .execute();
    await sql.updateTable('simulated_ltc_address').set({ revision: 9 }).where('id', '=', paymentId).execute();
    expect((await open(paymentId)).text).toContain('Pagamento confirmado');
  });
});

describe('the simulated network', () => {
  test('The simulator shows payments by LTC, mines, reorganises, and sends what is missing', async () => {
    await merchant();
    const { paymentId, ltc } = (await create({ description: 'Rede' })).createPayment.payment;
    const sent = await network(ltc.address, { litoshi: 8_000_000 });
    expect(sent).toMatchObject({
      status: 201,
      body: { id: paymentId, status: 'pending', receivedLitoshi: 8_000_000, outputs: [{ confirmations: 0 }] },
    });
    const [output] = (sent.body as { outputs: { txid: string }[] }).outputs;
    expect(await network(ltc.address, { reorganise: output!.txid })).toMatchObject({
      status: 201,
      body: { receivedLitoshi: 0, outputs: [] },
    });
    expect((await network(ltc.address, { reorganise: output!.txid })).status).toBe(409);
    expect((await network(ltc.address, { blocks: 1 })).status).toBe(409);
    expect(await network(ltc.address, { confirmations: 2 })).toMatchObject({
      status: 201,
      body: { status: 'paid', receivedLitoshi: ASKED },
    });
    const state = await fetch(`${app.url}/simulator/state?account=${tenant.accountId}`);
    expect(await state.json()).toMatchObject({
      ltcPayments: [
        {
          id: paymentId,
          status: 'paid',
          description: 'Rede',
          address: ltc.address,
          outputs: [{ litoshi: ASKED }],
        },
      ],
      pixPayments: [],
    });
  });

  test.each<[string, object, number]>([
    ['no litoshi', { litoshi: 0 }, 400],
    ['half a litoshi', { litoshi: 1.5 }, 400],
    ['a short txid', { txid: 'ab' }, 400],
    ['negative confirmations', { confirmations: -1 }, 400],
    ['two controls at once', { blocks: 1, litoshi: 5 }, 400],
  ])('The simulator refuses %s, naming the field', async (_, change, status) => {
    await merchant();
    const { ltc } = (await create({})).createPayment.payment;
    const answer = await network(ltc.address, change);
    expect(answer.status).toBe(status);
    expect((answer.body as { fields: unknown[] }).fields).toHaveLength(1);
  });

  test('The simulator knows no address of another network, and no output twice', async () => {
    await merchant();
    const [first, second] = [
      (await create({})).createPayment.payment,
      (await create({})).createPayment.payment,
    ];
    expect((await network('ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', {})).status).toBe(404);
    const txid = '9'.repeat(64);
    expect((await network(first.ltc.address, { txid })).status).toBe(201);
    expect((await network(second.ltc.address, { txid })).status).toBe(400);
  });
});
