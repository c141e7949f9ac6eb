import fc from 'fast-check';
import { type GraphQLObjectType, type GraphQLUnionType, getNamedType, isInputObjectType } from 'graphql';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { replaceStoreProducts } from '../../server/src/catalogue/store/store.ts';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import { schema } from '../../server/src/programs/modes/schema.ts';
import { recordsOf } from '../../server/src/state/db/each-tenant.ts';
import { newWebhookId } from '../../server/src/webhooks/model.ts';
import { insertDeliveries } from '../../server/src/webhooks/store.ts';
import { addAccount, addKey } from '../support/accounts.ts';
import { LIVE_KEY, startApp, TEST_KEY, type TestApp } from '../support/app.ts';
import {
  type Bad,
  badInput,
  checkoutAmount,
  customer,
  distinct,
  documents,
  type Field,
  origins,
  splits,
} from '../support/bad-input.ts';
import { approved } from '../support/cards.ts';
import { FILTERS } from '../support/filter-input.ts';
import { createClient, type GraphQLClient } from '../support/graphql.ts';
import { inputPlaces, inputPlacesOfRest } from '../support/operations.ts';
import { createRestClient, type RestClient } from '../support/rest.ts';
import { scale } from '../support/scale.ts';

// One field of one operation is bad, and the others are good. Each answer names the field, is no internal fault, and
// changes nothing.

const CASES = scale('BAD_INPUTS');
const CPF = '12345678909';
const HEX = '0123456789abcdef01234567';

interface Operation {
  name: string;
  fields: Record<string, { field: Field; required?: boolean }>;
  /** The input types of both interfaces that have these fields, as `inputPlaces` writes them. */
  places: readonly string[];
  /** Sends the fields. Returns the refusal in words, or null if they were accepted. */
  send(values: Record<string, unknown>): Promise<Outcome>;
  /** Creates what the valid case needs, unless the clock has not ended it yet. */
  prepare?(): Promise<Record<string, unknown>>;
}

interface Outcome {
  refusal: string | null;
  fault: boolean;
}

/** Inputs without a row, with the test that sends bad values. */
const ELSEWHERE: readonly [inputs: RegExp, where: string][] = [
  [/\((after|before)\)$/, 'cursors: graphql/cursors.test.ts'],
  [/\(filter\)$/, 'a filter has a row for each member, and a test below that none is missing'],
  [
    /^Wallet\.\w+\(/,
    'the statement, an instant, a history and a closing: money-out/wallet/statement.test.ts',
  ],
  [/^GET \/v1\/wallet\/\w+ \(/, 'the same'],
  [
    /^Mutation\.(?:redeliverWebhooks|cancelWebhookRedelivery|sendTestWebhook)\(|^Query\.webhookRedelivery\(/,
    'redeliveries and tests of webhooks: webhooks/bulk.test.ts',
  ],
  [
    /^Mutation\.(?:create|update|delete)WebhookEndpoint\(|^Query\.webhookEndpoint\(/,
    'endpoints: webhooks/endpoints.test.ts',
  ],
  [/^Query\._entities\(/, 'objects as a gateway names them: graphql/federation.test.ts'],
  [/^Query\.lookup\(/, 'each form of a reference: graphql/idempotency-header.test.ts'],
  [/^Query\.nodes\(/, 'each of them is read as the id of node: graphql/queries.test.ts'],
  [/\(tokenId\)$/, 'selects among changes, and no text is wrong: graphql/update-filters.test.ts'],
  [/^Mutation\.\w+\(input\.valueCents\)$/, 'amountCents under its other name: kernel/aliases.test.ts'],
  [/^Mutation\.create(?:CardPayment|Payment|CheckoutToken)\(input\.externalId\)$/, 'orderId: the same'],
  [
    /^Mutation\.createCheckoutToken\(input\.amountCents\)$/,
    'amount.fixedCents: card-payments/tokens.test.ts',
  ],
  [/^POST \/v1\/(?:card-payments|payments|charges|subscriptions) \((?:amountCents|orderId)\)$/, 'the same'],
  [/^POST \/v1\/payouts \(amountCents\)$/, 'amount, in cents: payouts/rest.test.ts'],
  [
    /^GET \/v1\/(?!disputes \(status\))\S+ \((?:\w+(?:After|Before|Cents)|status|method|kind|cause|stock|split|available|customer\w+)\)$/,
    'members of filters: schema-filters.test.ts',
  ],
  [/^GET \/v1\/\S+ \((?:reference|orderId|externalId|idempotencyKey)\)$/, 'the same'],
  [/^\w+ \/v1\/disputes\/\{id\}\/files\S* \(/, 'files: money-in/disputes/file-interface.test.ts'],
  [/^Mutation\.deleteDisputeFile\(|\((?:input\.)?fileIds\)$/, 'the same'],
  [/ \(Idempotency-Key\)$/, 'a header in place of the member idempotencyKey: commit/idempotency.test.ts'],
];

let app: TestApp;
let operations: Operation[];

beforeAll(async () => {
  app = await startApp({ environment: { PSA_GRAPHQL_LIMIT: '1000000' } });
  const ids = await idsOf();
  operations = [...restOperations(ids), ...graphqlOperations(ids)];
}, 60_000);
afterAll(() => app.close());

test(`bad input of any kind is refused by its name and changes nothing (${CASES} cases)`, async () => {
  const before = await digest();
  let cases = 0;
  const badCase = fc
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
    fc.asyncProperty(badCase, async ({ operation, name, bad }) => {
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

describe('the table', () => {
  test('Each input of both interfaces has a row, but for those that are tried elsewhere', async () => {
    const description = await (await fetch(`${app.url}/v1/openapi.json`)).json();
    const places = [...inputPlaces(schema), ...inputPlacesOfRest(description)];
    const isElsewhere = (place: string) => ELSEWHERE.some(([inputs]) => inputs.test(place));
    const tried = new Set(operations.flatMap((operation) => operation.places));
    const wanted = new Set(places.filter((place) => !isElsewhere(place)));
    expect([...wanted].filter((place) => !tried.has(place))).toEqual([]);
    expect([...tried].filter((place) => !wanted.has(place))).toEqual([]);
    for (const [inputs, where] of ELSEWHERE)
      expect(
        places.some((place) => inputs.test(place)),
        where,
      ).toBe(true);
  });

  test('Each member of a filter has a row', () => {
    const filters = Object.values(schema.getTypeMap())
      .filter(isInputObjectType)
      // The entries of a wallet are a list inside of it: money-out/wallet/statement.test.ts.
      .filter(
        ({ name }) => name.endsWith('Filter') && !['CustomerFilter', 'WalletEntryFilter'].includes(name),
      );
    const rows = Object.entries(FILTERS).map(([name, { fields, ofList }]) => [
      name,
      Object.keys({ ...fields, ...ofList }).sort(),
    ]);
    expect(rows.sort()).toEqual(
      filters.map((type) => [type.name, Object.keys(type.getFields()).sort()]).sort(),
    );
  });
});

describe('good input', () => {
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
      const values = valuesOf(operation, '', { why: '', value: undefined });
      const { refusal } = await operation.send({ ...values, ...(await operation.prepare?.()) });
      expect(refusal, operation.name).toBeNull();
    }
  });
});

function valuesOf({ fields }: Operation, name: string, bad: Bad): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([each, { field }]) => [each, each === name ? bad.value : field.valid]),
  );
}

/**
 * A snapshot of all rows except the counts of requests: it differs after any change. Tasks are only counted, because
 * one that falls due meanwhile may be postponed.
 */
async function digest(): Promise<unknown> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'rate_window'`.execute(
    app.database.sql,
  );
  const parts = tables.map(({ name }) =>
    name === 'task'
      ? sql`select ${name}::text as name, count(*) as count, null as sum from task`
      : sql`select ${name}::text as name, count(*) as count, md5(string_agg(t::text, ' ' order by t::text)) as sum
          from ${sql.table(name)} t`,
  );
  const { rows } = await sql`${sql.join(parts, sql` union all `)} order by name`.execute(app.database.sql);
  return rows;
}

// ── What there is ───────────────────────────────────────────────────────────────────────────────

type Name =
  | 'subaccount'
  | 'payout'
  | 'subaccountPayout'
  | 'card'
  | 'paidCard'
  | 'payment'
  | 'charge'
  | 'refund'
  | 'subscription'
  | 'product'
  | 'storeProduct'
  | 'dispute'
  | 'delivery'
  | 'webhook'
  | 'token';
type Ids = Record<'own' | 'foreign' | 'sandbox', Record<Name, string>> & {
  /** Resources that a valid case ends, for each interface. */
  spare: Record<'rest' | 'graphql', { product: string; delivery: string; token: string }>;
  /** Unpaid payments of the sandbox. */
  unpaid: Record<'rest' | 'graphql', string>;
  /** Names of the account's own payout besides its id. */
  payoutCode: string;
  payoutNode: string;
  foreignCode: string;
  /** A token that starts payments. */
  checkout: string;
};
const PAYOUT_KEY = 'chave-saque';

/** Ids of each kind: one of the account, one of another account, and one of the account's sandbox if it has any. */
async function idsOf(): Promise<Ids> {
  const accountId = await addAccount(app);
  const key = await addKey(app, { accountId });
  const [first] = await app.database.sql.selectFrom('account').select('id').orderBy('created_at').execute();
  for (const id of [first!.id, accountId])
    await app.controls.credit({ accountId: id, environment: 'live' }, 100_000_000);
  const live = createRestClient(app.url, LIVE_KEY);
  const own = await createResources(live, app.live, { accountId: first!.id, environment: 'live' });
  const inSandbox = { accountId: first!.id, environment: 'sandbox' } as const;
  const sandbox = createRestClient(app.url, TEST_KEY);
  await sandbox.post('/sandbox/payments', { valueCents: 1_000_000 });
  const payment = await createPaidPayment(sandbox, inSandbox);
  const ofSandbox = {
    subaccount: (await sandbox.post('/subaccounts', { name: 'Teste' })).body.id,
    payout: (await sandbox.post('/payouts', { amount: 100, method: 'pix', walletAddress: CPF })).body.id,
    payment,
    refund: (await sandbox.post(`/payments/${payment}/refunds`, { amountCents: 100 })).body.refundId,
    charge: await createPaidCharge(sandbox, inSandbox),
    subscription: await createSubscription(sandbox),
    storeProduct: await addStoreProduct(inSandbox),
    webhook: await addWebhookDelivery(inSandbox),
    ...(await createProductWithContent(sandbox)),
  };
  const foreign = createClient(`${app.url}/graphql`, key);
  const theirs = await createResources(createRestClient(app.url, key), foreign, {
    accountId,
    environment: 'live',
  });
  await app.work.settled();
  app.clock.advance(3_600_000);
  await app.work.settled();
  const spare = async () => ({ ...(await createProductWithContent(live)), token: await mintToken(app.live) });
  const unpaid = async () => (await sandbox.post('/payments', { valueCents: 4990 })).body.paymentId as string;
  const payoutOf = async (client: GraphQLClient, withdrawalId: string) =>
    (
      await client.request('query ($of: String) { payout(withdrawalId: $of) { id code } }', {
        of: withdrawalId,
      })
    ).payout as { id: string; code: string };
  const payout = await payoutOf(app.live, own.payout);
  return {
    own,
    foreign: theirs,
    sandbox: { ...theirs, ...ofSandbox },
    spare: { rest: await spare(), graphql: await spare() },
    unpaid: { rest: await unpaid(), graphql: await unpaid() },
    payoutCode: payout.code,
    payoutNode: payout.id,
    foreignCode: (await payoutOf(foreign, theirs.payout)).code,
    checkout: await mintToken(app.live, {
      methods: ['CARD', 'PIX'],
      amount: { range: { minCents: 100, maxCents: 100_000 } },
    }),
  };
}

/** Creates a payment by PIX that is paid, and can be refunded. */
async function createPaidPayment(client: RestClient, tenant: Tenant): Promise<string> {
  const { paymentId } = (await client.post('/payments', { valueCents: 1_000_000 })).body;
  await app.pix.pay({ txid: txidOf(paymentId) });
  await app.payments.receive(tenant, paymentId);
  return paymentId;
}

/** Creates a charge that is paid, and can be refunded. */
async function createPaidCharge(client: RestClient, tenant: Tenant): Promise<string> {
  const { chargeId } = (await client.post('/charges', { valueCents: 1_000_000 })).body;
  await app.pix.pay({ txid: txidOf(chargeId) });
  await app.charges.receive(tenant, chargeId);
  return chargeId;
}

/** Creates a card payment that can be canceled. */
async function createPendingCardPayment(client: RestClient): Promise<{ orderCode: string }> {
  const { orderCode } = (await client.post('/card-payments', { valueCents: 4990 })).body;
  return { orderCode };
}

/** Creates a payment by PIX or a charge that can be canceled. */
async function createPending(
  client: RestClient,
  path: 'payments' | 'charges',
): Promise<{ paymentId?: string; chargeId?: string }> {
  const { paymentId, chargeId } = (await client.post(`/${path}`, { valueCents: 4990 })).body;
  return path === 'payments' ? { paymentId } : { chargeId };
}

/** Opens another dispute of the same account, which can be accepted. */
async function openDisputeBeside(disputeId: string): Promise<string> {
  const { account_id: accountId } = await app.database.sql
    .selectFrom('dispute')
    .select('account_id')
    .where('id', '=', disputeId)
    .executeTakeFirstOrThrow();
  return app.controls.openDispute({ accountId, environment: 'live' }, { amountCents: 100 });
}

/** Creates a card payment that is paid, and can be refunded. */
async function createPaidCardPayment(client: RestClient): Promise<string> {
  const { orderCode } = (await client.post('/card-payments', { valueCents: 1_000_000 })).body;
  await app.cardPayments.pay(orderCode, approved());
  return orderCode;
}

/** Creates a product with content. */
async function createProductWithContent(client: RestClient) {
  const product: string = (await client.post('/products', { name: 'Caneca', priceCents: 4990 })).body.id;
  const content = { text: 'Obrigada!' };
  const { body } = await client.post('/deliveries', { productId: product, content });
  return { product, delivery: body.deliveryId as string };
}

async function createSubscription(client: RestClient): Promise<string> {
  return (await client.post('/subscriptions', { valueCents: 4990, interval: 'weekly' })).body.subscriptionId;
}

/** Adds a product to the tenant's store. */
async function addStoreProduct(tenant: Tenant): Promise<string> {
  const storeProductId = `produto-${tenant.accountId}-${tenant.environment}`;
  const product = { name: 'Caneca', description: null, price: '49,90', imageUrl: null, available: true };
  await replaceStoreProducts(app.database.sql, tenant, [{ storeProductId, ...product }]);
  return storeProductId;
}

/** Adds a webhook that was delivered. */
async function addWebhookDelivery(tenant: Tenant): Promise<string> {
  const webhookId = newWebhookId();
  await insertDeliveries(
    app.database.sql,
    recordsOf(tenant, [
      {
        webhookId,
        event: 'card_payment.paid',
        resource: 'card_payment',
        resourceId: webhookId,
        ...{
          endpointId: null,
          subjectType: null,
          subjectId: null,
          responseStatus: null,
          responseClass: null,
        },
        url: 'https://loja.example/hook',
        body: '{}',
        headers: {},
        status: 'delivered',
        eventVersion: null,
        resourceVersion: null,
        occurredAt: null,
        attempts: 1,
        failures: 0,
        nextAttemptAt: null,
        createdAt: app.clock.now(),
      },
    ]),
  );
  return webhookId;
}

/** Mints a reusable checkout token. */
async function mintToken(
  client: GraphQLClient,
  input: object = { amount: { fixedCents: 4990 } },
): Promise<string> {
  const { createCheckoutToken } = await client.request(
    `mutation ($input: CreateCheckoutTokenInput!) { createCheckoutToken(input: $input) {
      ... on CreateCheckoutTokenSuccess { token } } }`,
    { input: { ...input, reusable: true } },
  );
  return createCheckoutToken.token;
}

async function createResources(
  client: RestClient,
  graphql: GraphQLClient,
  tenant: Tenant,
): Promise<Record<Name, string>> {
  const subaccount = (await client.post('/subaccounts', { name: 'Ana' })).body.id;
  await client.post(`/subaccounts/${subaccount}/transfers`, { amountCents: 10_000_000 });
  const requested = await client.post(`/subaccounts/${subaccount}/payout`, {
    amountCents: 10_000,
    pixKey: CPF,
  });
  const payout = { amount: 100, method: 'pix', walletAddress: CPF, idempotencyKey: PAYOUT_KEY };
  const paidCard = await createPaidCardPayment(client);
  return {
    subaccount,
    subaccountPayout: requested.body.code,
    payout: (await client.post('/payouts', payout)).body.id,
    card: (await client.post('/card-payments', { valueCents: 4990 })).body.orderCode,
    paidCard,
    payment: await createPaidPayment(client, tenant),
    charge: await createPaidCharge(client, tenant),
    refund: (await client.post(`/card-payments/${paidCard}/refunds`, { amountCents: 100 })).body.refundId,
    subscription: await createSubscription(client),
    ...(await createProductWithContent(client)),
    storeProduct: await addStoreProduct(tenant),
    dispute: await app.controls.openDispute(tenant, { amountCents: 100 }),
    webhook: await addWebhookDelivery(tenant),
    token: await mintToken(graphql),
  };
}

const ORDER_CODES = ['x', 'PSC-', 'psc-000000000000000000000000', 'PSC-00000000000000000000000!'];
const OBJECT_IDS = ['x', HEX.slice(1), `${HEX}0`, HEX.toUpperCase()];
const MALFORMED: Record<Name, string[]> = {
  dispute: ['x', 'dsp_', `dsp_${HEX.slice(0, 23)}`, `dsp_${HEX}0123456789`, `DSP_${HEX}`, "dsp_' or 1=1"],
  subaccount: ['sacc_', `sacc_${HEX}`, `SACC_${HEX}01234567`, `sacc_${HEX}0123456g`, "sacc_' or 1=1"],
  payout: OBJECT_IDS,
  subaccountPayout: ['x', 'TURBO', 'saq_idem_', 'SUB', `saq_idem_${'k'.repeat(129)}`],
  card: ORDER_CODES,
  paidCard: ORDER_CODES,
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
  refund: [
    ...['x', 'ref_', `ref_${HEX.slice(1)}`, `ref_${HEX}0`, `ref_${HEX.toUpperCase()}`, `REF_${HEX}`],
    ...['ref_idem_', 'ref_idem_é', 'ref_idem_a b', `ref_idem_${'k'.repeat(129)}`, "ref_' or 1=1"],
  ],
  subscription: [
    ...['x', 'psa_sub_', `psa_sub_${HEX}0123456`, `psa_sub_${HEX}012345678`, `psa_sub_${HEX}0123456A`],
    `psa_${HEX}01234567`,
  ],
  product: OBJECT_IDS,
  storeProduct: ['x', "' or 1=1", 'x'.repeat(5_000)],
  delivery: OBJECT_IDS,
  webhook: ['x', 'msg_', "' or 1=1", 'x'.repeat(5_000)],
  token: ['x', 'ps_checkout_', `ps_checkout_${'A'.repeat(43)}`, 'tok_', `tok_${HEX}`, 'x'.repeat(5_000)],
};

const idField = (valid: string, malformed: readonly string[], others: readonly string[]): Field => ({
  valid,
  malformed,
  others,
  kind: 'id',
});
const idOf = (ids: Ids, name: Name, valid = ids.own[name]): Field =>
  idField(valid, MALFORMED[name], [ids.foreign[name], ids.sandbox[name]]);

const CARD_DETAILS = {
  description: { field: { kind: 'text', valid: 'Caneca', max: 200 } },
  callbackUrl: { field: { kind: 'url', valid: 'https://loja.example/hook' } },
  metadata: { field: { kind: 'metadata', valid: '{"a":1}' } },
  externalId: { field: { kind: 'printable', valid: 'pedido-1', max: 100 } },
  successUrl: { field: { kind: 'url', valid: 'https://loja.example/ok' } },
  cancelUrl: { field: { kind: 'url', valid: 'https://loja.example/' } },
  customer: { field: customer({ name: 'Ana' }) },
} satisfies Operation['fields'];
/** GraphQL has its own names of an amount and of an order. The other names have the same rules. */
const { externalId: ORDER_ID, ...UNNUMBERED } = CARD_DETAILS;
const ORDER_DETAILS = { orderId: ORDER_ID, ...UNNUMBERED } satisfies Operation['fields'];
const withAmountCents = ({
  valueCents,
  ...fields
}: Operation['fields'] & { valueCents: Operation['fields'][string] }): Operation['fields'] => ({
  amountCents: valueCents,
  ...fields,
});
/** The values of a language are written differently in GraphQL. */
const LANGUAGE = { field: { kind: 'choice', valid: 'es' } } as const;
const GRAPHQL_LANGUAGE = { field: { kind: 'choice', valid: 'ES' } } as const;
const VALUE = {
  field: { kind: 'cents', valid: 4990, min: 80, max: 10_000_000_000 },
  required: true,
} as const;
const { callbackUrl: _, externalId: __, ...SUBSCRIPTION_DETAILS } = CARD_DETAILS;
/** A subscription without its interval, whose values are written differently in GraphQL. */
const SUBSCRIPTION = {
  valueCents: { field: { kind: 'cents', valid: 4990, max: 10_000_000_000 }, required: true },
  endsAfterCycles: { field: { kind: 'cents', valid: 12, max: 520 } },
  ...SUBSCRIPTION_DETAILS,
} satisfies Operation['fields'];
const TEST_VALUE = { field: { kind: 'cents', valid: 4990, max: 10_000_000_000 }, required: true } as const;
const AMOUNT = { field: { kind: 'cents', valid: 10_000 }, required: true } as const;
const NAME = { field: { kind: 'text', valid: 'Ana', max: 200 }, required: true } as const;
const EXTERNAL_ID = { field: { kind: 'printable', valid: 'a1', max: 200 } } as const;
const PIX_KEY = { field: { kind: 'destination', valid: CPF }, required: true } as const;
const PIX_KEY_TYPE = { field: { kind: 'choice', valid: 'cpf' } } as const;
const GRAPHQL_PIX_KEY_TYPE = { field: { kind: 'choice', valid: 'CPF' } } as const;
const PRODUCT = {
  name: { field: { kind: 'text', valid: 'Copo', max: 200 }, required: true },
  description: { field: { kind: 'text', valid: 'Azul', max: 2_000 } },
  priceCents: { field: { kind: 'cents', valid: 990 }, required: true },
} satisfies Operation['fields'];
/** A key belongs to one input, and the two interfaces send different ones. */
const REST_KEY = { field: { kind: 'key', valid: 'chave-rest' } } as const;
const GRAPHQL_KEY = { field: { kind: 'key', valid: 'chave-1' } } as const;
/** The id of a product may be in upper case. */
const PRODUCT_IDS = OBJECT_IDS.slice(0, -1);
const productOf = ({ own, foreign, sandbox }: Ids): Field =>
  idField(own.product, PRODUCT_IDS, [foreign.product, sandbox.product]);
const splitsOf = (ids: Ids, split: Parameters<typeof splits>[0]): Field =>
  splits(split, {
    valid: ids.own.subaccount,
    malformed: MALFORMED.subaccount,
    others: [ids.foreign.subaccount, ids.sandbox.subaccount],
  });
const contentOf = (valid: object) =>
  ({ content: { field: { kind: 'content', valid }, required: true } }) satisfies Operation['fields'];
const PIX_VALUE = {
  field: { kind: 'cents', valid: 4990, min: 1, max: 10_000_000_000 },
  required: true,
} as const;
const CHARGE = {
  valueCents: PIX_VALUE,
  description: CARD_DETAILS.description,
  metadata: CARD_DETAILS.metadata,
  externalId: CARD_DETAILS.externalId,
  expiresInSeconds: { field: { kind: 'cents', valid: 3_600, min: 60, max: 2_592_000 } },
} satisfies Operation['fields'];
/** The largest amount of a split charge is smaller than that of other payments. */
const SPLIT_VALUE = { field: { kind: 'cents', valid: 4990, min: 1, max: 500_000 }, required: true } as const;
/** The valid case refunds a part of the payment, and the whole amount is the maximum. */
const REFUND = {
  amountCents: { field: { kind: 'cents', valid: 100, min: 1, max: 1_000_000 } },
  reason: { field: { kind: 'text', valid: 'Um item', max: 140 } },
} satisfies Operation['fields'];

/** The valid case is submitted once: all cases have one key. */
const EVIDENCE = {
  text: { field: { kind: 'text', valid: 'Entregue', max: 4_000 }, required: true },
} satisfies Operation['fields'];
const DOCUMENTS = {
  documents: { field: documents([{ url: 'https://loja.example/nota.pdf', description: 'Nota' }]) },
} satisfies Operation['fields'];
/** The amount that a simulated payer sends. */
const SIMULATION = {
  amountCents: { field: { kind: 'cents', valid: 4990, min: 1, max: 10_000_000_000 } },
} satisfies Operation['fields'];

// ── REST ────────────────────────────────────────────────────────────────────────────────────────

function restOperations(ids: Ids): Operation[] {
  const live = createRestClient(app.url, LIVE_KEY);
  const sandbox = createRestClient(app.url, TEST_KEY);
  const operation = (
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    fields: Operation['fields'],
    client = live,
  ): Operation => ({
    name: `${method} ${path}`,
    fields,
    places: Object.keys(fields).map((field) => `${method} /v1${path} (${field})`),
    send(values) {
      const inPath: Record<string, unknown> = {
        id: ids.own.subaccount,
        payoutId: ids.own.subaccountPayout,
        ...values,
      };
      const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(inPath[name]));
      const outsidePath = Object.entries(values).filter(([name]) => !path.includes(`{${name}}`));
      if (method === 'POST')
        return outcomeOfResponse(client.post(url, Object.fromEntries(outsidePath)), idsAmong(fields));
      const query = outsidePath.map(([name, value]) => `?${name}=${encodeURIComponent(asText(value))}`);
      return outcomeOfResponse(client.send(`${url}${query}`, { method }), idsAmong(fields));
    },
  });
  const post = (path: string, fields: Operation['fields'], client = live) =>
    operation('POST', path, fields, client);
  const get = (path: string, name: Name, parameter: string) =>
    operation('GET', path, { [parameter]: { field: idOf(ids, name) } });
  const remove = (path: string, parameter: string, field: Field) =>
    operation('DELETE', path, { [parameter]: { field } });
  const list = (path: string): Operation[] =>
    (['limit', 'offset'] as const).map((parameter) => {
      const field: Field = { kind: 'cents', valid: 7, ...(parameter === 'limit' ? { max: 100 } : {}) };
      const listed = operation('GET', path, { [parameter]: { field } });
      return {
        ...listed,
        async send(values) {
          const value = values[parameter];
          // Each value of a query is text, so these two are valid there.
          if (value === '100' || (value === 0 && parameter === 'offset'))
            return { refusal: parameter, fault: false };
          return listed.send(values);
        },
      };
    });

  return [
    post('/card-payments', {
      valueCents: VALUE,
      ...CARD_DETAILS,
      language: LANGUAGE,
      idempotencyKey: REST_KEY,
    }),
    {
      ...remove('/card-payments/{orderCode}', 'orderCode', idOf(ids, 'card')),
      prepare: () => createPendingCardPayment(live),
    },
    post('/card-payments/{orderCode}/refunds', {
      orderCode: { field: idOf(ids, 'paidCard') },
      ...REFUND,
      idempotencyKey: { field: { kind: 'key', valid: 'chave-estorno-cartao' } },
    }),
    post('/payments', {
      valueCents: PIX_VALUE,
      ...CARD_DETAILS,
      language: LANGUAGE,
      idempotencyKey: REST_KEY,
      method: { field: { kind: 'choice', valid: 'pix' } },
    }),
    post('/payments', {
      valueCents: PIX_VALUE,
      description: CARD_DETAILS.description,
      customer: CARD_DETAILS.customer,
      method: { field: { kind: 'choice', valid: 'ltc' } },
      idempotencyKey: { field: { kind: 'key', valid: 'chave-ltc-rest' } },
    }),
    post('/payments', {
      productId: { field: productOf(ids), required: true },
      idempotencyKey: { field: { kind: 'key', valid: 'chave-produto-rest' } },
    }),
    post('/payments/{id}/refunds', {
      id: { field: idOf(ids, 'payment') },
      ...REFUND,
      idempotencyKey: { field: { kind: 'key', valid: 'chave-estorno' } },
    }),
    post('/charges', { ...CHARGE, language: LANGUAGE, idempotencyKey: REST_KEY }),
    post('/charges', {
      valueCents: SPLIT_VALUE,
      splits: { field: splitsOf(ids, (subaccountId, share) => ({ subaccountId, ...share })) },
    }),
    post('/charges/{id}/refunds', {
      id: { field: idOf(ids, 'charge') },
      ...REFUND,
      idempotencyKey: { field: { kind: 'key', valid: 'chave-estorno-cobranca' } },
    }),
    {
      ...post('/disputes/{id}/accept', { id: { field: idOf(ids, 'dispute') } }),
      prepare: async () => ({ id: await openDisputeBeside(ids.own.dispute) }),
    },
    {
      ...remove('/payments/{id}', 'id', idOf(ids, 'payment')),
      prepare: async () => ({ id: (await createPending(live, 'payments')).paymentId }),
    },
    {
      ...remove('/charges/{id}', 'id', idOf(ids, 'charge')),
      prepare: async () => ({ id: (await createPending(live, 'charges')).chargeId }),
    },
    post('/disputes/{id}/evidence', {
      id: { field: idOf(ids, 'dispute') },
      ...EVIDENCE,
      idempotencyKey: { field: { kind: 'key', valid: 'chave-prova-rest' } },
    }),
    post('/disputes/{id}/evidence', {
      id: { field: idOf(ids, 'dispute') },
      ...DOCUMENTS,
      idempotencyKey: { field: { kind: 'key', valid: 'chave-documento-rest' } },
    }),
    post('/subscriptions', {
      ...SUBSCRIPTION,
      language: LANGUAGE,
      idempotencyKey: REST_KEY,
      interval: { field: { kind: 'choice', valid: 'monthly' }, required: true },
    }),
    remove('/subscriptions/{id}', 'id', idOf(ids, 'subscription')),
    post('/payouts', {
      amount: { field: { kind: 'reais', valid: 10 }, required: true },
      method: { field: { kind: 'choice', valid: 'pix' }, required: true },
      walletAddress: PIX_KEY,
      pixKeyType: PIX_KEY_TYPE,
      externalId: CARD_DETAILS.externalId,
      idempotencyKey: REST_KEY,
    }),
    post('/subaccounts', { name: NAME, externalId: EXTERNAL_ID }),
    post('/subaccounts/{id}/transfers', {
      id: { field: idOf(ids, 'subaccount') },
      amountCents: AMOUNT,
      idempotencyKey: REST_KEY,
    }),
    post('/subaccounts/{id}/payout', {
      id: { field: idOf(ids, 'subaccount') },
      amountCents: AMOUNT,
      pixKey: PIX_KEY,
      pixKeyType: PIX_KEY_TYPE,
      externalId: CARD_DETAILS.externalId,
      idempotencyKey: REST_KEY,
    }),
    post('/products', PRODUCT),
    post('/webhook-endpoint', {
      url: { field: { kind: 'url', valid: 'https://loja.example/hook' } },
      enabled: { field: { kind: 'flag', valid: true } },
      optionalEvents: { field: { kind: 'choices', valid: ['payment.expired'] } },
      previousSecretHours: { field: { kind: 'amount', valid: 24, max: 168 } },
      rotateSecret: { field: { kind: 'flag', valid: false } },
    }),
    remove('/products/{id}', 'id', idOf(ids, 'product', ids.spare.rest.product)),
    post('/deliveries', {
      productId: { field: productOf(ids), required: true },
      ...contentOf({ text: 'Obrigada!' }),
      idempotencyKey: { field: { kind: 'key', valid: 'chave-entrega-rest' } },
    }),
    remove('/deliveries/{id}', 'id', idOf(ids, 'delivery', ids.spare.rest.delivery)),
    post(
      '/sandbox/payments',
      { valueCents: TEST_VALUE, pending: { field: { kind: 'flag', valid: false } } },
      sandbox,
    ),
    post(
      '/sandbox/payments',
      {
        id: { field: simulatedOf(ids, ids.unpaid.rest) },
        outcome: { field: { kind: 'choice', valid: 'paid' } },
        ...SIMULATION,
      },
      sandbox,
    ),
    get('/card-payments/{orderCode}', 'card', 'orderCode'),
    get('/payments/{id}', 'payment', 'id'),
    get('/charges/{id}', 'charge', 'id'),
    get('/refunds/{refundId}', 'refund', 'refundId'),
    get('/disputes/{id}', 'dispute', 'id'),
    get('/subscriptions/{id}', 'subscription', 'id'),
    get('/payouts/{id}', 'payout', 'id'),
    get('/subaccounts/{id}', 'subaccount', 'id'),
    get('/subaccounts/{id}/statement', 'subaccount', 'id'),
    get('/subaccounts/{id}/payouts', 'subaccount', 'id'),
    get('/subaccounts/{id}/payouts/{payoutId}', 'subaccountPayout', 'payoutId'),
    get('/subaccounts/{id}/payouts/{payoutId}', 'subaccount', 'id'),
    get('/products/{id}', 'product', 'id'),
    operation('GET', '/deliveries', { productId: { field: productOf(ids) } }),
    operation('GET', '/disputes', { status: { field: { kind: 'choice', valid: 'open' } } }),
    ...[
      '/card-payments',
      '/payments',
      '/charges',
      '/subscriptions',
      '/payouts',
      '/subaccounts',
      '/subaccounts/{id}/statement',
      '/subaccounts/{id}/payouts',
      '/products',
      '/disputes',
      '/returns',
      '/sales',
      '/deliveries',
      '/store/products',
    ].flatMap((path) => list(path)),
  ];
}

/** Simulates the payer of a sandbox payment. Payments of live keys have their own payers. */
const simulatedOf = ({ own, foreign }: Ids, valid: string): Field =>
  idField(valid, MALFORMED.payment, [own.payment, foreign.payment]);

/** The fields that name a resource: a NOT_FOUND error names them. */
const idsAmong = (fields: Operation['fields']) =>
  Object.entries(fields).flatMap(([name, { field }]) =>
    field.kind === 'id' || (field.kind === 'composed' && field.others) ? [name] : [],
  );

const asText = (value: unknown) =>
  // A lone surrogate cannot be in a URL: a client sends its replacement character.
  (typeof value === 'string' ? value : JSON.stringify(value ?? '')).toWellFormed();

const segment = (value: unknown) => {
  const text = asText(value);
  return text === '' ? '%20' : encodeURIComponent(text);
};

/** `names`: the fields that name a resource. An empty list for one of them counts as not found. */
async function outcomeOfResponse(
  answer: ReturnType<RestClient['get']>,
  names: readonly string[],
): Promise<Outcome> {
  const { status, body, headers } = await answer;
  if (Number(headers.get('ratelimit-remaining') ?? 120) < 2) app.clock.advance(60_000);
  if (status === 200 && body.total === 0 && names.length > 0)
    return { refusal: `nothing of ${names.join(' ')}`, fault: false };
  if (status < 300) return { refusal: null, fault: false };
  return {
    refusal: status === 404 ? `${names.join(' ')} 404 ${body.error}` : `${body.error}`,
    fault: status >= 500 || status === 429,
  };
}

// ── GraphQL ─────────────────────────────────────────────────────────────────────────────────────

/** The lists, each with a status that filters it. */
const LISTS: Readonly<Record<string, string | null>> = {
  'Query.payouts': null,
  'Query.subaccounts': null,
  'Query.cardPayments': 'PAID',
  'Query.payments': null,
  'Query.charges': null,
  'Query.sales': null,
  'Query.refunds': 'COMPLETED',
  'Query.returns': null,
  'Query.disputes': 'OPEN',
  'Query.subscriptions': 'PENDING',
  'Query.products': null,
  'Query.deliveries': null,
  'Query.storeProducts': null,
  'Query.webhookDeliveries': 'DELIVERED',
  'PixSubscription.cycles': null,
  'Subaccount.payouts': 'COMPLETED',
  'Subaccount.statement': null,
};

/** The totals of lists, each with a status that filters it. */
const TOTALS: Readonly<Record<string, string | null>> = {
  'Query.cardPaymentTotals': 'PAID',
  'Query.paymentTotals': null,
  'Query.chargeTotals': null,
  'Query.refundTotals': 'COMPLETED',
  'Query.payoutTotals': null,
  'Query.subaccountPayoutTotals': 'COMPLETED',
};

function graphqlOperations(ids: Ids): Operation[] {
  const live = createClient(`${app.url}/graphql`, LIVE_KEY);
  const sandbox = createClient(`${app.url}/graphql`, TEST_KEY);
  const payer = createClient(`${app.url}/graphql`, ids.checkout);

  /** The account's resources whose fields have inputs. */
  const PARENTS: Readonly<Record<string, string>> = {
    Subaccount: `subaccount(subaccountId: "${ids.own.subaccount}")`,
    PixSubscription: `subscription(subscriptionId: "${ids.own.subscription}")`,
  };
  /** Builds the document of one field; the given inputs are its variables. */
  function documentOf(place: string, given: readonly string[], selection: string): string {
    const [type, field] = place.split('.') as [string, string];
    const { args } = (schema.getType(type) as GraphQLObjectType).getFields()[field]!;
    const used = args.filter(({ name }) => given.includes(name));
    const declared = used.map(({ name, type: each }) => `$${name}: ${each}`).join(', ');
    const called = `${field}(${used.map(({ name }) => `${name}: $${name}`).join(', ')}) ${selection}`;
    const parent = PARENTS[type];
    return parent
      ? `query (${declared}) { ${parent} { ${called} } }`
      : `${type.toLowerCase()} (${declared}) { ${called} }`;
  }
  const placesOf = (place: string, fields: Operation['fields'], inside = '') =>
    Object.keys(fields).map((field) => `${place}(${inside}${field})`);

  const mutation = (name: string, fields: Operation['fields'], client = live): Operation => {
    const { args, type } = schema.getMutationType()!.getFields()[name]!;
    const hasInput = args.some((each) => each.name === 'input');
    const results = schema.getPossibleTypes(getNamedType(type) as GraphQLUnionType);
    const wrong = results.some((each) => each.name === 'ValidationError')
      ? '... on ValidationError { fields { path message } }'
      : '';
    const document = documentOf(
      `Mutation.${name}`,
      hasInput ? ['input'] : Object.keys(fields),
      `{ __typename ... on UserError { code message } ${wrong} }`,
    );
    return {
      name,
      fields,
      places: placesOf(`Mutation.${name}`, fields, hasInput ? 'input.' : ''),
      send: (values) =>
        outcomeOfRequest(client, document, hasInput ? { input: values } : values, idsAmong(fields)),
    };
  };
  /** `otherArguments`: the other arguments that the field needs. */
  const lookup = (
    place: string,
    fields: Operation['fields'],
    {
      otherArguments = {},
      selection = '{ id }',
    }: { otherArguments?: Record<string, unknown>; selection?: string } = {},
  ): Operation => {
    const document = documentOf(place, [...Object.keys(fields), ...Object.keys(otherArguments)], selection);
    return {
      name: `${place}(${Object.keys(fields)})`,
      fields,
      places: placesOf(place, fields),
      send: (values) => outcomeOfRequest(live, document, { ...otherArguments, ...values }, idsAmong(fields)),
    };
  };
  const byId = (place: string, argument: string, name: Name, otherArguments: Record<string, unknown> = {}) =>
    lookup(place, { [argument]: { field: idOf(ids, name) } }, { otherArguments });
  const stream = (
    name: string,
    fields: Operation['fields'],
    otherArguments: Record<string, unknown> = {},
  ): Operation => {
    const place = `Subscription.${name}`;
    const document = documentOf(
      place,
      [...Object.keys(fields), ...Object.keys(otherArguments)],
      '{ cursor }',
    );
    return {
      name: `${name}(${Object.keys(fields)})`,
      fields,
      places: placesOf(place, fields),
      send: (values) =>
        outcomeOfSubscription(live, document, { ...otherArguments, ...values }, idsAmong(fields)),
    };
  };
  /** A stream of all changes. Its inputs are read before the cursor, which is invalid, so that no subscription opens. */
  const streamOfAll = (name: string, fields: Operation['fields']) => stream(name, fields, { after: 'x' });
  const streamOfOne = (
    name: string,
    argument: string,
    of: Name,
    otherArguments: Record<string, unknown> = {},
  ) => stream(name, { [argument]: { field: idOf(ids, of) } }, otherArguments);
  const cents = (valid: number, limits: { min?: number; max?: number } = {}): Field => ({
    kind: 'cents',
    valid,
    ...limits,
  });
  const choices = (valid: string) => ({ field: { kind: 'choices', valid: [valid] } }) as const;
  const nodeOf = (id: string) => Buffer.from(`Product:${id}`).toString('base64');
  const payoutNode = (id: string) => Buffer.from(`Payout:${id}`).toString('base64');
  const ORIGINS = { allowedOrigins: { field: origins(['https://loja.example']) } } as const;
  const BOUND = { trustedDocumentsOnly: { field: { kind: 'flag', valid: false } } } as const;
  const START = {
    attemptId: {
      field: idField('tentativa-0123456789-abc', MALFORMED_ATTEMPT_IDS, []),
      required: true,
    },
    amountCents: { field: cents(4990, { min: 100, max: 100_000 }) },
    customer: CARD_DETAILS.customer,
  } satisfies Operation['fields'];

  return [
    mutation('createCardPayment', {
      amountCents: VALUE,
      ...ORDER_DETAILS,
      language: GRAPHQL_LANGUAGE,
      idempotencyKey: GRAPHQL_KEY,
    }),
    {
      ...mutation('cancelCardPayment', { orderCode: { field: idOf(ids, 'card'), required: true } }),
      prepare: () => createPendingCardPayment(createRestClient(app.url, LIVE_KEY)),
    },
    mutation('refundCardPayment', {
      orderCode: { field: idOf(ids, 'paidCard'), required: true },
      ...REFUND,
      idempotencyKey: { field: { kind: 'key', valid: 'chave-cartao' } },
    }),
    mutation('createPayment', {
      amountCents: PIX_VALUE,
      ...ORDER_DETAILS,
      language: GRAPHQL_LANGUAGE,
      idempotencyKey: GRAPHQL_KEY,
      method: { field: { kind: 'choice', valid: 'PIX' } },
    }),
    mutation('createPayment', {
      amountCents: PIX_VALUE,
      description: CARD_DETAILS.description,
      customer: CARD_DETAILS.customer,
      method: { field: { kind: 'choice', valid: 'LTC' } },
      idempotencyKey: { field: { kind: 'key', valid: 'chave-ltc' } },
    }),
    mutation('createPayment', {
      productId: { field: productOf(ids), required: true },
      idempotencyKey: { field: { kind: 'key', valid: 'chave-produto' } },
    }),
    mutation('createSubscription', {
      ...withAmountCents(SUBSCRIPTION),
      language: GRAPHQL_LANGUAGE,
      idempotencyKey: GRAPHQL_KEY,
      interval: { field: { kind: 'choice', valid: 'MONTHLY' }, required: true },
    }),
    mutation('cancelSubscription', { subscriptionId: { field: idOf(ids, 'subscription'), required: true } }),
    mutation('refundPayment', {
      paymentId: { field: idOf(ids, 'payment'), required: true },
      ...REFUND,
      idempotencyKey: GRAPHQL_KEY,
    }),
    mutation('createCharge', {
      ...withAmountCents(CHARGE),
      language: GRAPHQL_LANGUAGE,
      idempotencyKey: GRAPHQL_KEY,
    }),
    mutation('createCharge', {
      amountCents: SPLIT_VALUE,
      splits: { field: splitsOf(ids, (subaccountId, share) => ({ subaccountId, share })) },
    }),
    mutation('refundCharge', {
      chargeId: { field: idOf(ids, 'charge'), required: true },
      ...REFUND,
      idempotencyKey: { field: { kind: 'key', valid: 'chave-cobranca' } },
    }),
    {
      ...mutation('acceptDispute', { disputeId: { field: idOf(ids, 'dispute'), required: true } }),
      prepare: async () => ({ disputeId: await openDisputeBeside(ids.own.dispute) }),
    },
    {
      ...mutation('cancelPayment', { paymentId: { field: idOf(ids, 'payment'), required: true } }),
      prepare: () => createPending(createRestClient(app.url, LIVE_KEY), 'payments'),
    },
    {
      ...mutation('cancelCharge', { chargeId: { field: idOf(ids, 'charge'), required: true } }),
      prepare: () => createPending(createRestClient(app.url, LIVE_KEY), 'charges'),
    },
    mutation('submitDisputeEvidence', {
      disputeId: { field: idOf(ids, 'dispute'), required: true },
      ...EVIDENCE,
      idempotencyKey: { field: { kind: 'key', valid: 'chave-prova' } },
    }),
    mutation('submitDisputeEvidence', {
      disputeId: { field: idOf(ids, 'dispute'), required: true },
      ...DOCUMENTS,
      idempotencyKey: { field: { kind: 'key', valid: 'chave-documento' } },
    }),
    mutation('requestPayout', {
      method: { field: { kind: 'choice', valid: 'PIX' }, required: true },
      amountCents: AMOUNT,
      destination: PIX_KEY,
      pixKeyType: GRAPHQL_PIX_KEY_TYPE,
      externalId: CARD_DETAILS.externalId,
      idempotencyKey: GRAPHQL_KEY,
    }),
    mutation('createSubaccount', { name: NAME, externalId: EXTERNAL_ID }),
    mutation('transferToSubaccount', {
      subaccountId: { field: idOf(ids, 'subaccount'), required: true },
      amountCents: AMOUNT,
      idempotencyKey: GRAPHQL_KEY,
    }),
    mutation('requestSubaccountPayout', {
      subaccountId: { field: idOf(ids, 'subaccount'), required: true },
      amountCents: AMOUNT,
      pixKey: PIX_KEY,
      pixKeyType: GRAPHQL_PIX_KEY_TYPE,
      externalId: CARD_DETAILS.externalId,
      idempotencyKey: GRAPHQL_KEY,
    }),
    mutation('createProduct', PRODUCT),
    mutation('deleteProduct', {
      productId: { field: idOf(ids, 'product', ids.spare.graphql.product), required: true },
    }),
    mutation('createDelivery', {
      productId: { field: productOf(ids), required: true },
      ...contentOf({ link: 'https://loja.example/curso' }),
      idempotencyKey: { field: { kind: 'key', valid: 'chave-entrega' } },
    }),
    mutation('deleteDelivery', {
      deliveryId: { field: idOf(ids, 'delivery', ids.spare.graphql.delivery), required: true },
    }),
    mutation(
      'createTestPayment',
      { amountCents: TEST_VALUE, pending: { field: { kind: 'flag', valid: false } } },
      sandbox,
    ),
    mutation(
      'simulatePayment',
      {
        id: { field: simulatedOf(ids, ids.unpaid.graphql), required: true },
        outcome: { field: { kind: 'choice', valid: 'PAID' } },
        ...SIMULATION,
      },
      sandbox,
    ),
    mutation('createCheckoutToken', {
      ...ORDER_DETAILS,
      language: GRAPHQL_LANGUAGE,
      ...ORIGINS,
      ...BOUND,
      amount: {
        field: checkoutAmount({
          valid: ids.own.product,
          malformed: PRODUCT_IDS,
          others: [ids.foreign.product, ids.sandbox.product],
        }),
        required: true,
      },
      methods: { field: distinct(['CARD', 'PIX']) },
      reusable: { field: { kind: 'flag', valid: false } },
      expiresInSeconds: { field: cents(3_600, { min: 60, max: 31_536_000 }) },
    }),
    mutation('pauseToken', {
      token: { field: idOf(ids, 'token'), required: true },
      seconds: { field: cents(60, { max: 31_536_000 }) },
    }),
    mutation('resumeToken', { token: { field: idOf(ids, 'token'), required: true } }),
    mutation('revokeToken', {
      token: { field: idOf(ids, 'token', ids.spare.graphql.token), required: true },
    }),
    mutation('startCheckout', START, payer),
    mutation('startPixCheckout', START, payer),
    mutation('createDashboardToken', {
      expiresInSeconds: { field: cents(3_600, { min: 60, max: 86_400 }) },
      scopes: { field: distinct(['WALLET']), required: true },
      ...ORIGINS,
      ...BOUND,
    }),
    mutation('configureWebhook', {
      url: { field: { kind: 'url', valid: 'https://loja.example/hook' } },
      enabled: { field: { kind: 'flag', valid: true } },
      optionalEvents: { field: { kind: 'choices', valid: ['PAYMENT_EXPIRED'] } },
      previousSecretHours: { field: { kind: 'amount', valid: 24, max: 168 } },
      rotateSecret: { field: { kind: 'flag', valid: false } },
    }),
    mutation('redeliverWebhook', { webhookId: { field: idOf(ids, 'webhook'), required: true } }),

    lookup('Query.node', {
      id: {
        field: idField(
          nodeOf(ids.own.product),
          ['x', ...['Product', 'Product:', 'Product:x', 'None:1', ':'].map((text) => btoa(text))],
          [ids.foreign.product, ids.sandbox.product].map(nodeOf),
        ),
      },
    }),
    byId('Query.webhookDelivery', 'webhookId', 'webhook'),
    byId('Query.subaccount', 'subaccountId', 'subaccount'),
    byId('Query.subaccountPayout', 'reference', 'subaccountPayout', { subaccountId: ids.own.subaccount }),
    byId('Query.subaccountPayout', 'subaccountId', 'subaccount', { reference: ids.own.subaccountPayout }),
    byId('Subaccount.payout', 'reference', 'subaccountPayout'),
    byId('Query.payout', 'withdrawalId', 'payout'),
    lookup('Query.payout', {
      code: {
        field: idField(
          ids.payoutCode,
          ['x', 'SAQ', 'SAQ-', ids.payoutCode.toLowerCase(), `${ids.payoutCode}!`],
          [ids.foreignCode],
        ),
      },
    }),
    lookup('Query.payout', { idempotencyKey: { field: { kind: 'key', valid: PAYOUT_KEY } } }),
    ...['cardPayment', 'charge', 'payment', 'refund', 'subscription'].map((name) =>
      lookup(`Query.${name}`, { idempotencyKey: GRAPHQL_KEY }),
    ),
    lookup('Query.delivery', { idempotencyKey: { field: { kind: 'key', valid: 'chave-entrega' } } }),
    ...['subaccountPayout', 'subaccountTransfer'].map((name) =>
      lookup(
        `Query.${name}`,
        { idempotencyKey: GRAPHQL_KEY },
        { otherArguments: { subaccountId: ids.own.subaccount } },
      ),
    ),
    byId('Query.subaccountTransfer', 'subaccountId', 'subaccount', { idempotencyKey: 'chave-1' }),
    lookup('Query.subaccount', { externalId: EXTERNAL_ID }),
    byId('Query.delivery', 'deliveryId', 'delivery'),
    byId('Query.cardPayment', 'orderCode', 'card'),
    byId('Query.dispute', 'disputeId', 'dispute'),
    byId('Query.payment', 'paymentId', 'payment'),
    byId('Query.charge', 'chargeId', 'charge'),
    byId('Query.refund', 'refundId', 'refund'),
    byId('Query.subscription', 'subscriptionId', 'subscription'),
    byId('Query.product', 'productId', 'product'),
    byId('Query.storeProduct', 'storeProductId', 'storeProduct'),
    lookup(
      'Query.deliveries',
      { productId: { field: productOf(ids) }, stock: choices('READY') },
      { selection: '{ totalCount }' },
    ),
    ...Object.entries(TOTALS).map(([place, status]) =>
      lookup(
        place,
        { groupBy: choices('STATUS'), ...(status && { status: choices(status) }) },
        { selection: '{ count }' },
      ),
    ),
    lookup(
      'Query.salesTotals',
      {
        groupBy: choices('STATUS'),
        interval: {
          field: { kind: 'composed', valid: null, wrong: { 'no interval': ['', 'WEEK', 7, {}, ['DAY']] } },
        },
        timeZone: {
          field: { kind: 'composed', valid: 'UTC', wrong: { 'no zone': ['', 'Brasilia', '\u0000', 7, {}] } },
        },
      },
      { selection: '{ count }' },
    ),
    ...Object.entries({
      'Query.requestsInDoubt': '{ nodes { requestId } }',
      'Query.pausedTokens': '{ nodes { tokenId } }',
      'Query.tokens': '{ nodes { tokenId } }',
    }).flatMap(([place, selection]) =>
      ['first', 'last'].map((end) =>
        lookup(place, { [end]: { field: cents(7, { max: 100 }) } }, { selection }),
      ),
    ),
    ...Object.entries(LISTS).flatMap(([place, status]) => [
      lookup(
        place,
        { first: { field: cents(7, { max: 100 }) }, ...(status && { status: choices(status) }) },
        { selection: '{ totalCount }' },
      ),
      lookup(place, { last: { field: cents(7, { max: 100 }) } }, { selection: '{ totalCount }' }),
    ]),

    streamOfOne('cardPaymentUpdates', 'orderCode', 'card'),
    streamOfOne('paymentUpdates', 'paymentId', 'payment'),
    streamOfOne('chargeUpdates', 'chargeId', 'charge'),
    streamOfOne('disputeUpdates', 'disputeId', 'dispute'),
    streamOfOne('subscriptionUpdates', 'subscriptionId', 'subscription'),
    streamOfOne('subaccountUpdates', 'subaccountId', 'subaccount'),
    streamOfOne('subaccountPayoutUpdates', 'reference', 'subaccountPayout', {
      subaccountId: ids.own.subaccount,
    }),
    streamOfOne('subaccountPayoutUpdates', 'subaccountId', 'subaccount', {
      reference: ids.own.subaccountPayout,
    }),
    streamOfOne('webhookDeliveryUpdates', 'webhookId', 'webhook'),
    streamOfOne('payoutUpdates', 'withdrawalId', 'payout'),
    stream('payoutUpdates', {
      id: {
        field: idField(
          ids.payoutNode,
          ['x', 'Payout', nodeOf(ids.own.product)],
          [ids.foreign.payout, ids.sandbox.payout].map(payoutNode),
        ),
      },
    }),
    streamOfAll('accountUpdates', { kinds: choices('WALLET') }),
    streamOfAll('allCardPaymentUpdates', { status: choices('PAID') }),
    streamOfAll('allDisputeUpdates', { status: choices('OPEN') }),
    streamOfAll('allRefundUpdates', { status: choices('COMPLETED') }),
    streamOfAll('allSubscriptionUpdates', { status: choices('ACTIVE') }),
    streamOfAll('allSubaccountPayoutUpdates', { status: choices('COMPLETED') }),
    streamOfAll('allSubaccountPayoutUpdates', {
      // A subaccount of another account filters out all changes, as an absent one does.
      subaccountId: { field: idField(ids.own.subaccount, MALFORMED.subaccount, []) },
    }),
    streamOfAll('allWebhookDeliveryUpdates', { status: choices('DELIVERED') }),
    ...Object.entries(FILTERS).map(
      ([type, { list, ofSubaccount, ofSubscription, ...members }]): Operation => {
        const { fields, ofList } = members;
        const selected = `${ofSubaccount ?? ofSubscription ?? list}(first: 1, filter: $filter) { pageInfo { hasNextPage } }`;
        const parents = {
          subaccount: `subaccount(subaccountId: "${ids.own.subaccount}") { ${selected} }`,
          subscription: `subscription(subscriptionId: "${ids.own.subscription}") { ${selected} }`,
        };
        const parent = ofSubaccount ? parents.subaccount : ofSubscription ? parents.subscription : selected;
        const document = `query ($filter: ${type}) { ${parent} }`;
        return {
          name: `${list} by filter`,
          fields: { ...fields, ...ofList },
          places: [],
          send: (filter) => outcomeOfRequest(live, document, { filter }, []),
        };
      },
    ),
    ...Object.entries(FILTERS).flatMap(([type, { stream: name, fields }]): Operation[] => {
      if (!name) return [];
      const document = `subscription ($filter: ${type}) { ${name}(after: "x", filter: $filter) { cursor } }`;
      return [
        {
          name: `${name} by filter`,
          fields,
          places: [],
          send: (filter) => outcomeOfSubscription(live, document, { filter }, []),
        },
      ];
    }),
  ];
}

/** Texts that are no valid attempt id. */
const MALFORMED_ATTEMPT_IDS = [
  'x',
  'a'.repeat(21),
  'a'.repeat(129),
  `${'a'.repeat(22)}!`,
  `${'a'.repeat(22)}.`,
  `${'a'.repeat(22)}.1000`,
];

interface Refusal {
  message: string;
  extensions?: { code?: string };
}

/** `names`: the inputs that name a resource: a NOT_FOUND error names them. */
function outcomeOfErrors(errors: readonly Refusal[], names: readonly string[]): Outcome {
  const codes = errors.map(({ extensions }) => extensions?.code ?? '');
  return {
    refusal: `${JSON.stringify(errors)} ${codes.includes('NOT_FOUND') ? names.join(' ') : ''}`,
    fault: codes.some((code) => ['INTERNAL_SERVER_ERROR', 'RATE_LIMITED'].includes(code)),
  };
}

/** Opens a subscription, and reads its first answer. */
async function outcomeOfSubscription(
  client: GraphQLClient,
  document: string,
  variables: Record<string, unknown>,
  names: readonly string[],
): Promise<Outcome> {
  const updates = client.ws(document, variables);
  const errors = ((await updates.next()).value?.errors ?? []) as Refusal[];
  await updates.close();
  const isOpened = errors.length === 0 || errors[0]!.message.startsWith('after: is not a cursor of updates');
  return isOpened ? { refusal: null, fault: false } : outcomeOfErrors(errors, names);
}

async function outcomeOfRequest(
  client: GraphQLClient,
  query: string,
  variables: Record<string, unknown>,
  names: readonly string[],
): Promise<Outcome> {
  const { body } = await client.send(query, variables);
  if (body.errors) return outcomeOfErrors(body.errors, names);
  let [answer] = Object.values(body.data) as [Found | null];
  // The answer is a field of one of the account's resources.
  if (answer?.payout !== undefined) answer = answer.payout;
  // A lookup of an absent resource is null, or an empty list.
  if (answer === null || (answer.totalCount === 0 && names.length > 0))
    return { refusal: `nothing of ${names.join(' ')}`, fault: false };
  const { code, message, fields = [] } = answer;
  if (!code) return { refusal: null, fault: false };
  // A NOT_FOUND message names the resource, and each input has one field for it.
  const paths = code === 'NOT_FOUND' ? names : fields.map(({ path }) => path);
  return { refusal: `${code} ${message} ${paths.join(' ')}`, fault: false };
}

/** The value of a field: a resource, a list, or the result of a mutation. */
interface Found {
  payout?: Found | null;
  totalCount?: number;
  code?: string;
  message?: string;
  fields?: { path: string }[];
}
