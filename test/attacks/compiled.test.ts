import { Agent, request as httpRequest } from 'node:http';
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLError,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  getOperationAST,
  getVariableValues,
  isEnumType,
  isInputObjectType,
  isListType,
  Kind,
  parse,
  type SelectionSetNode,
} from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../../server/src/api/graphql/context.ts';
import { execute } from '../../server/src/api/graphql/execution.ts';
import { compileOperation } from '../../server/src/api/operations/fast/compile.ts';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import { schema } from '../../server/src/programs/modes/schema.ts';
import { createRandom, type Random, shuffled } from '../faults/random.ts';
import { addAccount, addKey, addToken } from '../support/accounts.ts';
import { LIVE_KEY, startApp, TEST_KEY, type TestApp } from '../support/app.ts';
import { approved } from '../support/cards.ts';
import { createManualClock } from '../support/clock.ts';
import type { Stream } from '../support/graphql.ts';
import { newKey } from '../support/keys.ts';
import { anyValues, type RandomDocument, randomDocument, type Values } from '../support/random-documents.ts';
import { scale } from '../support/scale.ts';

// Random documents over the whole schema, requested with each kind of credential. The compiled answer equals
// Yoga's answer by execution: data, errors, their order, HTTP status and headers.

/**
 * A failure names the seed of its document. With that seed as `PSA_DOCUMENTS_SEED` the first batches contain the
 * document again.
 */
const GIVEN_SEED = process.env.PSA_DOCUMENTS_SEED;
/** The number of documents whose requests run at the same time. */
const BATCH = 20;

let app: TestApp;
let world: World;
beforeAll(async () => {
  const clock = createManualClock();
  app = await startApp({
    clock,
    compileAfter: 1,
    environment: {
      PSA_FAST_PATH: 'on',
      PSA_GRAPHQL_LIMIT: '1000000',
      PSA_TRUSTED_PROXIES: '127.0.0.1,::1',
    },
  });
  world = await populate(app);
});
afterAll(async () => {
  agent.destroy();
  expect(app.faults).toEqual([]);
  await app.close();
});

const FIRST_SEED = Number(GIVEN_SEED ?? 1);

test('Every answer to random documents is the one of the execution', async () => {
  const seen = { compared: 0, withErrors: 0 };
  const before = app.fastAnswers();
  const end = FIRST_SEED + scale('DOCUMENTS');
  for (let seed = FIRST_SEED; seed < end; seed += BATCH) await compareBatch(app, world, seed, seen);
  // The comparison means nothing if few answers were compiled.
  expect((app.fastAnswers() - before) / seen.compared).toBeGreaterThan(0.1);
  expect(seen.withErrors / seen.compared).toBeGreaterThan(0.1);
}, 7_200_000);

test('Every update of a random subscription is the one of the execution', async () => {
  const updates = await captureUpdates(app, world);
  let compared = 0;
  const count = scale('SUBSCRIPTION_DOCUMENTS');
  for (let seed = FIRST_SEED; seed < FIRST_SEED + count; seed += 1)
    compared += await compareUpdates(updates, world, seed);
  expect(compared).toBeGreaterThan(count / 2);
}, 3_600_000);

interface World {
  credentials: readonly Headers[];
  values(field: string, argument: GraphQLArgument): Values;
  /** Changes something that the documents read. */
  write(random: Random): Promise<void>;
  /** Changes a resource of each kind that can be followed. */
  writeAll(): Promise<void>;
  followers: readonly string[];
}

// ── One batch ───────────────────────────────────────────────────────────────────────────────────

interface Case {
  seed: number;
  document: RandomDocument;
  variables: Record<string, unknown>;
  headers: Headers;
}

async function compareBatch(
  app: TestApp,
  world: World,
  firstSeed: number,
  seen: { compared: number; withErrors: number },
): Promise<void> {
  const all = Array.from({ length: BATCH }, (_, at) => caseOf(world, firstSeed + at));
  const random = createRandom(firstSeed);
  networks += 1;

  async function compare(first: readonly Compared[], second: readonly Compared[]): Promise<void> {
    const [one, other] = [await answersTo(app, first, random), await answersTo(app, second, random)];
    for (const { seed, document, variables, headers } of second) {
      const asked = { seed, query: document.query, variables, headers };
      expect({ asked, answer: other.get(seed) }).toEqual({ asked, answer: one.get(seed) });
      seen.compared += 1;
      if (one.get(seed)!.text.includes('"errors":')) seen.withErrors += 1;
    }
  }
  const byYoga = (some: readonly Compared[]) => some.map((each) => ({ ...each, isYogas: true }));
  const some = <Item>(items: readonly Item[]) => items.filter((_, index) => index % 4 === 0);

  // Yoga gives the first answer to a document; the request of a caller with all rights compiles it.
  const first = all.map((each) => ({
    ...each,
    variables: each.document.fitting,
    headers: { authorization: `Bearer ${LIVE_KEY}` },
  }));
  await compare(first, byYoga(some(first)));
  await compare(byYoga(all), all);
  await world.write(random);
  await compare(byYoga(some(all)), some(all));
}

type Compared = Case & { isYogas?: boolean };

function caseOf(world: World, seed: number): Case {
  const random = createRandom(seed);
  const document = randomDocument(schema, schema.getQueryType()!, world.values, random);
  const variables = random.below(3) > 0 ? document.fitting : document.others();
  return { seed, document, variables, headers: random.pick(world.credentials) };
}

/** Sends all requests at once, and returns the answers in any order. */
async function answersTo(
  app: TestApp,
  all: readonly Compared[],
  random: Random,
): Promise<Map<number, Answer>> {
  const answers = new Map<number, Answer>();
  await Promise.all(
    shuffled(all, random).map(async ({ seed, document, variables, headers, isYogas }) => {
      const { query, operationName } = document;
      const body = { query, operationName, variables, ...(isYogas && { extensions: {} }) };
      answers.set(seed, await post(app, body, headers));
    }),
  );
  return answers;
}

// ── Updates of subscriptions ────────────────────────────────────────────────────────────────────

/** An update as a subscription's resolver gets it, and the context of the credential that follows. */
interface Captured {
  item: object;
  context: Context;
}

const FOLLOWED = [
  'accountUpdates',
  'allCardPaymentUpdates',
  'allChargeUpdates',
  'allCheckoutTokenUpdates',
  'allDisputeUpdates',
  'allPaymentUpdates',
  'allPayoutUpdates',
  'allRefundUpdates',
  'allSubaccountPayoutUpdates',
  'allSubaccountUpdates',
  'allSubscriptionUpdates',
  'allWebhookDeliveryUpdates',
  'statementUpdates',
  'walletUpdates',
];

/** Collects updates of each kind, for credentials that may see different things. */
async function captureUpdates(app: TestApp, world: World): Promise<Map<string, Captured[]>> {
  const fields = schema.getSubscriptionType()!.getFields();
  const captured = new Map<string, Captured[]>(FOLLOWED.map((name) => [name, []]));
  const streams: Stream[] = [];
  const { updatesCursor: after } = await app.live.request('{ updatesCursor }');
  await world.writeAll();
  for (const name of FOLLOWED) {
    const field = fields[name]!;
    const { resolve } = field;
    field.resolve = (item, args, context, info) => {
      captured.get(name)!.push({ item: item as object, context: context as Context });
      return resolve!(item, args, context, info);
    };
    try {
      for (const credential of world.followers) {
        const query = `subscription ($after: String) { ${name}(after: $after) { cursor } }`;
        const stream = app.client(credential).sse(query, { after });
        streams.push(stream);
        await stream.data();
      }
    } finally {
      field.resolve = resolve!;
    }
  }
  for (const stream of streams) await stream.close();
  return captured;
}

/** A subscription has one root field, perhaps inside fragments. */
function rootFieldOf(document: DocumentNode, { selections }: SelectionSetNode): string {
  const first = selections[0]!;
  if (first.kind === Kind.FIELD) return first.name.value;
  if (first.kind === Kind.INLINE_FRAGMENT) return rootFieldOf(document, first.selectionSet);
  const fragment = document.definitions.find(
    (each): each is FragmentDefinitionNode =>
      each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === first.name.value,
  );
  return rootFieldOf(document, fragment!.selectionSet);
}

/** Compares the updates. Returns 1, or 0 for a document that is not compiled. */
async function compareUpdates(
  updates: ReadonlyMap<string, Captured[]>,
  world: World,
  seed: number,
): Promise<number> {
  const random = createRandom(seed);
  const { query, operationName, fitting } = randomDocument(
    schema,
    schema.getSubscriptionType()!,
    world.values,
    random,
  );
  const document = parse(query);
  const operation = getOperationAST(document, operationName)!;
  const run = compileOperation(schema, document, operation);
  if (!run) return 0;
  const name = rootFieldOf(document, operation.selectionSet);
  // The updates of one resource and those of all have one type.
  const ofAll = `all${name[0]!.toUpperCase()}${name.slice(1)}`;
  const followed = FOLLOWED.find((each) => each === name || each === ofAll)!;
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], fitting);
  for (const { item, context } of updates.get(followed)!) {
    const executed = await execute({
      schema,
      document,
      operationName,
      variableValues: fitting,
      rootValue: item,
      contextValue: context.freshContext(),
    });
    const compiled = await run(context.freshContext(), coerced!, item);
    const shown = (errors: readonly GraphQLError[] = []) => errors.map((error) => error.toJSON());
    expect({ seed, query, data: compiled.data, errors: shown(compiled.errors) }).toEqual({
      seed,
      query,
      data: JSON.stringify(executed.data),
      errors: shown(executed.errors),
    });
  }
  return 1;
}

// ── Requests ────────────────────────────────────────────────────────────────────────────────────

type Headers = Record<string, string>;

interface Answer {
  status: number;
  headers: unknown;
  text: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 });
/** A browser's token has a limit in each network: each batch uses a network of its own. */
let networks = 0;

function post(app: TestApp, body: object, headers: Headers): Promise<Answer> {
  const address = [10, networks >> 16, networks >> 8, networks].map((part) => part & 0xff).join('.');
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port: app.port,
        path: '/graphql',
        method: 'POST',
        agent,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          'x-forwarded-for': address,
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => {
          const { date: _, 'content-length': __, ...rest } = response.headers;
          const text = Buffer.concat(chunks).toString();
          resolve({
            status: response.statusCode ?? 0,
            headers: rest,
            // `remaining` is lower at the next request.
            text: text.replace(/"remaining":\d+/g, '"remaining":0'),
          });
        });
      },
    );
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });
}

// ── What there is ───────────────────────────────────────────────────────────────────────────────

async function populate(app: TestApp): Promise<World> {
  const other = await addKey(app, { accountId: await addAccount(app) });
  const clients = { live: app.live, sandbox: app.sandbox, other: app.client(other) };
  const { id: accountId } = await app.database.sql
    .selectFrom('account')
    .select('id')
    .orderBy('created_at')
    .executeTakeFirstOrThrow();
  await app.controls.credit({ accountId, environment: 'live' }, 10_000_000);

  const tenant = { accountId, environment: 'live' } as const;
  const names: Record<string, string[]> = {
    orderCode: [],
    paymentId: [],
    chargeId: [],
    productId: [],
    subaccountId: [],
  };
  const change = async (client: keyof typeof clients, mutation: string) => {
    const data = await clients[client].request(`mutation { made: ${mutation} }`);
    return data.made;
  };
  const makes = {
    payment: async (client: keyof typeof clients) => {
      const { cardPayment } = await change(
        client,
        'createCardPayment(input: { valueCents: 1000, description: "a \\"b\\" ü", customer: { name: "Ana" }, metadata: "{}" }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } }',
      );
      return cardPayment.orderCode as string;
    },
    pix: async (client: keyof typeof clients) => {
      const { payment } = await change(
        client,
        'createPayment(input: { valueCents: 1000, description: "a \\"b\\" ü", customer: { name: "Ana", taxId: "12345678909" }, metadata: "{}" }) { ... on CreatePaymentSuccess { payment { paymentId } } }',
      );
      return payment.paymentId as string;
    },
    charge: async (client: keyof typeof clients, subaccountId: string) => {
      const { charge } = await change(
        client,
        `createCharge(input: { valueCents: 1000, description: "ü", splits: [{ subaccountId: "${subaccountId}", share: { percent: "33.3" } }] }) { ... on CreateChargeSuccess { charge { chargeId } } }`,
      );
      return charge.chargeId as string;
    },
    product: async (client: keyof typeof clients) => {
      const { product } = await change(
        client,
        'createProduct(input: { name: "Caneca", priceCents: 4990 }) { ... on CreateProductSuccess { product { productId } } }',
      );
      return product.productId as string;
    },
    subaccount: async (client: keyof typeof clients) => {
      const { subaccount } = await change(
        client,
        'createSubaccount(input: { name: "Filial" }) { ... on CreateSubaccountSuccess { subaccount { subaccountId } } }',
      );
      return subaccount.subaccountId as string;
    },
  };
  await change('live', 'configureWebhook(input: { url: "https://loja.example/avisos" }) { __typename }');
  for (const client of ['live', 'live', 'other'] as const) {
    names.orderCode!.push(await makes.payment(client));
    names.paymentId!.push(await makes.pix(client));
    names.productId!.push(await makes.product(client));
    const opened = await makes.subaccount(client);
    names.subaccountId!.push(opened);
    names.chargeId!.push(await makes.charge(client, opened));
  }
  const [subaccountId] = names.subaccountId as [string];
  await change(
    'live',
    `transferToSubaccount(input: { subaccountId: "${subaccountId}", amountCents: 1000000, idempotencyKey: "a" }) { __typename }`,
  );
  const { payout } = await change(
    'live',
    'requestPayout(input: { method: PIX, destination: "ana@padaria.example", amountCents: 2000, idempotencyKey: "a" }) { ... on RequestPayoutSuccess { payout { withdrawalId code } } }',
  );
  await change(
    'live',
    `requestSubaccountPayout(input: { subaccountId: "${subaccountId}", amountCents: 4000, pixKey: "bia@cliente.example", idempotencyKey: "b" }) { __typename }`,
  );
  await change('sandbox', 'createTestPayment(input: { valueCents: 100000 }) { __typename }');
  const refund = async (orderCode: string) =>
    change(
      'live',
      `refundCardPayment(input: { orderCode: "${orderCode}", amountCents: 10, reason: "um ü", idempotencyKey: "${orderCode}" }) { ... on RefundCardPaymentSuccess { refund { refundId } } }`,
    );
  const refunded = await makes.payment('live');
  await app.cardPayments.pay(refunded, approved());
  const { refundId } = (await refund(refunded)).refund;
  // A PIX payment that is paid twice, the second time with another amount, and refunded in part.
  const payByPix = async (paymentId: string) => {
    for (const amountCents of [1000, 1001]) await app.pix.pay({ txid: txidOf(paymentId), amountCents });
    await app.payments.receive(tenant, paymentId);
    await change(
      'live',
      `refundPayment(input: { paymentId: "${paymentId}", amountCents: 10, idempotencyKey: "${paymentId}" }) { __typename }`,
    );
  };
  await payByPix(names.paymentId![0]!);
  const payCharge = async (chargeId: string) => {
    for (const amountCents of [1000, 1001]) await app.pix.pay({ txid: txidOf(chargeId), amountCents });
    await app.charges.receive(tenant, chargeId);
    await change(
      'live',
      `refundCharge(input: { chargeId: "${chargeId}", amountCents: 10, idempotencyKey: "${chargeId}" }) { __typename }`,
    );
  };
  await payCharge(names.chargeId![0]!);
  const dispute = await app.controls.disputePayment(
    tenant,
    { type: 'charge', id: names.chargeId![0]! },
    { amountCents: 20 },
  );
  const { disputeId } = dispute!;
  const { subscriptionId } = (
    await change(
      'live',
      'createSubscription(input: { valueCents: 500, interval: WEEKLY }) { ... on CreateSubscriptionSuccess { subscription { subscriptionId } } }',
    )
  ).subscription;
  await change(
    'live',
    `createDelivery(input: { productId: "${names.productId![0]}", content: { text: "Obrigada!" } }) { __typename }`,
  );
  await app.work.settled();

  const ids = Object.values(
    await app.live.request(
      '{ wallet { id } a: payouts { nodes { id } } b: cardPayments { nodes { id } } c: refunds { nodes { id } } d: payments { nodes { id } } e: charges { nodes { id } } f: disputes { nodes { id } } g: deliveries { nodes { id } } h: subscriptions { nodes { id } } }',
    ),
  ).flatMap(
    (each) => (each as { id?: string }).id ?? (each as { nodes: { id: string }[] }).nodes.map(({ id }) => id),
  );
  const cursors: Record<string, string> = {};
  const lists = [
    ...['payouts', 'cardPayments', 'payments', 'charges', 'refunds', 'products', 'subaccounts'],
    ...['disputes', 'deliveries', 'subscriptions'],
  ];
  for (const list of [...lists, 'webhookDeliveries']) {
    const data = await app.live.request(`{ ${list}(first: 1) { pageInfo { endCursor } } }`);
    cursors[`Query.${list}`] = data[list].pageInfo.endCursor;
  }

  const bearer = (credential: string): Headers => ({ authorization: `Bearer ${credential}` });
  const dashboards = [
    ['wallet'],
    ['payouts', 'webhooks'],
    ['subaccounts'],
    ['card_payments', 'products'],
    ['payments'],
    ['disputes', 'subscriptions'],
  ];
  const credentials: Headers[] = [
    ...[LIVE_KEY, LIVE_KEY, LIVE_KEY, TEST_KEY, other, await addKey(app)].map(bearer),
    bearer(await addKey(app, { permissions: ['subcontas.gerenciar'] })),
    bearer(await addKey(app, { permissions: ['subcontas.sacar'] })),
    bearer(await addToken(app, { kind: 'payment', grant: { orderCode: names.orderCode![0]! } })),
    bearer(await addToken(app, { kind: 'payment', grant: { paymentId: names.paymentId![0]! } })),
    bearer(await addToken(app, { kind: 'dashboard', grant: { scopes: ['wallet'] }, expiresAt: new Date(0) })),
    {
      ...bearer(
        await addToken(app, {
          kind: 'dashboard',
          grant: { scopes: ['wallet'] },
          allowedOrigins: ['https://loja.example'],
        }),
      ),
      origin: 'https://other.example',
    },
    {},
    { authorization: 'Bearer x' },
    { ...bearer(LIVE_KEY), accept: 'application/graphql-response+json' },
  ];
  for (const scopes of dashboards)
    credentials.push(bearer(await addToken(app, { kind: 'dashboard', grant: { scopes } })));
  const { token } = await change(
    'live',
    'createCheckoutToken(input: { methods: [PIX, CARD], amount: { fixedCents: 100 } }) { ... on CreateCheckoutTokenSuccess { token } }',
  );
  credentials.push(bearer(token));

  const { webhookDeliveries } = await app.live.request(
    '{ webhookDeliveries(first: 2) { nodes { webhookId } } }',
  );
  const webhookIds = webhookDeliveries.nodes.map(({ webhookId }: { webhookId: string }) => webhookId);

  const wrongTexts = ['', 'x', 'PSC-0123456789ABCDEFGHJKMNPQ', '\u0000', 'ü'.repeat(300), 7];
  const known: Record<string, Values> = {
    orderCode: { fitting: names.orderCode!, others: wrongTexts },
    paymentId: { fitting: names.paymentId!, others: [`psa_${'0'.repeat(32)}`, ...wrongTexts] },
    chargeId: { fitting: names.chargeId!, others: [`psc_${'0'.repeat(32)}`, ...wrongTexts] },
    productId: { fitting: names.productId!, others: wrongTexts },
    disputeId: { fitting: [disputeId], others: [`dsp_${'0'.repeat(24)}`, ...wrongTexts] },
    subscriptionId: { fitting: [subscriptionId], others: [`psa_sub_${'0'.repeat(32)}`, ...wrongTexts] },
    subaccountId: { fitting: names.subaccountId!, others: wrongTexts },
    reference: { fitting: ['saq_idem_b', 'saq_idem_none'], others: wrongTexts },
    refundId: { fitting: [refundId], others: wrongTexts },
    startsAt: { fitting: ['2026-01-01T00:00:00Z'], others: ['2026-01-32T00:00:00Z', ...wrongTexts] },
    endsAt: { fitting: ['2026-02-01T00:00:00Z', '2026-01-02T03:04:05Z'], others: wrongTexts },
    instant: { fitting: ['2026-02-01T00:00:00Z', '2036-02-01T00:00:00Z'], others: wrongTexts },
    timeZone: { fitting: ['America/Sao_Paulo', 'UTC', null], others: ['America/Nowhere', ...wrongTexts] },
    webhookId: { fitting: [...webhookIds, 'whk_none'], others: wrongTexts },
    endpointId: { fitting: [null, `whe_${'0'.repeat(24)}`], others: wrongTexts },
    withdrawalId: { fitting: [payout.withdrawalId], others: [null, ...wrongTexts] },
    code: { fitting: [null], others: [payout.code, ...wrongTexts] },
    id: { fitting: ids, others: ['', 'x', Buffer.from('Payout:x').toString('base64'), 7, null] },
    ids: { fitting: [ids, ids.slice(1), []], others: [['x'], [...ids, 'x'], [null], 'x'] },
    first: { fitting: [1, 2, 5, null], others: [0, -1, 100, 101, 2 ** 31, 1.5, '1'] },
    last: { fitting: [null], others: [1, 2, 0, 101] },
    before: { fitting: [null], others: ['x', '', ...Object.values(cursors)] },
  };
  const payOut = async (key: string) => {
    await change(
      'live',
      `requestPayout(input: { method: PIX, destination: "ana@padaria.example", amountCents: 2000, idempotencyKey: "${key}" }) { __typename }`,
    );
    await change(
      'live',
      `requestSubaccountPayout(input: { subaccountId: "${subaccountId}", amountCents: 4000, pixKey: "bia@cliente.example", idempotencyKey: "${key}" }) { __typename }`,
    );
  };
  return {
    credentials,
    followers: [
      LIVE_KEY,
      await addToken(app, {
        kind: 'dashboard',
        grant: {
          scopes: [
            'wallet',
            'payouts',
            'subaccounts',
            'card_payments',
            'payments',
            'disputes',
            'subscriptions',
            'webhooks',
          ],
        },
      }),
    ],
    async writeAll() {
      const orderCode = await makes.payment('live');
      await app.cardPayments.pay(orderCode, approved());
      await refund(orderCode);
      const paymentId = await makes.pix('live');
      await payByPix(paymentId);
      await app.controls.disputePayment(tenant, { type: 'payment', id: paymentId }, { amountCents: 20 });
      await payCharge(await makes.charge('live', subaccountId));
      await change('live', 'createSubscription(input: { valueCents: 500, interval: WEEKLY }) { __typename }');
      await payOut('followed');
      const mint =
        'mutation { createCheckoutToken(input: { amount: { fixedCents: 500 } }) { ... on CreateCheckoutTokenSuccess { token } } }';
      const { token } = (await app.live.request(mint)).createCheckoutToken;
      await app.live.request('mutation ($token: String!) { pauseToken(token: $token) { __typename } }', {
        token,
      });
      await app.work.settled();
    },
    values(field, argument) {
      if (argument.name === 'after')
        return {
          fitting: [null, null, cursors[field] ?? null],
          others: ['x', '', ...Object.values(cursors)],
        };
      const type = getNamedType(argument.type);
      if (argument.name === 'filter' && isInputObjectType(type)) return filtersOf(type);
      return known[argument.name] ?? anyValues(argument.type);
    },
    async write(random) {
      await random.pick([
        () => makes.payment('live'),
        () => makes.pix('live'),
        () => makes.charge('live', subaccountId),
        () => makes.product(random.pick(['live', 'other'] as const)),
        () => change('sandbox', 'createTestPayment(input: { valueCents: 100000 }) { __typename }'),
        () =>
          change(
            'live',
            `transferToSubaccount(input: { subaccountId: "${subaccountId}", amountCents: 1, idempotencyKey: "${newKey()}" }) { __typename }`,
          ),
      ])();
      await app.work.settled();
    },
  };
}

/** The filters of a list: none, each of its fields alone, and all of them. */
function filtersOf(type: GraphQLInputObjectType): Values {
  const valueFor = (field: GraphQLInputType): unknown => {
    const nullable = getNullableType(field);
    if (isListType(nullable)) return [valueFor(nullable.ofType)];
    if (isEnumType(nullable)) return nullable.getValues()[0]!.name;
    if (!isInputObjectType(nullable)) return VALUES_OF_FILTERS[nullable.name];
    const [first] = Object.values(nullable.getFields());
    return { [first!.name]: valueFor(first!.type) };
  };
  const each = Object.values(type.getFields()).map(({ name, type: of }) => ({ [name]: valueFor(of) }));
  return {
    fitting: [null, {}, ...each, Object.assign({}, ...each)],
    others: [...each.map((one) => ({ [Object.keys(one)[0]!]: ['x', -1] })), { x: 1 }, 1],
  };
}

const VALUES_OF_FILTERS: Record<string, unknown> = {
  Boolean: false,
  Cents: 100,
  DateTime: '2026-01-01T00:00:00Z',
  Int: 200,
  String: 'S-1',
};
