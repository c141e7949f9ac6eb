import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { approved } from '../../support/cards.ts';
import type { GraphQLClient } from '../../support/graphql.ts';
import { live, startNamed, there } from '../../support/named-families.ts';
import { type Service, startService } from '../../support/pair.ts';
import type { RestClient } from '../../support/rest.ts';

// The language that a merchant gives to a resource is the language of the page behind each of its addresses.

const ERRORS = '... on UserError { code message } ... on ValidationError { fields { path } }';
const SHOWN = 'checkoutUrl language';

/** Each operation that leads to a page: its input, the member of its answer, its lookup, and its path in REST. */
const CREATED = {
  createCardPayment: {
    input: { valueCents: 4990 },
    answer: `... on CreateCardPaymentSuccess { made: cardPayment { id: orderCode ${SHOWN} } }`,
    query: `query ($id: String!) { found: cardPayment(orderCode: $id) { id: orderCode ${SHOWN} } }`,
    path: '/card-payments',
  },
  createPayment: {
    input: { valueCents: 4990 },
    answer: `... on CreatePaymentSuccess { made: payment { id: paymentId ${SHOWN} } }`,
    query: `query ($id: String!) { found: payment(paymentId: $id) { id: paymentId ${SHOWN} } }`,
    path: '/payments',
  },
  createCharge: {
    input: { valueCents: 4990 },
    answer: `... on CreateChargeSuccess { made: charge { id: chargeId ${SHOWN} } }`,
    query: `query ($id: String!) { found: charge(chargeId: $id) { id: chargeId ${SHOWN} } }`,
    path: '/charges',
  },
  createSubscription: {
    input: { valueCents: 4990, interval: 'MONTHLY' },
    answer: `... on CreateSubscriptionSuccess { made: subscription { id: subscriptionId ${SHOWN} } }`,
    query: `query ($id: String!) { found: subscription(subscriptionId: $id) { id: subscriptionId ${SHOWN} } }`,
    path: '/subscriptions',
  },
} as const;
type Operation = keyof typeof CREATED;
const OPERATIONS = Object.keys(CREATED) as Operation[];

const documentOf = (operation: Operation) =>
  `mutation ($input: ${operation[0]!.toUpperCase()}${operation.slice(1)}Input!) { ${operation}(input: $input) {
    __typename ${CREATED[operation].answer} ${ERRORS} } }`;
const create = async (client: GraphQLClient, operation: Operation, input: object) =>
  (await client.request(documentOf(operation), { input: { ...CREATED[operation].input, ...input } }))[
    operation
  ];
const find = async (client: GraphQLClient, operation: Operation, id: string) =>
  (await client.request(CREATED[operation].query, { id })).found;

const MINT = `mutation ($input: CreateCheckoutTokenInput!) { createCheckoutToken(input: $input) {
  __typename ... on CreateCheckoutTokenSuccess { token } ${ERRORS} } }`;
const mint = async (client: GraphQLClient, input: object) =>
  (await client.request(MINT, { input: { amount: { fixedCents: 4990 }, ...input } })).createCheckoutToken;
const START = `mutation ($input: StartCheckoutInput!) { startCheckout(input: $input) {
  ... on StartCheckoutSuccess { made: cardPayment { id: orderCode ${SHOWN} } } ${ERRORS} } }`;
const START_PIX = `mutation ($input: StartCheckoutInput!) { startPixCheckout(input: $input) {
  ... on StartPixCheckoutSuccess { made: payment { id: paymentId ${SHOWN} } } ${ERRORS} } }`;

/** The language of a page, opened by a payer with an English browser. */
async function languageAt(url: string): Promise<string | null> {
  const response = await fetch(url, { headers: { 'accept-language': 'en', accept: 'text/html' } });
  await response.text();
  return response.headers.get('content-language');
}

describe('a language that a merchant gives', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(async () => {
    expect(app.faults).toEqual([]);
    await app.close();
  });

  async function merchant(): Promise<{ tenant: Tenant; client: GraphQLClient; rest: RestClient }> {
    const tenant: Tenant = { accountId: await addAccount(app), environment: 'live' };
    const key = await addKey(app, tenant);
    return { tenant, client: app.client(key), rest: app.rest(key) };
  }

  async function languagesOf({ checkoutUrl }: { checkoutUrl: string }) {
    return [await languageAt(checkoutUrl), await languageAt(`${checkoutUrl}?lang=pt-BR`)];
  }

  test.each(OPERATIONS)('The page of %s is in it, and the answers show it', async (operation) => {
    const { client, rest } = await merchant();
    const { path } = CREATED[operation];
    for (const [name, tag] of [
      ['ES', 'es'],
      ['PT_BR', 'pt-BR'],
    ]) {
      const { made } = await create(client, operation, { language: name });
      expect(made).toEqual({ id: made.id, checkoutUrl: `${app.url}/checkout/${made.id}`, language: name });
      expect(await find(client, operation, made.id)).toEqual(made);
      expect((await rest.get(`${path}/${made.id}`)).body).toMatchObject({
        language: tag,
        checkoutUrl: made.checkoutUrl,
      });
      expect(await languagesOf(made)).toEqual([tag, 'pt-BR']);
    }
    const { made: without } = await create(client, operation, {});
    expect(without.language).toBeNull();
    expect((await rest.get(`${path}/${without.id}`)).body.language).toBeNull();
    expect(await languagesOf(without)).toEqual(['en', 'pt-BR']);
  });

  test.each(OPERATIONS)(
    'Over REST %s takes its tag, and refuses any other text by its name',
    async (operation) => {
      const { client, rest } = await merchant();
      const { path, input } = CREATED[operation];
      const body = 'interval' in input ? { ...input, interval: 'monthly' } : input;
      const made = await rest.post(path, { ...body, language: 'es' });
      expect(made.status).toBe(201);
      expect(await languagesOf(made.body)).toEqual(['es', 'pt-BR']);
      const id = new URL(made.body.checkoutUrl).pathname.split('/').at(-1)!;
      expect(await find(client, operation, id)).toMatchObject({ language: 'ES' });
      for (const language of ['ES', 'pt', 'fr', '', 1])
        expect(await rest.post(path, { ...body, language })).toMatchObject({
          status: 400,
          body: { error: 'language: must be one of pt-BR, en, es' },
        });
      expect((await rest.post(path, { ...body, language: null })).status).toBe(201);
      const { body: refused } = await client.send(documentOf(operation), {
        input: { ...input, language: 'FR' },
      });
      expect(refused.errors[0].message).toContain('input.language');
    },
  );

  test.each(OPERATIONS)('It is a part of what %s compares under one idempotency key', async (operation) => {
    const { client } = await merchant();
    const keyed = (input: object) => create(client, operation, { idempotencyKey: 'pedido-1', ...input });
    const { made } = await keyed({ language: 'ES' });
    expect((await keyed({ language: 'ES' })).made).toEqual(made);
    for (const input of [{ language: 'EN' }, {}])
      expect(await keyed(input)).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  test('The page of a payment by LTC is in it, too', async () => {
    const { client } = await merchant();
    const { made } = await create(client, 'createPayment', { method: 'LTC', language: 'ES' });
    expect(made.language).toBe('ES');
    expect(await languagesOf(made)).toEqual(['es', 'pt-BR']);
  });

  test('The payments of a checkout token have the language of the token, by either method', async () => {
    const { client, rest } = await merchant();
    const { token } = await mint(client, { methods: ['CARD', 'PIX'], language: 'ES' });
    const input = { attemptId: 'tentativa-000000000000001' };
    const page = app.client(token);
    const [card, pix] = [
      (await page.request(START, { input })).startCheckout.made,
      (await page.request(START_PIX, { input })).startPixCheckout.made,
    ];
    for (const made of [card, pix]) {
      expect(made.language).toBe('ES');
      expect(await languagesOf(made)).toEqual(['es', 'pt-BR']);
    }
    expect((await rest.get(`/card-payments/${card.id}`)).body.language).toBe('es');
    expect((await rest.get(`/payments/${pix.id}`)).body.language).toBe('es');
  });

  test('Tokens of one order may differ in their language, and its open payment keeps that of the first', async () => {
    const { client } = await merchant();
    const order = { externalId: '1042', methods: ['CARD', 'PIX'] };
    const pages: GraphQLClient[] = [];
    for (const language of ['ES', 'EN', null])
      pages.push(app.client((await mint(client, { ...order, language })).token));
    const payments: { id: string; language: string }[] = [];
    for (const [index, page] of pages.entries()) {
      const input = { attemptId: `tentativa-00000000000000${index}` };
      payments.push((await page.request(START, { input })).startCheckout.made);
    }
    expect(payments).toEqual(Array(3).fill(payments[0]));
    expect(payments[0]!.language).toBe('ES');
    // Another method has a payment of its own, in the language of the token that starts it.
    const input = { attemptId: 'tentativa-000000000000009' };
    expect((await pages[1]!.request(START_PIX, { input })).startPixCheckout.made.language).toBe('EN');
    expect(await mint(client, { ...order, amount: { fixedCents: 4991 } })).toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
  });

  test('The payment of a cycle has the language of its subscription', async () => {
    const { client, rest } = await merchant();
    const { made } = await create(client, 'createSubscription', { language: 'ES' });
    await app.pix.pay({ txid: txidOf(made.id) });
    await app.work.settled();
    const [cycle] = (await rest.get(`/subscriptions/${made.id}`)).body.cycles.slice(-1);
    const { body } = await rest.get(`/payments/${cycle.paymentId}`);
    expect(body).toMatchObject({ status: 'paid', language: 'es' });
    expect(await languageAt(body.checkoutUrl)).toBe('es');
  });
});

describe('a language in front of another service', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(async () => {
    expect(service.app.faults).toEqual([]);
    await service.app.close();
  });

  /** The table in which the service stores each resource that was created through the facade. */
  const TABLES = {
    createCardPayment: ['card_payment', 'order_code'],
    createPayment: ['payment', 'payment_id'],
    createCharge: ['charge', 'charge_id'],
    createSubscription: ['pix_subscription', 'subscription_id'],
  } as const;
  async function languageThere(operation: Operation, id: string) {
    const [table, column] = TABLES[operation];
    const { rows } = await sql<{ language: string | null }>`
      select language from ${sql.table(table)} where ${sql.ref(column)} = ${id}`.execute(
      service.app.database.sql,
    );
    return rows.map(({ language }) => language);
  }

  test.each(OPERATIONS)('What %s makes keeps it at the facade, whose address names it', async (operation) => {
    const pair = await startNamed(service, 'payments,charges,subscriptions');
    const { made } = await create(live(pair), operation, { language: 'ES' });
    const url = `${service.app.url}/checkout/${made.id}`;
    expect(made).toEqual({ id: made.id, checkoutUrl: `${url}?lang=es`, language: 'ES' });
    expect(await languageThere(operation, made.id)).toEqual([null]);
    expect(await languageAt(made.checkoutUrl)).toBe('es');
    expect(await languageAt(url)).toBe('en');
    // The service's own state has no language, and does not remove the stored one.
    await pair.pass(60_000);
    expect(await find(live(pair), operation, made.id)).toEqual(made);

    const { made: without } = await create(live(pair), operation, {});
    expect(without).toEqual({
      id: without.id,
      checkoutUrl: `${service.app.url}/checkout/${without.id}`,
      language: null,
    });
    const keyed = (input: object) => create(live(pair), operation, { idempotencyKey: 'pedido-1', ...input });
    await keyed({ language: 'ES' });
    expect(await keyed({ language: 'EN' })).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
    expect(pair.facade.faults).toEqual([]);
  });

  test('A payment of a token has the token’s language, also once a webhook has changed it', async () => {
    const pair = await startNamed(service, '');
    const { token } = await mint(live(pair), { language: 'ES' });
    const page = pair.facade.client(token);
    const input = { attemptId: 'tentativa-000000000000001' };
    const { made } = (await page.request(START, { input })).startCheckout;
    // The element names its language in this address, as in an address of this server.
    expect(made).toMatchObject({ language: 'ES', checkoutUrl: `${service.app.url}/checkout/${made.id}` });
    await service.app.cardPayments.pay(made.id, approved());
    await pair.settled();
    expect(await find(live(pair), 'createCardPayment', made.id)).toEqual({
      ...made,
      checkoutUrl: `${made.checkoutUrl}?lang=es`,
    });
    const again = (await page.request(START, { input })).startCheckout;
    expect(again.made).toEqual(made);
    expect((await service.app.cardPayments.find(there(pair), made.id))?.language).toBeNull();
  });
});
