import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { AccessService } from '../../../server/src/access/model.ts';
import type { Route } from '../../../server/src/api/http/routes.ts';
import { parseDestination } from '../../../server/src/money-out/payouts/model.ts';
import {
  createDashboardRoutes,
  type DashboardOperations,
} from '../../../server/src/programs/demo/dashboard.ts';
import { MAGIC_DESTINATIONS } from '../../../server/src/rails/simulated/bank.ts';
import { hoursOfDay, startOfDay, totalsByHour } from '../../../widget/demo/dashboard/chart-hours.ts';
import { chartScale, HEIGHT } from '../../../widget/demo/dashboard/chart-scale.ts';
import { TEST_DESTINATIONS } from '../../../widget/demo/dashboard/destinations.ts';
import {
  CHARGES,
  DAY_TOTALS,
  DISPUTES,
  PIX_PAYMENTS,
  START,
} from '../../../widget/demo/dashboard/operations.ts';
import { formatRelative, formatTime, parseCents, parseLitoshi } from '../../../widget/demo/shared/format.ts';
import { PAYOUT_METHODS } from '../../../widget/demo/shared/payout-methods.ts';
import { LIVE_KEY, startApp, type TestApp } from '../../support/app.ts';
import { approved } from '../../support/cards.ts';
import { createClient } from '../../support/graphql.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await post('/simulator/credit', { amountCents: 1_000_000 });
});
afterAll(async () => {
  await app?.close();
  expect(app?.faults).toEqual([]);
});
// The clock advances, because an account may request ten payouts an hour.
beforeEach(() => app.clock.advance(3_600_001));

async function post(path: string, input: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: app.url, ...headers },
    body: JSON.stringify(input),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const askPayout = (input: unknown, headers?: Record<string, string>) =>
  post('/demo/dashboard/payouts', input, headers);

async function loadConfig() {
  const response = await fetch(`${app.url}/demo/dashboard/config.json`);
  return response.json();
}

const mintToken = async () => (await post('/demo/dashboard/token', {})).body;

describe('a real account', () => {
  test('the dashboard of a real account has no route that moves money', async () => {
    const of = (operations: DashboardOperations | null) =>
      createDashboardRoutes({
        tenant: { accountId: 'acc_1', environment: 'live' },
        access: {} as AccessService,
        operations,
        hasConsole: true,
        clock: app.clock,
        publicUrl: app.url,
      });
    const writes = (routes: readonly Route[]) =>
      routes
        .filter(({ methods }) => methods.includes('POST'))
        .map(({ path }) => path.source.match(/\w+(?=\$)/)?.[0]);
    expect(writes(of({} as DashboardOperations))).toEqual([
      'token',
      'terms',
      'payouts',
      'refunds',
      'evidence',
      'cancellations',
    ]);
    expect(writes(of(null))).toEqual(['token']);
    expect(await loadConfig()).toEqual({ endpoint: '/graphql', simulated: true, console: true });
  });
});

describe('the gallery’s token', () => {
  test('a token of the gallery takes every method of the account, for a day', async () => {
    const { status, body } = await post('/demo/gallery/token', { amountCents: 4_990, description: 'Caneca' });
    expect([status, body]).toEqual([201, { token: expect.stringMatching(/^ps_checkout_/) }]);
    const { viewer } = await app.client(body.token).request('{ viewer { checkoutMethods } }');
    expect(viewer).toEqual({ checkoutMethods: ['CARD', 'PIX'] });
    app.clock.advance(86_400_000);
    const { errors } = (await app.client(body.token).send('{ viewer { checkoutMethods } }')).body;
    expect(errors?.[0].extensions.code).toBe('UNAUTHENTICATED');
  });

  test.each([
    [{ amountCents: 79, description: 'x' }, 'amountCents'],
    [{ amountCents: 4_990.5, description: 'x' }, 'amountCents'],
    [{ amountCents: 4_990, description: 'x'.repeat(201) }, 'description'],
    [{ description: 'x' }, 'amountCents'],
    [{ amountCents: 4_990, description: 'x', successUrl: 'https://evil.example' }, 'successUrl'],
  ])('the input %j is refused at %s', async (input, path) => {
    const { status, body } = await post('/demo/gallery/token', input);
    expect([status, body.fields[0].path]).toEqual([400, path]);
  });

  test('an account that takes no cards sells by PIX, in the shop as well', async () => {
    const cards = (enabled: boolean) =>
      app.database.sql.updateTable('account').set({ card_payments_enabled: enabled }).execute();
    onTestFinished(async () => {
      await cards(true);
    });
    await cards(false);
    const { body } = await post('/demo/gallery/token', { amountCents: 4_990, description: 'Caneca' });
    const { viewer } = await app.client(body.token).request('{ viewer { checkoutMethods } }');
    expect(viewer).toEqual({ checkoutMethods: ['PIX'] });
    expect((await fetch(`${app.url}/demo/config.json`)).status).toBe(200);
  });

  test('an account that takes no payments has a shop that sells nothing, until it takes some', async () => {
    const local = await startApp();
    onTestFinished(async () => {
      await local.close();
      expect(local.faults).toEqual([]);
    });
    const accept = (enabled: boolean) =>
      local.database.sql
        .updateTable('account')
        .set({ card_payments_enabled: enabled, pix_enabled: enabled })
        .execute();
    const load = async () => {
      const response = await fetch(`${local.url}/demo/config.json`);
      return { status: response.status, body: await response.json() };
    };
    await accept(false);
    expect(await load()).toEqual({
      status: 200,
      body: { endpoint: '/graphql', simulated: true, products: [] },
    });
    await accept(true);
    expect((await load()).body.products).toHaveLength(3);
  });

  test('no other site has a token of the gallery minted', async () => {
    const foreign = { origin: 'https://evil.example' };
    const input = { amountCents: 4_990, description: 'x' };
    expect((await post('/demo/gallery/token', input, foreign)).status).toBe(403);
    expect((await fetch(`${app.url}/demo/gallery/token`)).status).toBe(404);
  });
});

describe('the dashboard’s token', () => {
  test('the dashboard’s token is minted for the demo’s own page alone, and no GET request writes', async () => {
    const tokens = async () => (await app.database.sql.selectFrom('token').select('id').execute()).length;
    const before = await tokens();
    for (let time = 0; time < 5; time += 1) await loadConfig();
    expect(await tokens()).toBe(before);
    const foreign = { origin: 'https://evil.example' };
    expect((await post('/demo/dashboard/token', {}, foreign)).status).toBe(403);
    expect((await fetch(`${app.url}/demo/dashboard/token`)).status).toBe(404);
    expect((await post('/demo/dashboard/token', { scopes: ['wallet'] })).status).toBe(400);
    expect(await tokens()).toBe(before);
    expect((await post('/demo/dashboard/token', {})).status).toBe(201);
    expect(await tokens()).toBe(before + 1);
  });

  test('the dashboard’s token reads everything that the page shows', async () => {
    const { token } = await mintToken();

    const data = await app.client(token).request(START);

    expect(data).toMatchObject({ wallet: { withdrawableCents: 1_000_000 }, cardPayments: { nodes: [] } });
    const variables = { from: '2026-03-02T03:00:00Z', before: '2026-03-03T03:00:00Z' };
    const exact = { isExact: true };
    expect(await app.client(token).request(DAY_TOTALS, variables)).toMatchObject({
      ...{ cardPaymentTotals: exact, paymentTotals: exact, chargeTotals: exact },
      ...{ payoutTotals: exact, subaccountPayoutTotals: exact, refundTotals: exact },
    });
    expect(await app.client(token).request(PIX_PAYMENTS)).toMatchObject({ payments: { nodes: [] } });
    expect(await app.client(token).request(CHARGES)).toMatchObject({ charges: { nodes: [] } });
    expect(await app.client(token).request(DISPUTES)).toMatchObject({ disputes: { nodes: [] } });
  });

  test('the dashboard’s token cannot request a payout', async () => {
    const { token } = await mintToken();

    const { requestPayout } = await app.client(token).request(
      `mutation {
        requestPayout(input: { method: PIX, amountCents: 5000, destination: "ana@psa.example", idempotencyKey: "a" }) {
          __typename
        }
      }`,
    );

    expect(requestPayout.__typename).toBe('PermissionError');
  });

  test('the dashboard’s token expires after 15 minutes by the server’s clock, which the page receives', async () => {
    const { token, now, expiresAt } = await mintToken();
    expect(Date.parse(expiresAt) - Date.parse(now)).toBe(900_000);

    app.clock.advance(900_000);

    expect((await app.client(token).send(START)).body.errors[0].extensions.code).toBe('UNAUTHENTICATED');
  });
});

describe('evidence of the dashboard', () => {
  test('evidence is submitted once under a key, by this page alone, and a wrong one names its field', async () => {
    const [account] = await app.database.sql
      .selectFrom('account')
      .select('id')
      .orderBy('created_at')
      .execute();
    const tenant = { accountId: account!.id, environment: 'live' } as const;
    const disputeId = await app.controls.openDispute(tenant, { amountCents: 500 });
    const submit = (input: object, headers?: Record<string, string>) =>
      post('/demo/dashboard/evidence', { disputeId, ...input }, headers);
    const evidence = { text: 'Entregue', idempotencyKey: 'prova-1' };
    expect((await submit(evidence, { origin: 'https://evil.example' })).status).toBe(403);
    for (const replayed of [false, true])
      expect((await submit(evidence)).body).toEqual({ disputeId, status: 'under_review', replayed });
    const wrong = await submit({ documents: [{ url: 'http://a.example' }] });
    expect([wrong.status, wrong.body.fields]).toMatchObject([400, [{ path: 'documents.0.url' }]]);
    await app.controls.closeDispute(tenant, disputeId, 'won');
    const late = await submit({ text: 'x' });
    expect([late.status, late.body.code]).toEqual([409, 'DISPUTE_STATE']);
  });
});

describe('a payout of the dashboard', () => {
  const input = { method: 'pix', amountCents: 15_000, destination: 'ana@psa.example' };

  test('a payout with the same idempotency key is requested once', async () => {
    const once = await askPayout({ ...input, idempotencyKey: 'a-form' });
    const twice = await askPayout({ ...input, idempotencyKey: 'a-form' });

    expect(once).toMatchObject({ status: 201, body: { status: 'pending', replayed: false } });
    expect(twice.body).toEqual({ ...once.body, status: expect.any(String), replayed: true });
    const { payout } = await app.live.request(
      'query ($id: String!) { payout(withdrawalId: $id) { amountCents } }',
      {
        id: once.body.withdrawalId,
      },
    );
    expect(payout.amountCents).toBe(15_000);
  });

  test.each([
    ['no amount', { ...input, amountCents: undefined }, 'amountCents'],
    ['an amount equal to the fee', { ...input, amountCents: 100 }, 'amountCents'],
    ['an invalid key', { ...input, destination: '123' }, 'destination'],
    ['an address of another method', { ...input, method: 'ltc' }, 'destination'],
    ['an unknown method', { ...input, method: 'no_method' }, 'method'],
  ])('a payout is refused with the invalid field named: %s', async (_, wrong, path) => {
    const { status, body } = await askPayout(wrong);

    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'BAD_USER_INPUT', fields: [{ path }] });
  });

  test('the fee of a payout is known before it is requested, and what its destination is taken for', async () => {
    const termsOf = async (change: object) =>
      (await post('/demo/dashboard/payout-terms', { ...input, destination: '11987650034', ...change })).body;
    const cpf = { feeCents: 100, destination: '11987650034', destinationKind: 'cpf' };
    expect(await termsOf({})).toEqual(cpf);
    expect(await termsOf({ method: 'pix_turbo' })).toEqual({ ...cpf, feeCents: 200 });
    const phone = { destination: '+5511987650034', destinationKind: 'phone' };
    expect(await termsOf({ pixKeyType: 'phone' })).toEqual({ ...cpf, ...phone });
    expect(await termsOf({ pixKeyType: 'email' })).toMatchObject({ fields: [{ path: 'pixKeyType' }] });
  });

  test('a payout beyond the balance is refused with the withdrawable amount', async () => {
    const { status, body } = await askPayout({ ...input, amountCents: 9_000_000 });

    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'INSUFFICIENT_FUNDS', withdrawableCents: expect.any(Number) });
  });

  test('the eleventh payout within an hour is refused with the time to wait', async () => {
    for (let count = 0; count < 10; count += 1) await askPayout({ ...input, amountCents: 200 });

    const { status, headers, body } = await askPayout({ ...input, amountCents: 200 });

    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(3_500);
    expect(body.code).toBe('RATE_LIMITED');
  });

  test.each([
    ['another site', { origin: 'https://loja.example' }],
    ['another program on this machine', { origin: 'http://localhost:1' }],
    ['a hidden origin', { origin: 'null' }],
  ])('a payout is refused from %s', async (_, headers) => {
    expect((await askPayout(input, headers)).status).toBe(403);
  });

  test('a payout is refused under a foreign host name, and without an origin', async () => {
    const own = `127.0.0.1:${app.port}`;

    expect(await rawPost({ host: 'loja.example', origin: 'http://loja.example' })).toBe(403);
    expect(await rawPost({ host: own })).toBe(403);
    expect(await rawPost({ host: own, 'x-psa-action': '1' })).toBe(400);
  });
});

describe('a payment of the dashboard', () => {
  async function create(): Promise<string> {
    const { createCardPayment } = await app.live.request(
      'mutation { createCardPayment(input: { valueCents: 5000 }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
    );
    return createCardPayment.cardPayment.orderCode;
  }

  test('a refund with the same idempotency key is requested once, and one beyond the payment names the field', async () => {
    const orderCode = await create();
    await app.cardPayments.pay(orderCode, approved());
    const input = { orderCode, amountCents: 2000, idempotencyKey: `devolucao-${orderCode}` };
    const once = await post('/demo/dashboard/refunds', input);
    expect(once).toMatchObject({
      status: 201,
      body: { status: 'processing', amountCents: 2000, replayed: false },
    });
    const twice = await post('/demo/dashboard/refunds', input);
    expect(twice).toMatchObject({ status: 201, body: { refundId: once.body.refundId, replayed: true } });
    const { cardPayment } = await app.live.request(
      'query ($code: String!) { cardPayment(orderCode: $code) { refundableCents } }',
      { code: orderCode },
    );
    expect(cardPayment.refundableCents).toBe(3000);
    expect(await post('/demo/dashboard/refunds', { orderCode, amountCents: 3001 })).toMatchObject({
      status: 400,
      body: { code: 'BAD_USER_INPUT', fields: [{ path: 'amountCents' }] },
    });
  });

  test('a part of a PIX payment is refunded, and the refund of no payment or of two names the field', async () => {
    const { createPayment } = await app.live.request(
      'mutation { createPayment(input: { valueCents: 5000 }) { ... on CreatePaymentSuccess { payment { paymentId } } } }',
    );
    const { paymentId } = createPayment.payment;
    await post('/simulator/pix/pay', { id: paymentId });
    expect(await post('/demo/dashboard/refunds', { paymentId, amountCents: 2000 })).toMatchObject({
      status: 201,
      body: { status: 'processing', amountCents: 2000, replayed: false },
    });
    await app.work.settled();
    const { token } = await mintToken();
    expect((await app.client(token).request(PIX_PAYMENTS)).payments.nodes).toMatchObject([
      { paymentId, refundedCents: 2000, refunds: [{ status: 'COMPLETED', amountCents: 2000 }] },
    ]);
    for (const [input, path] of [
      [{}, 'orderCode'],
      [{ paymentId, orderCode: 'PSC-1' }, 'orderCode'],
      [{ paymentId: 'psa_1' }, 'paymentId'],
      [{ paymentId, amountCents: 3001 }, 'amountCents'],
    ] as const)
      expect(await post('/demo/dashboard/refunds', input)).toMatchObject({
        status: 400,
        body: { code: 'BAD_USER_INPUT', fields: [{ path }] },
      });
  });

  test('a split charge is paid in the simulator, listed with its parts, and refunded in part', async () => {
    const { createSubaccount } = await app.live.request(
      'mutation { createSubaccount(input: { name: "Ana" }) { ... on CreateSubaccountSuccess { subaccount { subaccountId } } } }',
    );
    const { subaccountId } = createSubaccount.subaccount;
    const { createCharge } = await app.live.request(
      `mutation ($splits: [ChargeSplitInput!]) { createCharge(input: { valueCents: 5000, splits: $splits }) {
        ... on CreateChargeSuccess { charge { chargeId } } } }`,
      { splits: [{ subaccountId, share: { percent: '50' } }] },
    );
    const { chargeId } = createCharge.charge;
    const state = await (await fetch(`${app.url}/simulator/state`)).json();
    expect(state.pixPayments[0]).toMatchObject({ id: chargeId, status: 'pending', payer: null });
    await post('/simulator/pix/pay', { id: chargeId });
    expect(await post('/demo/dashboard/refunds', { chargeId, amountCents: 2000 })).toMatchObject({
      status: 201,
      body: { status: 'processing', amountCents: 2000 },
    });
    await app.work.settled();
    const { token } = await mintToken();
    expect((await app.client(token).request(CHARGES)).charges.nodes).toMatchObject([
      { chargeId, refundedCents: 2000, splits: [{ subaccountId, amountCents: 2500, refundedCents: 1000 }] },
    ]);
    for (const [input, path] of [
      [{ chargeId, paymentId: `psa_${'0'.repeat(32)}` }, 'orderCode'],
      [{ chargeId: 'psc_1' }, 'chargeId'],
    ] as const)
      expect(await post('/demo/dashboard/refunds', input)).toMatchObject({
        status: 400,
        body: { code: 'BAD_USER_INPUT', fields: [{ path }] },
      });
  });

  test('a pending payment is canceled, and a paid one is refused', async () => {
    const [orderCode, paid] = [await create(), await create()];
    expect(await post('/demo/dashboard/cancellations', { orderCode })).toMatchObject({
      status: 201,
      body: { orderCode, status: 'expired', canceledAt: app.clock.now().toISOString() },
    });
    await app.cardPayments.pay(paid, approved());
    expect(await post('/demo/dashboard/cancellations', { orderCode: paid })).toMatchObject({
      status: 409,
      body: { code: 'NOT_CANCELABLE' },
    });
  });

  test.each(['refunds', 'cancellations'])('the route of %s is refused from another site', async (route) => {
    const orderCode = await create();
    const headers = { origin: 'https://loja.example' };
    expect((await post(`/demo/dashboard/${route}`, { orderCode }, headers)).status).toBe(403);
  });
});

describe('the demo’s pages', () => {
  test.each(['/demo/dashboard', '/simulator/', '/demo/'])(
    'the policy of %s forbids other origins',
    async (path) => {
      const response = await fetch(`${app.url}${path}`);

      expect(response.status).toBe(200);
      const policy = response.headers.get('content-security-policy');
      expect(policy).toContain("default-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
    },
  );

  test.each([
    ...['/demo/', '/demo/dashboard', '/demo/gallery', '/demo/gallery-board', '/demo/thank-you'],
    '/simulator/',
  ])('without JavaScript %s says that it is needed', async (path) => {
    const page = await (await fetch(`${app.url}${path}`)).text();
    expect(page).toMatch(/<noscript>.*JavaScript.*<\/noscript>/);
  });

  test('the demo’s pages link to each other', async () => {
    for (const path of ['/demo/', '/demo/dashboard', '/simulator/']) {
      const page = await (await fetch(`${app.url}${path}`)).text();
      for (const link of ['/demo/', '/demo/dashboard', '/simulator/'])
        expect(page).toContain(`href="${link}"`);
    }
  });

  test('the dashboard and the simulator are found with a slash too many or too few', async () => {
    expect((await fetch(`${app.url}/demo/dashboard/`)).url).toBe(`${app.url}/demo/dashboard`);
    expect((await fetch(`${app.url}/simulator`)).url).toBe(`${app.url}/simulator/`);
  });

  test('the shop leads a payer back to the name of this machine under which it is open', async () => {
    const successUrlAt = async (host: string, server = app) => {
      const { products } = await rawGet('/demo/config.json', { host }, server);
      const clientOf = (credential: string) =>
        createClient(`http://127.0.0.1:${server.port}/graphql`, credential);
      const { startCheckout } = await clientOf(products[0]!.tokens.redirect).request(
        `mutation { startCheckout(input: { attemptId: "${host.replace(/\W/g, '-').padStart(22, '0')}" }) {
          ... on StartCheckoutSuccess { cardPayment { orderCode } } } }`,
      );
      const { cardPayment } = await clientOf(LIVE_KEY).request(
        'query ($orderCode: String!) { cardPayment(orderCode: $orderCode) { successUrl } }',
        { orderCode: startCheckout.cardPayment.orderCode },
      );
      return cardPayment.successUrl;
    };
    for (const name of ['127.0.0.1', 'localhost', '[::1]'])
      expect(await successUrlAt(`${name}:${app.port}`)).toBe(`http://${name}:${app.port}/demo/thank-you`);
    // The server does not serve this port, though the name is its own.
    expect(await successUrlAt('127.0.0.1:1')).toBe(`${app.url}/demo/thank-you`);
    // A proxy in front of a public server may send the server's own address.
    const far = await startApp({ environment: { PUBLIC_URL: 'https://psa.example', PSA_DEMO: 'on' } });
    onTestFinished(() => far.close());
    expect(await successUrlAt(`127.0.0.1:${far.port}`, far)).toBe('https://psa.example/demo/thank-you');
  });

  test('the former address of the thank-you page redirects with its order code', async () => {
    const response = await fetch(`${app.url}/demo/obrigado?psa_order_code=PSC-1`);
    expect([response.status, response.url]).toEqual([200, `${app.url}/demo/thank-you?psa_order_code=PSC-1`]);
  });
});

describe('the payout form', () => {
  const EFFECTS: Record<string, string> = {
    deny: 'negad|o banco nega',
    refuse: 'recusado',
    delay: '10 minutos',
    verify: 'verificação',
  };

  test.each(PAYOUT_METHODS)(
    'the test destinations of $label are valid and have the described effects',
    ({ method, wireName }) => {
      for (const { destination, effect } of TEST_DESTINATIONS[method]!) {
        expect(parseDestination(wireName, destination).destination).toBe(destination);
        const behaviour = MAGIC_DESTINATIONS[destination];
        expect(effect).toMatch(new RegExp(behaviour ? EFFECTS[behaviour.kind]! : 'conclui'));
      }
    },
  );

  test.each([
    ['150', 15_000],
    ['150,5', 15_050],
    ['1.234,56', 123_456],
    ['R$ 1.234.567,89', 123_456_789],
    ['8.20', 820],
    ['1.005', 100_500],
    ['0.125', null],
    ['1,005', null],
    ['1.00,5', null],
    ['-5', null],
    ['', null],
    ['dez', null],
  ])('the form parses %s as %s cents', (text, cents) => {
    expect(parseCents(text)).toBe(cents);
  });

  test('times are those of Brasília, with the date where it is another day there', () => {
    const now = new Date('2026-03-02T12:00:00.000Z');
    expect(formatTime(new Date('2026-03-02T03:30:00.000Z'), now)).toBe('00:30');
    expect(formatTime(new Date('2026-03-02T02:30:00.000Z'), now)).toBe('01 de mar. 23:30');
  });

  test.each([
    ['0,5', 50_000_000],
    ['0.5', 50_000_000],
    ['1.000', 100_000_000_000],
    ['0.125', 12_500_000],
    ['0.001', 100_000],
    ['1.000,00000001', 100_000_000_001],
    ['1.5000', 150_000_000],
    ['0,000000001', null],
    ['84000000000000', null],
    ['1,000.5', null],
    ['', null],
    ['meio', null],
  ])('the simulator parses %s as %s litoshi', (text, litoshi) => {
    expect(parseLitoshi(text)).toBe(litoshi);
  });

  test('days are those of the calendar', () => {
    const now = new Date('2026-03-02T12:00:00.000Z');
    const ago = (hours: number) => formatRelative(new Date(now.getTime() - hours * 3_600_000), now);
    // The clock shows nine in Brasília.
    expect([ago(23), ago(32), ago(34), ago(47), ago(58), ago(-40)]).toEqual([
      'há 23 h',
      'ontem',
      'anteontem',
      'anteontem',
      'há 3 dias',
      'depois de amanhã',
    ]);
  });

  test('relative times are written in words', () => {
    const now = new Date('2026-03-02T12:00:00.000Z');
    const ago = (seconds: number) => formatRelative(new Date(now.getTime() - seconds * 1_000), now);

    expect([ago(3), ago(40), ago(125), ago(7_200), ago(90_000), ago(-600)]).toEqual([
      'agora',
      'há 40 seg.',
      'há 2 min.',
      'há 2 h',
      'ontem',
      'em 10 min.',
    ]);
  });
});

/** Posts with the given headers; fetch would set Host by itself. */
function rawPost(headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      `http://127.0.0.1:${app.port}/demo/dashboard/payouts`,
      { method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    sent.once('error', reject);
    sent.end('{}');
  });
}

/** Reads JSON with headers that fetch sets by itself. */
async function rawGet(path: string, headers: Record<string, string>, { port }: TestApp) {
  const sent = httpRequest(`http://127.0.0.1:${port}${path}`, { headers }).end();
  const [response] = await once(sent, 'response');
  return json(response) as Promise<{ products: { tokens: { redirect: string } }[] }>;
}

describe('the chart of the day', () => {
  test.each([
    [100, 100],
    [1_000_000_000, 1],
    [30_000, 2_000_000],
    [0, 700],
    [700, 0],
    [0, 0],
  ])('the bars of %i in and %i out are on one scale, and fit', (inCents, outCents) => {
    const { zero, heightOf } = chartScale(inCents, outCents);
    expect(heightOf(inCents)).toBeLessThanOrEqual(zero);
    expect(heightOf(outCents)).toBeLessThanOrEqual(HEIGHT - zero);
    const largest = Math.max(inCents, outCents);
    expect(heightOf(largest)).toBeGreaterThanOrEqual(largest === 0 ? 0 : HEIGHT / 5);
    // A bar's height is its amount, in either direction, and the smallest is still visible.
    for (const cents of [inCents, outCents].filter((each) => each > 0))
      expect(heightOf(cents)).toBeCloseTo(Math.max(1.5, (heightOf(largest) * cents) / largest), 6);
  });

  test('an edge is named by the amount that is there, and by none where the half ends beyond it', () => {
    expect(chartScale(900, 900)).toMatchObject({ zero: 80, topCents: 1_000, bottomCents: 1_000 });
    expect(chartScale(27_740, 15_000)).toMatchObject({ topCents: 50_000, bottomCents: 20_000 });
    expect(chartScale(1_000_000_000, 200_000)).toMatchObject({ topCents: 1_000_000_000, bottomCents: null });
    expect(chartScale(0, 0)).toMatchObject({ topCents: null, bottomCents: null });
  });

  test('the day and its hours are those of Brasília, as the times of the rows are, wherever the browser is', () => {
    const zone = process.env.TZ;
    onTestFinished(() => {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    });
    const now = new Date('2026-03-02T15:30:00.250Z');
    const movements = [
      { at: new Date('2026-03-02T02:59:59.999Z'), cents: 1 },
      { at: new Date('2026-03-02T03:00:00.000Z'), cents: 20 },
      { at: new Date('2026-03-02T15:29:00.000Z'), cents: 300 },
      { at: new Date('2026-03-02T15:29:30.000Z'), cents: -4_000 },
    ];
    for (const browser of ['Asia/Tokyo', 'America/Sao_Paulo', 'Pacific/Kiritimati', 'UTC']) {
      process.env.TZ = browser;
      const moved = totalsByHour(movements, now).filter(({ inCents, outCents }) => inCents + outCents > 0);
      expect(moved, browser).toEqual([
        { hour: 0, inCents: 20, outCents: 0 },
        { hour: 12, inCents: 300, outCents: 4_000 },
      ]);
      expect(new Date(startOfDay(now)).toISOString()).toBe('2026-03-02T03:00:00.000Z');
      expect(hoursOfDay(now)).toBeCloseTo(12.5, 3);
    }
  });
});
