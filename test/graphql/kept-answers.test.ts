import { type GraphQLObjectType, getNamedType, isLeafType, isObjectType, isRequiredArgument } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Caller } from '../../server/src/access/model.ts';
import { openPostgres } from '../../server/src/db/postgres.ts';
import { createKeptAnswers } from '../../server/src/graphql/kept-answers.ts';
import { schema } from '../../server/src/graphql/schema.ts';
import { addAccount, addKey, addToken } from '../support/accounts.ts';
import { LIVE_KEY, startApp, TEST_KEY, type TestApp } from '../support/app.ts';
import { createManualClock } from '../support/clock.ts';
import { createPostgresDatabase, openFreshPglite } from '../support/database.ts';
import { sampled } from '../support/scale.ts';
import { silent } from '../support/templates.ts';

const environment = { PSA_GRAPHQL_LIMIT: '900000' };
let app: TestApp;

beforeAll(async () => {
  app = await startApp({ compileAfter: 1, environment, database: await openFreshPglite() });
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever was asked for
  body: any;
  wasKept: boolean;
}

async function ask(query: string, credential: string = LIVE_KEY, server: TestApp = app): Promise<Answer> {
  const before = server.fastAnswers().kept;
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${credential}`,
      'content-type': 'application/json',
      accept: 'application/json',
    },
    body: JSON.stringify({ query }),
  });
  return {
    status: response.status,
    body: await response.json(),
    wasKept: server.fastAnswers().kept > before,
  };
}

/** By Yoga, by what it was compiled into, and then as it was kept. */
async function askUntilKept(query: string, credential?: string, server?: TestApp): Promise<Answer> {
  await ask(query, credential, server);
  await ask(query, credential, server);
  return ask(query, credential, server);
}

const WALLET = '{ wallet { balanceCents } }';
const pays = (query: string, credential = TEST_KEY, server = app) =>
  server.client(credential).request(`mutation { ${query} { __typename } }`);
const TEST_PAYMENT = 'createTestPayment(input: { valueCents: 100000 })';

describe('an answer is kept', () => {
  test('until something is written, by whomever', async () => {
    const first = await askUntilKept(WALLET, TEST_KEY);
    expect(first.wasKept).toBe(true);
    await pays(TEST_PAYMENT);
    const anew = await ask(WALLET, TEST_KEY);
    expect(anew.wasKept).toBe(false);
    expect(anew.body.data.wallet.balanceCents).toBe(first.body.data.wallet.balanceCents + 100_000);
    expect(await ask(WALLET, TEST_KEY)).toEqual({ ...anew, wasKept: true });

    const another = await addKey(app, { accountId: await addAccount(app), environment: 'sandbox' });
    expect((await ask(WALLET, TEST_KEY)).wasKept).toBe(false);
    expect((await ask(WALLET, TEST_KEY)).wasKept).toBe(true);
    await pays(TEST_PAYMENT, another);
    expect((await ask(WALLET, TEST_KEY)).wasKept).toBe(false);
  });

  test('until what was due has been done', async () => {
    const { createCardPayment } = await app.live.request(
      'mutation { createCardPayment(input: { valueCents: 1000 }) { ... on CardPaymentSuccess { cardPayment { orderCode } } } }',
    );
    const query = `{ cardPayment(orderCode: "${createCardPayment.cardPayment.orderCode}") { status } }`;
    const pending = await askUntilKept(query);
    expect(pending).toMatchObject({ wasKept: true, body: { data: { cardPayment: { status: 'PENDING' } } } });
    app.clock.advance(30 * 60_000);
    await app.work.settled();
    expect((await ask(query)).body.data.cardPayment.status).toBe('EXPIRED');
  });

  test('for whoever may see the same, and for nobody else', async () => {
    const mine = await askUntilKept(WALLET);
    const dashboard = () => addToken(app, { kind: 'dashboard', grant: { scopes: ['wallet'] } });
    const [one, other, blind] = [
      await dashboard(),
      await dashboard(),
      await addToken(app, { kind: 'dashboard', grant: { scopes: ['payouts'] } }),
    ];
    const stranger = await addKey(app, { accountId: await addAccount(app) });
    const restricted = await addKey(app, { permissions: ['subcontas.sacar'] });
    expect((await askUntilKept(WALLET, one)).wasKept).toBe(true);
    // Another credential of the same rights.
    await ask(WALLET, other);
    expect(await ask(WALLET, one)).toEqual({ ...mine, wasKept: true });
    for (const refused of [blind, restricted]) {
      const { body, wasKept } = await askUntilKept(WALLET, refused);
      expect({ data: body.data, code: body.errors[0].extensions.code, wasKept }).toEqual({
        data: null,
        code: 'FORBIDDEN',
        wasKept: false,
      });
    }
    expect((await ask(WALLET, stranger)).wasKept).toBe(false);
    await expect(ask(WALLET, 'ps_live_nobody')).resolves.toMatchObject({ status: 401, wasKept: false });
    expect((await ask('{ wallet { environment balanceCents } }', TEST_KEY)).wasKept).toBe(false);
  });

  test('and counts as often as it is asked for', async () => {
    // Taken from the database six at a time.
    const small = await startApp({
      compileAfter: 1,
      environment: { PSA_GRAPHQL_LIMIT: '121' },
      database: await openFreshPglite(),
    });
    try {
      const query = '{ a: wallet { balanceCents } b: wallet { balanceCents } }';
      const answers: Answer[] = [];
      for (let index = 0; index < 60; index += 1) answers.push(await ask(query, LIVE_KEY, small));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
      expect(answers.filter(({ wasKept }) => wasKept).length).toBeGreaterThan(30);
      // One is left: as it would be answered where nothing were kept.
      const refused = await ask(query, LIVE_KEY, small);
      expect(refused).toMatchObject({ status: 429, wasKept: false });
      expect(refused.body.errors.map(({ path }: { path: string[] }) => path)).toEqual([['b']]);
      expect((await ask(WALLET, LIVE_KEY, small)).status).toBe(429);
    } finally {
      await small.close();
    }
  });

  test('nowhere where others may write', async () => {
    const clock = createManualClock();
    const database = await openPostgres({
      databaseUrl: await createPostgresDatabase(),
      clock,
      log: silent,
    });
    const shared = await startApp({ compileAfter: 1, environment, clock, database });
    try {
      expect((await askUntilKept(WALLET, LIVE_KEY, shared)).wasKept).toBe(false);
      expect(shared.fastAnswers()).toEqual({ compiled: 2, kept: 0 });
    } finally {
      await shared.close();
    }
  });
});

// ── Every field ─────────────────────────────────────────────────────────────────────────────────

/** For each field of each type that a query can reach without an abstract type, a document that asks for it. */
function documents(given: Record<string, string>): Map<string, string> {
  const found = new Map<string, string>();
  const reached = new Set([schema.getQueryType()!]);
  const places: { type: GraphQLObjectType; path: string; around: (inner: string) => string }[] = [
    { type: schema.getQueryType()!, path: '', around: (inner) => `{ ${inner} }` },
  ];
  // The shortest way to each.
  for (const { type, path, around } of places)
    for (const field of Object.values(type.getFields())) {
      const named = getNamedType(field.type);
      const args = given[`${type.name}.${field.name}`] ?? '';
      if (field.args.some(isRequiredArgument) && !args)
        throw new Error(`${type.name}.${field.name} has arguments that are not known here`);
      const here = path ? `${path}.${field.name}` : field.name;
      const asked = (inner: string) => around(`${field.name}${args} ${inner}`);
      if (isLeafType(named)) found.set(here, asked(''));
      if (!isObjectType(named)) continue;
      found.set(here, asked('{ __typename }'));
      if (reached.has(named)) continue;
      reached.add(named);
      places.push({ type: named, path: here, around: (inner) => asked(`{ ${inner} }`) });
    }
  return found;
}

test('of every field that there is, only those of the instant and of who asks are looked up again', async () => {
  const { id: accountId } = await app.database.sql
    .selectFrom('account')
    .select('id')
    .orderBy('created_at')
    .executeTakeFirstOrThrow();
  await app.levers.credit({ accountId, environment: 'live' }, 100_000);
  const { createCardPayment } = await app.live.request(
    'mutation { createCardPayment(input: { valueCents: 1000, customer: { name: "Ana" }, metadata: "{}" }) { ... on CardPaymentSuccess { cardPayment { orderCode } } } }',
  );
  const { createProduct } = await app.live.request(
    'mutation { createProduct(input: { name: "Caneca", priceCents: 4990 }) { ... on ProductSuccess { product { productId } } } }',
  );
  const { requestPayout } = await app.live.request(
    'mutation { requestPayout(input: { method: PIX, destination: "ana@padaria.example", amountCents: 2000, idempotencyKey: "kept" }) { __typename ... on PayoutSuccess { payout { withdrawalId } } } }',
  );
  const { createSubaccount } = await app.live.request(
    'mutation { createSubaccount(input: { name: "Filial" }) { ... on SubaccountSuccess { subaccount { subaccountId } } } }',
  );
  await app.work.settled();
  const { subaccountId } = createSubaccount.subaccount;
  const every = documents({
    'Query.cardPayment': `(orderCode: "${createCardPayment.cardPayment.orderCode}")`,
    'Query.payout': `(withdrawalId: "${requestPayout.payout?.withdrawalId}")`,
    'Query.product': `(productId: "${createProduct.product.productId}")`,
    'Query.subaccount': `(subaccountId: "${subaccountId}")`,
    'Query.subaccountPayout': `(subaccountId: "${subaccountId}", reference: "saq_idem_none")`,
    'Subaccount.payout': '(reference: "saq_idem_none")',
    'Query.node': '(id: "none")',
    'Query.nodes': '(ids: [])',
  });
  const ofTheInstant = ['viewer.rateLimit.remaining', 'cardPayment.expiresInSeconds'];
  const all = new Map([
    ...sampled([...every], 3),
    ...ofTheInstant.map((path) => [path, every.get(path)!] as const),
  ]);
  const momentary: string[] = [];
  const before = new Map<string, Answer>();
  for (const [path, query] of all) {
    const answer = await askUntilKept(query, LIVE_KEY);
    expect({ path, errors: answer.body.errors }).toEqual({ path, errors: undefined });
    if (answer.wasKept) before.set(path, answer);
    else momentary.push(path);
  }
  // A moment in which nothing falls due.
  app.clock.advance(1_500);
  await app.work.settled();
  for (const [path, query] of all) {
    const kept = before.get(path);
    if (!kept) continue;
    // Another document of the same meaning, which nobody has asked for.
    const anew = await ask(`${query} # anew`, LIVE_KEY);
    expect({ path, data: kept.body.data }).toEqual({ path, data: anew.body.data });
  }
  expect(momentary.filter((path) => !/^(?:viewer|pausedTokens)\b|\.expiresInSeconds$/.test(path))).toEqual(
    [],
  );
  expect(momentary).toEqual(expect.arrayContaining(ofTheInstant));
  expect(every.size).toBeGreaterThan(100);
  expect(before.size).toBeGreaterThan(all.size / 2);
});

// ── What is kept ────────────────────────────────────────────────────────────────────────────────

describe('what was read', () => {
  const caller = {
    tenant: { accountId: 'acc_1', environment: 'live' },
    credential: { kind: 'api_key', id: 'key_1', permissions: [] },
    allowedOrigins: [],
    expiresAt: null,
  } as unknown as Caller;
  const answer = (content: string) => ({ content, bytes: Buffer.byteLength(content) });

  test('while something was written is not kept, nor what was read before and is told after', () => {
    let writes = 0;
    const kept = createKeptAnswers(() => writes);
    const get = () => kept.get(1, caller)?.content;
    expect(get()).toBeUndefined();
    const early = kept.reading(1, caller);
    writes += 1;
    early(answer('old'));
    expect(get()).toBeUndefined();
    early(answer('old'));
    expect(get()).toBeUndefined();

    kept.reading(1, caller)(answer('new'));
    expect(get()).toBe('new');
    expect(kept.get(2, caller)).toBeUndefined();
    writes += 1;
    expect(get()).toBeUndefined();
  });

  test('fills a few megabytes, and no more', () => {
    const kept = createKeptAnswers(() => 0);
    const long = answer('á'.repeat(50_000));
    let most = 0;
    for (let operation = 0; operation < 200; operation += 1) {
      kept.get(operation, caller);
      kept.reading(operation, caller)(long);
      const held = Array.from({ length: operation + 1 }, (_, each) => kept.get(each, caller)).filter(Boolean);
      most = Math.max(most, held.length);
    }
    expect(most).toBeGreaterThan(20);
    expect(most).toBeLessThanOrEqual(40);
    expect(kept.get(199, caller)?.content.toString()).toBe(long.content);
  });
});
