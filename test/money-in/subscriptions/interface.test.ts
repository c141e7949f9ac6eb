import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { OPTIONAL_WEBHOOK_EVENTS } from '../../../server/src/webhooks/sent-events.ts';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { createManualClock } from '../../support/clock.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { recordStatements } from '../../support/statements.ts';
import { ownMembers } from '../../support/webhook-bodies.ts';

// Subscriptions over GraphQL and REST, in sandbox, and their webhooks.

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ABSENT = `psa_sub_${'0'.repeat(32)}`;
const FIELDS = `subscriptionId status amountCents currency interval endsAfterCycles description
  customer { name email taxId } metadata pix { copyPaste txid qr { size } } checkoutUrl expiresAt nextDueAt
  cancelReason canceledAt createdAt returnedCredits { cause amountCents } final version`;
const CYCLE = 'number status amountCents dueAt attempts nextAttemptAt failureReason paidAt';
const ERRORS = '... on UserError { code message } ... on ValidationError { fields { path message } }';
const CREATE = `mutation ($input: CreateSubscriptionInput!) { createSubscription(input: $input) { __typename
  ... on CreateSubscriptionSuccess { replayed subscription { id ${FIELDS} } } ${ERRORS} } }`;
const CANCEL = `mutation ($subscriptionId: String!) { cancelSubscription(subscriptionId: $subscriptionId) { __typename
  ... on CancelSubscriptionSuccess { replayed subscription { status cancelReason final } } ${ERRORS} } }`;
const ONE = `query ($subscriptionId: String!) { subscription(subscriptionId: $subscriptionId) { id ${FIELDS}
  cycles(first: 2) { totalCount nodes { ${CYCLE} payment { paymentId subscriptionId status } } pageInfo { hasNextPage endCursor } } } }`;
const CYCLES = `query ($id: ID!, $first: Int, $after: String, $last: Int, $before: String) { node(id: $id) {
  ... on PixSubscription { cycles(first: $first, after: $after, last: $last, before: $before) {
    totalCount nodes { number } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } } }`;
const SIMULATE = `mutation ($input: SimulatePaymentInput!) { simulatePayment(input: $input) { __typename
  ... on SimulatePaymentSuccess { node { ... on PixSubscription { status nextDueAt returnedCredits { cause } } } } ${ERRORS} } }`;
const CONFIGURE = `mutation ($input: ConfigureWebhookInput!) { configureWebhook(input: $input) { __typename ${ERRORS} } }`;
const UPDATE = `cursor previousStatus cycle { number status attempts } subscription { subscriptionId status version }`;
const FOLLOW = `subscription ($subscriptionId: String!, $after: String) {
  subscriptionUpdates(subscriptionId: $subscriptionId, after: $after) { ${UPDATE} } }`;
const ALL = `subscription ($after: String) { allSubscriptionUpdates(after: $after) { ${UPDATE} } }`;

let app: TestApp;
let statements: string[];
beforeAll(async () => {
  const clock = createManualClock();
  const recorded = recordStatements(await openFreshDatabase(clock));
  statements = recorded.statements;
  app = await startApp({ database: recorded.database, clock });
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

async function merchant(environment: Tenant['environment'] = 'live') {
  const tenant = { accountId: await addAccount(app), environment };
  const key = await addKey(app, tenant);
  return { tenant, client: app.client(key), rest: app.rest(key) };
}
type Merchant = Awaited<ReturnType<typeof merchant>>;

const create = async ({ client }: Pick<Merchant, 'client'>, input: object = {}) =>
  (await client.request(CREATE, { input: { valueCents: 4990, interval: 'MONTHLY', ...input } }))
    .createSubscription;
const subscribe = async (shop: Merchant, input: object = {}): Promise<string> =>
  (await create(shop, input)).subscription.subscriptionId;
const find = async ({ client }: Merchant, subscriptionId: string) =>
  (await client.request(ONE, { subscriptionId })).subscription;
async function authorise(subscriptionId: string): Promise<void> {
  await app.pix.pay({ txid: txidOf(subscriptionId) });
  await app.work.settled();
}
const simulate = async ({ client }: Merchant, input: object) =>
  (await client.request(SIMULATE, { input })).simulatePayment;

describe('a subscription over GraphQL', () => {
  test('A subscription is created with a code, and found by id and by node', async () => {
    const shop = await merchant();
    const given = {
      description: 'Clube do café',
      customer: { name: 'Ana', email: 'ana@example.com', taxId: '123.456.789-09' },
      metadata: ' {"a":1} ',
      endsAfterCycles: 12,
    };
    const made = await create(shop, given);
    const { subscriptionId, id, pix } = made.subscription;
    const now = app.clock.now().getTime();
    expect(made).toEqual({
      __typename: 'CreateSubscriptionSuccess',
      replayed: false,
      subscription: {
        ...given,
        customer: { ...given.customer, taxId: '***.456.789-**' },
        id,
        subscriptionId,
        status: 'PENDING',
        amountCents: 4990,
        currency: 'BRL',
        interval: 'MONTHLY',
        pix: { ...pix, txid: txidOf(subscriptionId) },
        checkoutUrl: `${app.url}/checkout/${subscriptionId}`,
        createdAt: new Date(now).toISOString(),
        expiresAt: new Date(now + DAY).toISOString(),
        nextDueAt: null,
        cancelReason: null,
        canceledAt: null,
        returnedCredits: [],
        final: false,
        version: 2,
      },
    });
    expect(subscriptionId).toMatch(/^psa_sub_[0-9a-f]{32}$/);
    const { cycles, ...found } = await find(shop, subscriptionId);
    expect(found).toEqual(made.subscription);
    expect(cycles).toEqual({ totalCount: 0, nodes: [], pageInfo: { hasNextPage: false, endCursor: null } });
    const node = 'query ($id: ID!) { node(id: $id) { ... on PixSubscription { subscriptionId } } }';
    expect(await shop.client.request(node, { id })).toEqual({ node: { subscriptionId } });
  });

  test('An authorised one has its cycles, each with the payment that it has made', async () => {
    const shop = await merchant();
    const subscriptionId = await subscribe(shop);
    await authorise(subscriptionId);
    const found = await find(shop, subscriptionId);
    expect(found).toMatchObject({ status: 'ACTIVE', pix: null, final: false });
    const [second, first] = found.cycles.nodes;
    expect(second).toMatchObject({ number: 2, status: 'SCHEDULED', attempts: 0, payment: null });
    expect(second.dueAt).toBe(found.nextDueAt);
    expect(first).toMatchObject({
      number: 1,
      status: 'PAID',
      attempts: 1,
      amountCents: 4990,
      nextAttemptAt: null,
      payment: { subscriptionId, status: 'PAID' },
    });
    const dashboard = app.client(
      await addToken(app, { ...shop.tenant, kind: 'dashboard', grant: { scopes: ['subscriptions'] } }),
    );
    const seen = (await dashboard.request(ONE, { subscriptionId })).subscription;
    expect(seen.cycles.nodes.map(({ payment }: { payment: unknown }) => payment)).toEqual([null, null]);
  });

  test('The same key gives the same subscription, and another input is refused', async () => {
    const shop = await merchant();
    const [first, again, other] = [
      await create(shop, { idempotencyKey: 'k' }),
      await create(shop, { idempotencyKey: 'k' }),
      await create(shop, { idempotencyKey: 'k', valueCents: 1 }),
    ];
    expect([first.replayed, again.replayed]).toEqual([false, true]);
    expect(again.subscription).toEqual(first.subscription);
    expect(other).toMatchObject({ __typename: 'IdempotencyError' });
  });

  test('Bad input is refused by the name of its field', async () => {
    const shop = await merchant();
    for (const [input, path] of [
      [{ interval: 'UNKNOWN' }, 'input.interval'],
      [{ endsAfterCycles: 0 }, 'input.endsAfterCycles'],
      [{ endsAfterCycles: 521 }, 'input.endsAfterCycles'],
      [{ valueCents: 0 }, 'input.valueCents'],
      [{ metadata: 'no' }, 'input.metadata'],
      [{ successUrl: 'javascript:alert(1)' }, 'input.successUrl'],
      [{ description: 'x'.repeat(201) }, 'input.description'],
      [{ idempotencyKey: ' !' }, 'input.idempotencyKey'],
    ] as const)
      expect([input, await create(shop, input)]).toMatchObject([
        ...[input, { __typename: 'ValidationError', fields: [{ path }] }],
      ]);
  });

  test('A cancellation ends it, and another is a success that changes nothing', async () => {
    const shop = await merchant();
    const subscriptionId = await subscribe(shop);
    const cancel = async (id: string, { client } = shop) =>
      (await client.request(CANCEL, { subscriptionId: id })).cancelSubscription;
    expect(await cancel(subscriptionId, await merchant())).toMatchObject({ __typename: 'NotFoundError' });
    const canceled = { status: 'CANCELED', cancelReason: 'MERCHANT', final: true };
    expect(await cancel(subscriptionId)).toMatchObject({ replayed: false, subscription: canceled });
    expect(await cancel(subscriptionId)).toMatchObject({ replayed: true, subscription: canceled });
    expect(await cancel(ABSENT)).toMatchObject({ __typename: 'NotFoundError' });
    expect(await cancel('psa_1')).toMatchObject({
      __typename: 'ValidationError',
      fields: [{ path: 'subscriptionId' }],
    });
  });

  test('The cycles of a subscription are listed in both directions', async () => {
    const shop = await merchant();
    const subscriptionId = await subscribe(shop);
    await authorise(subscriptionId);
    const { id } = await find(shop, subscriptionId);
    const cycles = async (variables: object) =>
      (await shop.client.request(CYCLES, { id, ...variables })).node.cycles;
    const newest = await cycles({ first: 1 });
    expect(newest).toMatchObject({ totalCount: 2, nodes: [{ number: 2 }], pageInfo: { hasNextPage: true } });
    expect(await cycles({ after: newest.pageInfo.endCursor })).toMatchObject({
      nodes: [{ number: 1 }],
      pageInfo: { hasNextPage: false },
    });
    expect(await cycles({ last: 1 })).toMatchObject({ nodes: [{ number: 1 }] });
  });

  test('The cycles of many subscriptions are read in one statement for each end, and counted in one', async () => {
    const shop = await merchant();
    const ids: string[] = [];
    for (let count = 0; count < 6; count += 1) ids.unshift(await subscribe(shop));
    await authorise(ids[0]!);
    await authorise(ids[5]!);
    statements.length = 0;
    const { subscriptions } = await shop.client.request(
      `{ subscriptions(first: 6) { nodes { subscriptionId
        newest: cycles(first: 1) { totalCount nodes { number } pageInfo { hasNextPage } }
        all: cycles(first: 3) { nodes { number } pageInfo { hasNextPage } }
        oldest: cycles(last: 1) { nodes { number } pageInfo { hasPreviousPage } } } } }`,
    );
    // The statements read the pages of both ends, and then the totals.
    expect(statements.filter((statement) => statement.includes('subscription_cycle'))).toHaveLength(2 + 1);
    const { nodes } = subscriptions;
    expect(nodes.map((node: { subscriptionId: string }) => node.subscriptionId)).toEqual(ids);
    for (const index of [0, 5])
      expect(nodes[index]).toMatchObject({
        newest: { totalCount: 2, nodes: [{ number: 2 }], pageInfo: { hasNextPage: true } },
        all: { nodes: [{ number: 2 }, { number: 1 }], pageInfo: { hasNextPage: false } },
        oldest: { nodes: [{ number: 1 }], pageInfo: { hasPreviousPage: true } },
      });
    expect(nodes[2]).toMatchObject({ newest: { totalCount: 0, nodes: [] }, oldest: { nodes: [] } });
  });
});

describe('following subscriptions', () => {
  test('Each change comes once, in order, from the first state to the last', async () => {
    const shop = await merchant();
    const { updatesCursor } = await shop.client.request('{ updatesCursor }');
    const subscriptionId = await subscribe(shop, { endsAfterCycles: 1 });
    const stream = shop.client.ws(FOLLOW, { subscriptionId });
    const first = (await stream.data()).subscriptionUpdates;
    expect(first).toMatchObject({ previousStatus: null, cycle: null, subscription: { status: 'PENDING' } });
    await authorise(subscriptionId);
    const cycle = { number: 1, status: 'PAID', attempts: 1 };
    const subscription = { subscriptionId, status: 'COMPLETED' };
    const steps = [
      { previousStatus: 'PENDING', cycle, subscription: { ...subscription, version: 3 } },
      { previousStatus: 'COMPLETED', cycle, subscription: { ...subscription, version: 4 } },
      { previousStatus: 'COMPLETED', cycle, subscription: { ...subscription, version: 5 } },
    ];
    for (const step of steps) expect((await stream.data()).subscriptionUpdates).toMatchObject(step);
    expect((await stream.next()).done).toBe(true);

    const resumed = shop.client.sse(FOLLOW, { subscriptionId, after: first.cursor });
    for (const step of steps) expect((await resumed.data()).subscriptionUpdates).toMatchObject(step);
    expect((await resumed.next()).done).toBe(true);

    const all = shop.client.ws(ALL, { after: updatesCursor });
    for (const step of [{ previousStatus: null }, ...steps])
      expect((await all.data()).allSubscriptionUpdates).toMatchObject(step);
    await all.close();
  });
});

describe('a subscription over REST', () => {
  test('It is created, looked up with its cycles, listed, and canceled again and again', async () => {
    const shop = await merchant();
    const customer = { name: 'Ana', taxId: '123.456.789-09' };
    const made = await shop.rest.post('/subscriptions', { valueCents: 4990, interval: 'weekly', customer });
    const { subscriptionId } = made.body;
    expect([made.status, made.body]).toEqual([
      201,
      {
        subscriptionId,
        status: 'pending',
        amountCents: 4990,
        currency: 'BRL',
        interval: 'weekly',
        endsAfterCycles: null,
        description: null,
        metadata: null,
        customer: { ...customer, taxId: '***.456.789-**' },
        checkoutUrl: `${app.url}/checkout/${subscriptionId}`,
        successUrl: null,
        cancelUrl: null,
        language: null,
        txid: txidOf(subscriptionId),
        nextDueAt: null,
        pixCopyPaste: expect.stringContaining(txidOf(subscriptionId)),
        cancelReason: null,
        canceledAt: null,
        cycles: [],
        returnedCredits: [],
        createdAt: app.clock.now().toISOString(),
        expiresAt: new Date(app.clock.ms() + DAY).toISOString(),
      },
    ]);
    expect((await shop.rest.get(`/subscriptions/${subscriptionId}`)).body).toEqual(made.body);
    await authorise(subscriptionId);
    const { body: active } = await shop.rest.get(`/subscriptions/${subscriptionId}`);
    expect(active).toMatchObject({ status: 'active', pixCopyPaste: null });
    const [second, first] = active.cycles;
    expect(second).toEqual({
      number: 2,
      dueAt: active.nextDueAt,
      status: 'scheduled',
      amountCents: 4990,
      attempts: 0,
      nextAttemptAt: active.nextDueAt,
      paymentId: null,
      paidAt: null,
      failureReason: null,
    });
    const { body: payment } = await shop.rest.get(`/payments/${first.paymentId}`);
    expect(payment).toMatchObject({ subscriptionId, status: 'paid', amountCents: 4990 });
    expect((await shop.rest.get('/subscriptions')).body).toEqual({
      subscriptions: [active],
      total: 1,
      limit: 50,
      offset: 0,
    });
    for (const _ of [1, 2]) {
      const canceled = await shop.rest.delete(`/subscriptions/${subscriptionId}`);
      expect([canceled.status, canceled.body]).toMatchObject([
        ...[200, { status: 'canceled', cancelReason: 'merchant', nextDueAt: null }],
      ]);
    }
  });

  test('A bad body is refused by the name of its field', async () => {
    const shop = await merchant();
    for (const [given, field] of [
      [{ valueCents: 100 }, 'interval'],
      [{ valueCents: 100, interval: 'UNKNOWN' }, 'interval'],
      [{ valueCents: 100, interval: 'weekly', endsAfterCycles: 0 }, 'endsAfterCycles'],
      [{ valueCents: 100, interval: 'weekly', endsAfterCycles: 521 }, 'endsAfterCycles'],
      [{ valueCents: 1.5, interval: 'weekly' }, 'valueCents'],
    ] as const) {
      const { status, body } = await shop.rest.post('/subscriptions', given);
      expect([given, status, body.error]).toEqual([given, 400, expect.stringContaining(field)]);
    }
  });
});

describe('the payer in sandbox', () => {
  test('Each step is the next: the authorisation, an attempt that fails, and one that is paid', async () => {
    const shop = await merchant('sandbox');
    const id = await subscribe(shop);
    expect(await simulate(shop, { id, amountCents: 1 })).toMatchObject({
      node: { status: 'PENDING', returnedCredits: [{ cause: 'AMOUNT_MISMATCH' }] },
    });
    expect(await simulate(shop, { id })).toMatchObject({ node: { status: 'ACTIVE' } });
    expect(await simulate(shop, { id, outcome: 'DECLINED' })).toMatchObject({ node: { status: 'PAST_DUE' } });
    expect(await simulate(shop, { id, amountCents: 1 })).toMatchObject({
      __typename: 'ValidationError',
      fields: [{ path: 'amountCents' }],
    });
    const { body } = await shop.rest.post('/sandbox/payments', { id });
    expect(body).toMatchObject({ id, valueCents: 4990, status: 'active' });
    const { cycles } = await find(shop, id);
    expect(cycles.nodes[1]).toMatchObject({ number: 2, status: 'PAID', attempts: 2 });
    expect(await simulate(shop, { id, outcome: 'EXPIRED' })).toMatchObject({ code: 'NOT_PAYABLE' });
    expect((await shop.rest.get('/sandbox/wallet')).body).toMatchObject({ balance: 99.8, pendingRelease: 0 });
  });

  test('An authorisation is rejected, or expires; a payment cannot be declined', async () => {
    const shop = await merchant('sandbox');
    const [rejected, expired] = [await subscribe(shop), await subscribe(shop)];
    expect(await simulate(shop, { id: rejected, outcome: 'DECLINED' })).toMatchObject({
      node: { status: 'CANCELED' },
    });
    expect(await simulate(shop, { id: expired, outcome: 'EXPIRED' })).toMatchObject({
      node: { status: 'EXPIRED' },
    });
    expect(await simulate(shop, { id: expired })).toMatchObject({
      node: { status: 'EXPIRED', returnedCredits: [{ cause: 'NOT_PAYABLE' }] },
    });
    expect(await simulate(shop, { id: expired, outcome: 'DECLINED' })).toMatchObject({ code: 'NOT_PAYABLE' });
    expect(await simulate(shop, { id: ABSENT })).toMatchObject({ __typename: 'NotFoundError' });
    expect(await simulate(shop, { id: `psa_${'0'.repeat(32)}`, outcome: 'DECLINED' })).toMatchObject({
      __typename: 'ValidationError',
      fields: [{ path: 'input.outcome' }],
    });
  });
});

describe('the webhooks of subscriptions', () => {
  async function receiving(environment: Tenant['environment'], optionalEvents: readonly string[]) {
    const shop = await merchant(environment);
    const receiver = await startReceiver();
    await shop.client.request(CONFIGURE, {
      input: {
        url: receiver.url,
        optionalEvents: optionalEvents.map((event) => event.replace('.', '_').toUpperCase()),
      },
    });
    return { shop, receiver };
  }
  const bodies = ({ received }: Receiver) => received.map(({ body }) => JSON.parse(body));

  test('Each change is announced where it was opted into, and no payment.paid for a cycle', async () => {
    const { shop, receiver } = await receiving('live', OPTIONAL_WEBHOOK_EVENTS);
    const subscriptionId = await subscribe(shop, { metadata: '{"a":1}' });
    await authorise(subscriptionId);
    await shop.client.request(CANCEL, { subscriptionId });
    await app.work.settled();
    const { cycles } = (await shop.rest.get(`/subscriptions/${subscriptionId}`)).body;
    const [second, first] = cycles;
    const common = { subscriptionId, amountCents: 4990, metadata: '{"a":1}' };
    const shown = ({ amountCents: _, paidAt: __, ...cycle }: typeof first) => cycle;
    const active = { ...common, status: 'active', cancelReason: null, cycle: shown(first) };
    expect(receiver.received.map(({ body }) => ownMembers(body))).toEqual([
      { event: 'subscription.activated', ...active },
      { event: 'subscription.paid', ...active },
      {
        event: 'subscription.canceled',
        ...common,
        status: 'canceled',
        cancelReason: 'merchant',
        cycle: shown(second),
      },
    ]);
    const versions = receiver.received.map(({ headers }) => Number(headers['x-webhook-resource-version']));
    expect(versions).toEqual([3, 4, 5]);
  });

  test('In sandbox the names have .test., and nothing is sent that was not opted into', async () => {
    const chosen = await receiving('sandbox', ['subscription.paid', 'subscription.payment_failed']);
    const none = await receiving('sandbox', []);
    for (const { shop } of [chosen, none]) {
      const id = await subscribe(shop);
      await simulate(shop, { id });
      await simulate(shop, { id, outcome: 'DECLINED' });
      await app.work.settled();
    }
    expect(bodies(none.receiver)).toEqual([]);
    expect(bodies(chosen.receiver)).toMatchObject([
      { event: 'subscription.test.paid', sandbox: true, status: 'active', cycle: { number: 1 } },
      {
        event: 'subscription.test.payment_failed',
        sandbox: true,
        status: 'past_due',
        cycle: { number: 2, status: 'retrying', attempts: 1, failureReason: expect.stringMatching(/./) },
      },
    ]);
  });
});
