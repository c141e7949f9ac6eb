import fc from 'fast-check';
import { isInputObjectType } from 'graphql';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../server/src/graphql/schema.ts';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import { txidOf } from '../../server/src/pix/model.ts';
import { addAccount, addKey } from '../support/accounts.ts';
import { LIVE_KEY, startApp, TEST_KEY, type TestApp } from '../support/app.ts';
import { type Bad, badInput, type Field } from '../support/bad-input.ts';
import { FILTERS } from '../support/filter-input.ts';
import { createClient, type GraphQLClient } from '../support/graphql.ts';
import { createRestClient, type RestClient } from '../support/rest.ts';
import { scale } from '../support/scale.ts';

// One field of one operation at a time is bad, the others are good. Whatever it is, the answer names the field,
// it is no internal fault, and nothing has changed.

const CASES = scale('BAD_INPUTS');
const CPF = '12345678909';
const HEX = '0123456789abcdef01234567';

interface Operation {
  name: string;
  fields: Record<string, { field: Field; required?: boolean }>;
  /** Sends it with these fields. Returns the refusal in words; null where it was let through. */
  send(values: Record<string, unknown>): Promise<{ refusal: string | null; fault: boolean }>;
}

let app: TestApp;
let operations: Operation[];

beforeAll(async () => {
  app = await startApp({ environment: { PSA_GRAPHQL_LIMIT: '1000000' } });
  operations = [...rest(await idsOf()), ...graphql(await idsOf())];
}, 60_000);
afterAll(() => app.close());

test(`bad input of any kind is refused by its name and changes nothing (${CASES} cases)`, async () => {
  const before = await digest();
  let cases = 0;
  const one = fc
    .constantFrom(
      ...operations.flatMap((operation) =>
        Object.keys(operation.fields).map((name) => ({ operation, name })),
      ),
    )
    .chain(({ operation, name }) => {
      const { field, required = false } = operation.fields[name]!;
      return badInput(field, required).map((bad) => ({ operation, name, bad }));
    });
  await fc.assert(
    fc.asyncProperty(one, async ({ operation, name, bad }) => {
      cases += 1;
      const { refusal, fault } = await operation.send(valuesOf(operation, name, bad));
      const what = `${operation.name} ${name}: ${bad.why} ${JSON.stringify(bad.value)} → ${refusal}`;
      expect(fault, what).toBe(false);
      expect(refusal, what).not.toBeNull();
      if (!bad.absent) expect(refusal, what).toContain(name);
    }),
    { numRuns: CASES, endOnFailure: true },
  );
  expect(cases).toBeGreaterThanOrEqual(CASES);
  expect(await digest()).toEqual(before);
  expect(app.faults).toEqual([]);
});

describe('good input', () => {
  test('Each member of a filter has a row', () => {
    const filters = Object.values(schema.getTypeMap())
      .filter(isInputObjectType)
      .filter(({ name }) => name.endsWith('Filter') && name !== 'CustomerFilter');
    const rows = Object.entries(FILTERS).map(([name, { fields, ofList }]) => [
      name,
      Object.keys({ ...fields, ...ofList }).sort(),
    ]);
    expect(rows.sort()).toEqual(
      filters.map((type) => [type.name, Object.keys(type.getFields()).sort()]).sort(),
    );
  });

  test('A filter whose period is empty is refused, and the error names the end of the period', async () => {
    const before = await digest();
    for (const { name, fields, send } of operations.filter((each) => each.name.endsWith(' by filter')))
      for (const end of Object.keys(fields).filter((each) => each.endsWith('Before'))) {
        const begin = end.replace(/Before$/, 'After');
        for (const at of ['2026-01-01T00:00:00.000Z', '2025-12-31T23:59:59.999Z']) {
          const { refusal } = await send({ [begin]: '2026-01-01T00:00:00Z', [end]: at });
          expect(refusal, name).toContain(`filter.${end}: must be later than ${begin}`);
        }
        const { refusal } = await send({
          [begin]: '2026-01-01T00:00:00Z',
          [end]: '2026-01-01T00:00:00.001Z',
        });
        expect(refusal, name).toBeNull();
      }
    expect(await digest()).toEqual(before);
  });

  test('Every operation accepts the valid input that each bad case differs from', async () => {
    for (const operation of operations) {
      const { refusal } = await operation.send(valuesOf(operation, '', { why: '', value: undefined }));
      expect(refusal, operation.name).toBeNull();
    }
  });
});

function valuesOf({ fields }: Operation, name: string, bad: Bad): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([each, { field }]) => [each, each === name ? bad.value : field.valid]),
  );
}

/** A snapshot of everything: a case that changes anything changes this. */
async function digest(): Promise<unknown> {
  const { rows } = await sql`
    select (select count(*) from event) as events, (select sum(version) from stream) as versions,
      (select count(*) from posting) as postings, (select count(*) from task) as tasks,
      (select count(*) from token) as tokens, (select count(*) from idempotency) as keys,
      (select count(*) from product) as products, (select count(*) from delivery where deleted_at is null) as content, (select count(*) from subaccount) as subaccounts,
      (select count(*) from payout) as payouts, (select count(*) from subaccount_payout) as subaccount_payouts,
      (select count(*) from payment) as payments, (select count(*) from charge) as charges, (select count(*) from refund) as refunds,
      (select sum(version) from dispute) as disputes,
      (select count(*) from simulated_pix_code) as codes, (select count(*) from webhook_endpoint) as endpoints, (select count(*) from webhook_delivery) as deliveries
  `.execute(app.database.sql);
  return rows;
}

// ── What there is ───────────────────────────────────────────────────────────────────────────────

type Name =
  | 'subaccount'
  | 'payout'
  | 'subaccountPayout'
  | 'card'
  | 'payment'
  | 'charge'
  | 'subscription'
  | 'product'
  | 'dispute'
  | 'delivery';
type Ids = Record<'own' | 'foreign' | 'sandbox', Record<Name, string>>;

/** Ids of each kind: one of our own, one of another account, and one of our sandbox where there is any. */
async function idsOf(): Promise<Ids> {
  const accountId = await addAccount(app);
  const foreign = createRestClient(app.url, await addKey(app, { accountId }));
  const [first] = await app.database.sql.selectFrom('account').select('id').orderBy('created_at').execute();
  for (const id of [first!.id, accountId])
    await app.controls.credit({ accountId: id, environment: 'live' }, 100_000_000);
  const own = await make(createRestClient(app.url, LIVE_KEY), first!.id);
  const sandbox = createRestClient(app.url, TEST_KEY);
  await sandbox.post('/sandbox/payments', { valueCents: 1_000_000 });
  const { subaccount, payout, payment, charge, subscription, product, delivery } = {
    subaccount: (await sandbox.post('/subaccounts', { name: 'Teste' })).body.id,
    payout: (await sandbox.post('/payouts', { amount: 100, method: 'pix', walletAddress: CPF })).body.id,
    payment: await paid(sandbox, { accountId: first!.id, environment: 'sandbox' }),
    charge: await charged(sandbox, { accountId: first!.id, environment: 'sandbox' }),
    subscription: await subscribed(sandbox),
    ...(await sold(sandbox)),
  };
  const theirs = await make(foreign, accountId);
  await app.work.settled();
  app.clock.advance(3_600_000);
  await app.work.settled();
  return {
    own,
    foreign: theirs,
    sandbox: { ...theirs, subaccount, payout, payment, charge, subscription, product, delivery },
  };
}

/** A payment by PIX that is paid, and can be refunded. */
async function paid(client: RestClient, tenant: Tenant): Promise<string> {
  const { paymentId } = (await client.post('/payments', { valueCents: 1_000_000 })).body;
  await app.pix.pay({ txid: txidOf(paymentId) });
  await app.payments.receive(tenant, paymentId);
  return paymentId;
}

/** A charge that is paid, and can be refunded. */
async function charged(client: RestClient, tenant: Tenant): Promise<string> {
  const { chargeId } = (await client.post('/charges', { valueCents: 1_000_000 })).body;
  await app.pix.pay({ txid: txidOf(chargeId) });
  await app.charges.receive(tenant, chargeId);
  return chargeId;
}

/** A product with content. */
async function sold(client: RestClient) {
  const product = (await client.post('/products', { name: 'Caneca', priceCents: 4990 })).body.id;
  const content = { text: 'Obrigada!' };
  const delivery = (await client.post('/deliveries', { productId: product, content })).body.deliveryId;
  return { product, delivery };
}

async function subscribed(client: RestClient): Promise<string> {
  return (await client.post('/subscriptions', { valueCents: 4990, interval: 'weekly' })).body.subscriptionId;
}

async function make(client: RestClient, accountId: string): Promise<Record<Name, string>> {
  const subaccount = (await client.post('/subaccounts', { name: 'Ana' })).body.id;
  await client.post(`/subaccounts/${subaccount}/transfers`, { amountCents: 10_000_000 });
  const requested = await client.post(`/subaccounts/${subaccount}/payout`, {
    amountCents: 10_000,
    pixKey: CPF,
  });
  return {
    subaccount,
    subaccountPayout: requested.body.code,
    payout: (await client.post('/payouts', { amount: 100, method: 'pix', walletAddress: CPF })).body.id,
    card: (await client.post('/card-payments', { valueCents: 4990 })).body.orderCode,
    payment: await paid(client, { accountId, environment: 'live' }),
    charge: await charged(client, { accountId, environment: 'live' }),
    subscription: await subscribed(client),
    ...(await sold(client)),
    dispute: await app.controls.openDispute({ accountId, environment: 'live' }, { amountCents: 100 }),
  };
}

const MALFORMED: Record<Name, string[]> = {
  dispute: ['x', 'dsp_', `dsp_${HEX.slice(0, 23)}`, `dsp_${HEX}0123456789`, `DSP_${HEX}`, "dsp_' or 1=1"],
  subaccount: ['sacc_', `sacc_${HEX}`, `SACC_${HEX}01234567`, `sacc_${HEX}0123456g`, "sacc_' or 1=1"],
  payout: ['x', HEX.slice(1), `${HEX}0`, HEX.toUpperCase()],
  subaccountPayout: ['x', 'TURBO', 'saq_idem_', 'SUB', `saq_idem_${'k'.repeat(129)}`],
  card: ['x', 'PSC-', 'psc-000000000000000000000000', 'PSC-00000000000000000000000!'],
  payment: [
    ...['x', 'psa_', `psa_${HEX}0123456`, `psa_${HEX}012345678`, `psa_${HEX}0123456g`, `PSA_${HEX}01234567`],
    ...[`psa_${HEX}0123456A`, `psa_sub_${HEX}01234567`, `psc_${HEX}01234567`],
  ],
  charge: [
    ...[
      'x',
      'psc_',
      `psc_${HEX}0123456`,
      `psplit_${HEX}012345678`,
      `psc_${HEX}0123456g`,
      `PSC_${HEX}01234567`,
    ],
    ...[`psc_${HEX}0123456A`, `psa_${HEX}01234567`, `psc_split_${HEX}01234567`],
  ],
  subscription: [
    ...['x', 'psa_sub_', `psa_sub_${HEX}0123456`, `psa_sub_${HEX}012345678`, `psa_sub_${HEX}0123456A`],
    `psa_${HEX}01234567`,
  ],
  product: ['x', HEX.slice(1), `${HEX}0`, HEX.toUpperCase()],
  delivery: ['x', HEX.slice(1), `${HEX}0`, HEX.toUpperCase()],
};

const idOf = (ids: Ids, name: Name): Field => ({
  kind: 'id',
  valid: ids.own[name],
  malformed: MALFORMED[name],
  others: [ids.foreign[name], ids.sandbox[name]],
});

const CARD_DETAILS = {
  description: { field: { kind: 'text', valid: 'Caneca', max: 200 } },
  callbackUrl: { field: { kind: 'url', valid: 'https://loja.example/hook' } },
  metadata: { field: { kind: 'metadata', valid: '{"a":1}' } },
  externalId: { field: { kind: 'printable', valid: 'pedido-1', max: 100 } },
  successUrl: { field: { kind: 'url', valid: 'https://loja.example/ok' } },
  cancelUrl: { field: { kind: 'url', valid: 'https://loja.example/' } },
  customer: { field: { kind: 'object', valid: { name: 'Ana' } } },
} satisfies Operation['fields'];
/** The words of a language are others over GraphQL. */
const LANGUAGE = { field: { kind: 'choice', valid: 'es' } } as const;
const GRAPHQL_LANGUAGE = { field: { kind: 'choice', valid: 'ES' } } as const;
const VALUE = {
  field: { kind: 'cents', valid: 4990, min: 80, max: 10_000_000_000 },
  required: true,
} as const;
const { callbackUrl: _, externalId: __, ...SUBSCRIPTION_DETAILS } = CARD_DETAILS;
/** A subscription, but for its interval, whose words are others over GraphQL. */
const SUBSCRIPTION = {
  valueCents: { field: { kind: 'cents', valid: 4990, max: 10_000_000_000 }, required: true },
  endsAfterCycles: { field: { kind: 'cents', valid: 12, max: 520 } },
  ...SUBSCRIPTION_DETAILS,
} satisfies Operation['fields'];
const TEST_VALUE = { field: { kind: 'cents', valid: 4990, max: 10_000_000_000 }, required: true } as const;
const AMOUNT = { field: { kind: 'cents', valid: 10_000 }, required: true } as const;
const NAME = { field: { kind: 'text', valid: 'Ana', max: 200 }, required: true } as const;
const EXTERNAL_ID = { field: { kind: 'text', valid: 'a1', max: 200 } } as const;
const PIX_KEY = { field: { kind: 'destination', valid: CPF }, required: true } as const;
const PRODUCT = {
  name: { field: { kind: 'text', valid: 'Copo', max: 200 }, required: true },
  description: { field: { kind: 'text', valid: 'Azul', max: 2_000 } },
  priceCents: { field: { kind: 'cents', valid: 990 }, required: true },
} satisfies Operation['fields'];
const KEY = { field: { kind: 'key', valid: 'chave-1' } } as const;
/** In upper case the id of a product is well formed. */
const productOf = ({ own, foreign, sandbox }: Ids): Field => ({
  kind: 'id',
  valid: own.product,
  malformed: MALFORMED.product.slice(0, -1),
  others: [foreign.product, sandbox.product],
});
const contentOf = (valid: object) =>
  ({ content: { field: { kind: 'content', valid }, required: true } }) satisfies Operation['fields'];
const PIX_VALUE = {
  field: { kind: 'cents', valid: 4990, min: 1, max: 10_000_000_000 },
  required: true,
} as const;
const CHARGED = {
  valueCents: PIX_VALUE,
  description: CARD_DETAILS.description,
  metadata: CARD_DETAILS.metadata,
  expiresInSeconds: { field: { kind: 'cents', valid: 3_600, min: 60, max: 2_592_000 } },
} satisfies Operation['fields'];
/** The valid case refunds a part of the payment, whose whole amount is the most. */
const REFUND = {
  amountCents: { field: { kind: 'cents', valid: 100, min: 1, max: 1_000_000 } },
  reason: { field: { kind: 'text', valid: 'Um item', max: 140 } },
} satisfies Operation['fields'];

/** The valid case is submitted once: all of them have one key. */
const EVIDENCE = {
  text: { field: { kind: 'text', valid: 'Entregue', max: 4_000 }, required: true },
} satisfies Operation['fields'];

// ── REST ────────────────────────────────────────────────────────────────────────────────────────

function rest(ids: Ids): Operation[] {
  const KEY = { field: { kind: 'key', valid: 'chave-rest' } } as const;
  const live = createRestClient(app.url, LIVE_KEY);
  const sandbox = createRestClient(app.url, TEST_KEY);
  const post = (path: string, fields: Operation['fields'], client = live): Operation => ({
    name: `POST ${path}`,
    fields,
    async send(values) {
      const { id, ...body } = values;
      // What has no place in a path is no request at all.
      if (id === undefined || typeof id === 'string')
        return sent(client.post(path.replace('{id}', segment(id)), body));
      return sent(client.post(path.replace('{id}', encodeURIComponent(JSON.stringify(id))), body));
    },
  });
  const get = (path: string, name: Name, parameter: string, method = 'GET'): Operation => ({
    name: `${method} ${path}`,
    fields: { [parameter]: { field: idOf(ids, name), required: false } },
    send: (values) =>
      sent(
        live.send(
          path.replace(`{${parameter}}`, segment(values[parameter])).replace('{id}', ids.own.subaccount),
          { method },
        ),
      ),
  });
  const list = (path: string, client = live): Operation[] =>
    (['limit', 'offset'] as const).map((parameter) => ({
      name: `GET ${path}`,
      fields: {
        [parameter]: { field: { kind: 'cents', valid: 7, ...(parameter === 'limit' ? { max: 100 } : {}) } },
      },
      send: async (values) => {
        const value = values[parameter];
        // In a query every value is text: these two are good there.
        if (value === '100' || (value === 0 && parameter === 'offset'))
          return { refusal: parameter, fault: false };
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        return sent(client.get(`${path}?${parameter}=${encodeURIComponent(text)}`));
      },
    }));

  return [
    post('/card-payments', {
      ...{ valueCents: VALUE, ...CARD_DETAILS, language: LANGUAGE, idempotencyKey: KEY },
    }),
    post('/payments', {
      ...{ valueCents: PIX_VALUE, ...CARD_DETAILS, language: LANGUAGE, idempotencyKey: KEY },
      method: { field: { kind: 'choice', valid: 'pix' } },
    }),
    post('/payments', {
      productId: { field: productOf(ids), required: true },
      idempotencyKey: { field: { kind: 'key', valid: 'chave-produto-rest' } },
    }),
    post('/payments/{id}/refunds', {
      ...{ id: { field: idOf(ids, 'payment') }, ...REFUND },
      idempotencyKey: { field: { kind: 'key', valid: 'chave-estorno' } },
    }),
    post('/charges', { ...CHARGED, language: LANGUAGE, idempotencyKey: KEY }),
    post('/charges/{id}/refunds', {
      ...{ id: { field: idOf(ids, 'charge') }, ...REFUND },
      idempotencyKey: { field: { kind: 'key', valid: 'chave-estorno-cobranca' } },
    }),
    post('/disputes/{id}/evidence', {
      ...{ id: { field: idOf(ids, 'dispute') }, ...EVIDENCE },
      idempotencyKey: { field: { kind: 'key', valid: 'chave-prova-rest' } },
    }),
    post('/subscriptions', {
      ...{ ...SUBSCRIPTION, language: LANGUAGE, idempotencyKey: KEY },
      interval: { field: { kind: 'choice', valid: 'monthly' }, required: true },
    }),
    post('/payouts', {
      amount: { field: { kind: 'reais', valid: 10 }, required: true },
      method: { field: { kind: 'choice', valid: 'pix' }, required: true },
      walletAddress: PIX_KEY,
      idempotencyKey: KEY,
    }),
    post('/subaccounts', { name: NAME, externalId: EXTERNAL_ID }),
    post('/subaccounts/{id}/transfers', {
      id: { field: idOf(ids, 'subaccount') },
      amountCents: AMOUNT,
      idempotencyKey: KEY,
    }),
    post('/subaccounts/{id}/payout', {
      id: { field: idOf(ids, 'subaccount') },
      amountCents: AMOUNT,
      pixKey: PIX_KEY,
      idempotencyKey: KEY,
    }),
    post('/products', PRODUCT),
    post('/deliveries', {
      productId: { field: productOf(ids), required: true },
      ...contentOf({ text: 'Obrigada!' }),
      idempotencyKey: { field: { kind: 'key', valid: 'chave-entrega-rest' } },
    }),
    get('/deliveries/{id}', 'delivery', 'id', 'DELETE'),
    post(
      '/sandbox/payments',
      { valueCents: TEST_VALUE, pending: { field: { kind: 'flag', valid: false } } },
      sandbox,
    ),
    get('/card-payments/{orderCode}', 'card', 'orderCode'),
    get('/payments/{id}', 'payment', 'id'),
    get('/charges/{id}', 'charge', 'id'),
    get('/disputes/{id}', 'dispute', 'id'),
    get('/subscriptions/{id}', 'subscription', 'id'),
    get('/payouts/{id}', 'payout', 'id'),
    get('/subaccounts/{id}', 'subaccount', 'id'),
    get('/subaccounts/{id}/statement', 'subaccount', 'id'),
    get('/subaccounts/{id}/payouts/{payoutId}', 'subaccountPayout', 'payoutId'),
    get('/products/{id}', 'product', 'id'),
    ...[
      '/card-payments',
      '/payments',
      '/charges',
      '/payouts',
      '/subaccounts',
      '/products',
      '/disputes',
      '/deliveries',
      '/store/products',
    ].flatMap((path) => list(path)),
  ];
}

const segment = (value: unknown) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? '');
  // Half of a surrogate pair has no place in a URL: what a client sends of it is its replacement.
  return text === '' ? '%20' : encodeURIComponent(text.toWellFormed());
};

async function sent(
  answer: ReturnType<RestClient['get']>,
): Promise<{ refusal: string | null; fault: boolean }> {
  const { status, body, headers } = await answer;
  if (Number(headers.get('ratelimit-remaining') ?? 120) < 2) app.clock.advance(60_000);
  if (status < 300) return { refusal: null, fault: false };
  return {
    refusal:
      status === 404 ? `id orderCode payoutId productId deliveryId 404 ${body.error}` : `${body.error}`,
    fault: status >= 500 || status === 429,
  };
}

// ── GraphQL ─────────────────────────────────────────────────────────────────────────────────────

function graphql(ids: Ids): Operation[] {
  const live = createClient(`${app.url}/graphql`, LIVE_KEY);
  const sandbox = createClient(`${app.url}/graphql`, TEST_KEY);

  const mutation = (name: string, fields: Operation['fields'], client = live): Operation => {
    const type = name[0]!.toUpperCase() + name.slice(1);
    const document = `mutation ($input: ${type}Input!) { ${name}(input: $input) {
      __typename ... on UserError { code message } ... on ValidationError { fields { path message } } } }`;
    return { name, fields, send: (input) => asked(client, document, { input }, name) };
  };
  const lookup = (query: string, name: Name, argument: string): Operation => ({
    name: query,
    fields: { [argument]: { field: idOf(ids, name) } },
    send: (values) =>
      asked(live, query, { ...values, subaccountId: values.subaccountId ?? ids.own.subaccount }, null),
  });
  const cents = (valid: number, limits: { min?: number; max?: number } = {}): Field => ({
    kind: 'cents',
    valid,
    ...limits,
  });

  return [
    mutation('createCardPayment', {
      ...{ valueCents: VALUE, ...CARD_DETAILS, language: GRAPHQL_LANGUAGE, idempotencyKey: KEY },
    }),
    mutation('createPayment', {
      ...{ valueCents: PIX_VALUE, ...CARD_DETAILS, language: GRAPHQL_LANGUAGE, idempotencyKey: KEY },
      method: { field: { kind: 'choice', valid: 'PIX' } },
    }),
    mutation('createPayment', {
      productId: { field: productOf(ids), required: true },
      idempotencyKey: { field: { kind: 'key', valid: 'chave-produto' } },
    }),
    mutation('createSubscription', {
      ...{ ...SUBSCRIPTION, language: GRAPHQL_LANGUAGE, idempotencyKey: KEY },
      interval: { field: { kind: 'choice', valid: 'MONTHLY' }, required: true },
    }),
    mutation('refundPayment', {
      paymentId: { field: idOf(ids, 'payment'), required: true },
      ...{ ...REFUND, idempotencyKey: KEY },
    }),
    mutation('createCharge', { ...CHARGED, language: GRAPHQL_LANGUAGE, idempotencyKey: KEY }),
    mutation('refundCharge', {
      chargeId: { field: idOf(ids, 'charge'), required: true },
      ...{ ...REFUND, idempotencyKey: { field: { kind: 'key', valid: 'chave-cobranca' } } },
    }),
    mutation('submitDisputeEvidence', {
      disputeId: { field: idOf(ids, 'dispute'), required: true },
      ...{ ...EVIDENCE, idempotencyKey: { field: { kind: 'key', valid: 'chave-prova' } } },
    }),
    mutation('requestPayout', {
      method: { field: { kind: 'choice', valid: 'PIX' }, required: true },
      amountCents: AMOUNT,
      destination: PIX_KEY,
      idempotencyKey: KEY,
    }),
    mutation('createSubaccount', { name: NAME, externalId: EXTERNAL_ID }),
    mutation('transferToSubaccount', {
      subaccountId: { field: idOf(ids, 'subaccount'), required: true },
      amountCents: AMOUNT,
      idempotencyKey: KEY,
    }),
    mutation('requestSubaccountPayout', {
      subaccountId: { field: idOf(ids, 'subaccount'), required: true },
      amountCents: AMOUNT,
      pixKey: PIX_KEY,
      idempotencyKey: KEY,
    }),
    mutation('createProduct', PRODUCT),
    mutation('createDelivery', {
      productId: { field: productOf(ids), required: true },
      ...contentOf({ link: 'https://loja.example/curso' }),
      idempotencyKey: { field: { kind: 'key', valid: 'chave-entrega' } },
    }),
    mutation(
      'createTestPayment',
      { valueCents: TEST_VALUE, pending: { field: { kind: 'flag', valid: false } } },
      sandbox,
    ),
    mutation('createDashboardToken', {
      expiresInSeconds: { field: cents(3_600, { min: 60, max: 86_400 }) },
      scopes: { field: { kind: 'choice', valid: 'WALLET' }, required: true },
    }),
    mutation('configureWebhook', {
      url: { field: { kind: 'url', valid: 'https://loja.example/hook' }, required: true },
    }),
    lookup(
      'query ($subaccountId: String!) { subaccount(subaccountId: $subaccountId) { id } }',
      'subaccount',
      'subaccountId',
    ),
    lookup(
      'query ($subaccountId: String!, $reference: String!) { subaccountPayout(subaccountId: $subaccountId, reference: $reference) { id } }',
      'subaccountPayout',
      'reference',
    ),
    lookup(
      'query ($withdrawalId: String) { payout(withdrawalId: $withdrawalId) { id } }',
      'payout',
      'withdrawalId',
    ),
    lookup('query ($orderCode: String!) { cardPayment(orderCode: $orderCode) { id } }', 'card', 'orderCode'),
    lookup('query ($disputeId: String!) { dispute(disputeId: $disputeId) { id } }', 'dispute', 'disputeId'),
    lookup('query ($paymentId: String!) { payment(paymentId: $paymentId) { id } }', 'payment', 'paymentId'),
    lookup('query ($chargeId: String!) { charge(chargeId: $chargeId) { id } }', 'charge', 'chargeId'),
    lookup(
      'query ($subscriptionId: String!) { subscription(subscriptionId: $subscriptionId) { id } }',
      'subscription',
      'subscriptionId',
    ),
    lookup('query ($productId: String!) { product(productId: $productId) { id } }', 'product', 'productId'),
    ...Object.entries(FILTERS).map(([type, { list, fields, ofList }]): Operation => {
      const selected = `${list}(first: 1, filter: $filter) { nodes { id } }`;
      const one = `subaccount(subaccountId: "${ids.own.subaccount}") { ${selected} }`;
      const document = `query ($filter: ${type}) { ${list === 'statement' ? one : selected} }`;
      return {
        ...{ name: `${list} by filter`, fields: { ...fields, ...ofList } },
        send: (filter) => asked(live, document, { filter }, null),
      };
    }),
    ...Object.entries(FILTERS).map(([type, { stream, fields }]): Operation => {
      // A filter is read before the cursor, which is bad so that nothing is opened.
      const document = `subscription ($filter: ${type}) { ${stream}(after: "x", filter: $filter) { cursor } }`;
      return {
        ...{ name: `${stream} by filter`, fields },
        async send(filter) {
          const updates = live.ws(document, { filter });
          const errors = (await updates.next()).value?.errors ?? [];
          await updates.close();
          const fault = errors.some(({ extensions }: { extensions?: { code?: string } }) =>
            ['INTERNAL_SERVER_ERROR', 'RATE_LIMITED'].includes(extensions?.code ?? ''),
          );
          const isOpened = errors[0]?.message === 'after: is not a cursor of this server';
          return { refusal: isOpened ? null : JSON.stringify(errors), fault };
        },
      };
    }),
    ...[
      'payouts',
      'subaccounts',
      'cardPayments',
      'payments',
      'charges',
      'disputes',
      'products',
      'deliveries',
      'storeProducts',
      'webhookDeliveries',
    ].map(
      (list): Operation => ({
        name: list,
        fields: { first: { field: cents(7, { max: 100 }) } },
        send: ({ first }) =>
          asked(live, `query ($first: Int) { ${list}(first: $first) { totalCount } }`, { first }, null),
      }),
    ),
  ];
}

async function asked(
  client: GraphQLClient,
  query: string,
  variables: Record<string, unknown>,
  mutation: string | null,
): Promise<{ refusal: string | null; fault: boolean }> {
  const { body } = await client.send(query, variables);
  const fault = (body.errors ?? []).some(
    ({ extensions }: { extensions?: { code?: string } }) =>
      extensions?.code === 'INTERNAL_SERVER_ERROR' || extensions?.code === 'RATE_LIMITED',
  );
  if (body.errors) return { refusal: JSON.stringify(body.errors), fault };
  // A lookup of what is not there is null: its argument led to nothing.
  if (mutation === null) {
    const [found] = Object.values(body.data);
    return { refusal: found === null ? `null for ${JSON.stringify(Object.keys(variables))}` : null, fault };
  }
  const answer = body.data[mutation];
  if (!answer.code) return { refusal: null, fault };
  // A sentence that something was not found names the resource, and each input has one field for it.
  if (answer.code === 'NOT_FOUND')
    return { refusal: `${answer.message} ${Object.keys(variables.input as object).join(' ')}`, fault };
  const paths = (answer.fields ?? []).map(({ path }: { path: string }) => path).join(' ');
  return { refusal: `${answer.code} ${answer.message} ${paths}`, fault };
}
