import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { formatRelative, formatTime, parseCents, parseLitoshi } from '../../../widget/demo/shared/format.ts';
import { LIVE_KEY, startApp, type TestApp } from '../../support/app.ts';
import { createClient } from '../../support/graphql.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app?.close();
  expect(app?.faults).toEqual([]);
});

async function post(path: string, input: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: app.url, ...headers },
    body: JSON.stringify(input),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

test('the pages know of the account whether its money is real, and whether the server has the console', async () => {
  const load = async (server: TestApp) => (await fetch(`${server.url}/demo/account.json`)).json();
  expect(await load(app)).toEqual({ simulated: true, console: true });
  const leadsTo = async (server: TestApp) => {
    const answer = await fetch(`${server.url}/demo/dashboard`, { redirect: 'manual' });
    return [answer.status, answer.headers.get('location')];
  };
  // Earlier versions had a page of the account at this address.
  expect(await leadsTo(app)).toEqual([307, '/console']);
  const plain = await startApp({ environment: { PSA_CONSOLE: 'off' } });
  onTestFinished(() => plain.close());
  expect(await load(plain)).toEqual({ simulated: true, console: false });
  expect(await leadsTo(plain)).toEqual([404, null]);
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
      // The shop's tokens are minted again after a day.
      app.clock.advance(86_400_000);
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
      body: { endpoint: '/graphql', simulated: true, console: true, products: [] },
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

describe('the demo’s pages', () => {
  test.each(['/simulator/', '/demo/'])('the policy of %s forbids other origins', async (path) => {
    const response = await fetch(`${app.url}${path}`);

    expect(response.status).toBe(200);
    const policy = response.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
  });

  test.each([...['/demo/', '/demo/gallery', '/demo/gallery-board', '/demo/thank-you'], '/simulator/'])(
    'without JavaScript %s says that it is needed',
    async (path) => {
      const page = await (await fetch(`${app.url}${path}`)).text();
      expect(page).toMatch(/<noscript>.*JavaScript.*<\/noscript>/);
    },
  );

  test('the demo’s pages link to each other', async () => {
    for (const path of ['/demo/', '/simulator/']) {
      const page = await (await fetch(`${app.url}${path}`)).text();
      for (const link of ['/demo/', '/console', '/simulator/']) expect(page).toContain(`href="${link}"`);
    }
  });

  test('the simulator is found with a slash too few', async () => {
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

describe('amounts and times', () => {
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

/** Reads JSON with headers that fetch sets by itself. */
async function rawGet(path: string, headers: Record<string, string>, { port }: TestApp) {
  const sent = httpRequest(`http://127.0.0.1:${port}${path}`, { headers }).end();
  const [response] = await once(sent, 'response');
  return json(response) as Promise<{ products: { tokens: { redirect: string } }[] }>;
}
