import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { approved } from '../../support/cards.ts';
import type { GraphQLClient } from '../../support/graphql.ts';
import { newKey } from '../../support/keys.ts';
import { runsAll } from '../../support/scale.ts';

/** A stream of all resources of a kind. */
interface Family {
  /** The resource in the log. */
  logged: string;
  /** The types of the arguments that filter its changes. */
  types: Record<string, string>;
  /** The field of an update that holds the resource, and the selection in it. */
  resource: string;
  members: string;
  /** The list with the same arguments. */
  list?: string;
  /** Whether the list is of one subaccount. */
  isOfSubaccount?: boolean;
}

const FAMILIES = {
  allCardPaymentUpdates: {
    logged: 'card_payment',
    resource: 'cardPayment',
    list: 'cardPayments',
    types: { status: '[CardPaymentStatus!]', filter: 'CardPaymentFilter' },
    members: 'name: orderCode status externalId amountCents customer { externalId email }',
  },
  allPaymentUpdates: {
    logged: 'payment',
    resource: 'payment',
    list: 'payments',
    types: { filter: 'PaymentFilter' },
    members: 'name: paymentId status externalId amountCents endToEndId',
  },
  allChargeUpdates: {
    logged: 'charge',
    resource: 'charge',
    list: 'charges',
    types: { filter: 'ChargeFilter' },
    members: 'name: chargeId status externalId amountCents',
  },
  allPayoutUpdates: {
    logged: 'payout',
    resource: 'payout',
    list: 'payouts',
    types: { filter: 'PayoutFilter' },
    members: 'name: code status externalId amountCents',
  },
  allDisputeUpdates: {
    logged: 'dispute',
    resource: 'dispute',
    list: 'disputes',
    members: 'status',
    types: { status: '[DisputeStatus!]', filter: 'DisputeFilter' },
  },
  allRefundUpdates: {
    logged: 'refund',
    resource: 'refund',
    list: 'refunds',
    members: 'status',
    types: { status: '[RefundStatus!]', filter: 'RefundFilter' },
  },
  allSubscriptionUpdates: {
    logged: 'subscription',
    resource: 'subscription',
    members: 'status',
    types: { status: '[PixSubscriptionStatus!]' },
  },
  allSubaccountPayoutUpdates: {
    logged: 'subaccount_payout',
    resource: 'subaccountPayout',
    list: 'payouts',
    isOfSubaccount: true,
    types: { status: '[SubaccountPayoutStatus!]', filter: 'SubaccountPayoutFilter' },
    members: 'name: payoutId status externalId amountCents',
  },
} satisfies Record<string, Family>;
/** The number of the first resource of each kind that has an order. An order is paid once, by any method. */
const NUMBERS = {
  allCardPaymentUpdates: 'pedido-1',
  allPaymentUpdates: 'pedido-2',
  allChargeUpdates: 'pedido-3',
  allPayoutUpdates: 'pedido-4',
  allSubaccountPayoutUpdates: 'pedido-5',
};
type Name = keyof typeof FAMILIES;
type Selecting = Record<string, unknown>;

interface Resource {
  id: string;
  name: string;
  status: string;
  externalId: string | null;
  amountCents: number;
  customer: { externalId: string | null; email: string | null } | null;
  endToEndId: string | null;
}
interface Update {
  cursor: string;
  resource: Resource;
}

let app: TestApp;
let client: GraphQLClient;
let tenant: Tenant;
let before: string;
let subaccountId: string;
/** Every update of each stream, read without a filter. */
const all = new Map<Name, Update[]>();

beforeAll(async () => {
  app = await startApp();
  const accountId = await addAccount(app);
  tenant = { accountId, environment: 'live' };
  client = app.client(await addKey(app, { accountId }));
  before = (await client.request('{ updatesCursor }')).updatesCursor;
  await happen();
  const rows = await app.database.sql
    .selectFrom('event')
    .select('resource')
    .where('account_id', '=', accountId)
    .execute();
  for (const [name, { logged }] of Object.entries(FAMILIES)) {
    const count = rows.filter(({ resource }) => resource === logged).length;
    all.set(name as Name, await read(name as Name, {}, { count }));
  }
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

/** Creates resources of each kind that differ in everything that a filter compares. */
async function happen(): Promise<void> {
  await app.controls.credit(tenant, 1_000_000);
  const { payment: card } = await app.cardPayments.create(tenant, {
    valueCents: 4990,
    externalId: NUMBERS.allCardPaymentUpdates,
    customer: { externalId: '7', email: 'ana@example.com' },
  });
  await app.cardPayments.create(tenant, { valueCents: 1000, customer: { externalId: '8' } });
  await app.cardPayments.pay(card.orderCode, approved());
  const { payment } = await app.payments.create(tenant, {
    valueCents: 4990,
    externalId: NUMBERS.allPaymentUpdates,
  });
  await app.payments.create(tenant, { valueCents: 1000 });
  await app.pix.pay({ txid: txidOf(payment.paymentId) });
  await app.payments.receive(tenant, payment.paymentId);
  const { charge } = await app.charges.create(tenant, {
    valueCents: 4990,
    externalId: NUMBERS.allChargeUpdates,
  });
  await app.charges.create(tenant, { valueCents: 1000 });
  await app.pix.pay({ txid: txidOf(charge.chargeId) });
  await app.charges.receive(tenant, charge.chargeId);
  for (const input of [{ amountCents: 4990, externalId: NUMBERS.allPayoutUpdates }, { amountCents: 1000 }])
    expect(
      await client.request(
        'mutation ($input: RequestPayoutInput!) { made: requestPayout(input: $input) { __typename ... on UserError { message } } }',
        { input: { method: 'PIX', destination: 'ana@example.com', idempotencyKey: newKey(), ...input } },
      ),
    ).toEqual({ made: { __typename: 'RequestPayoutSuccess' } });
  await app.controls.openDispute(tenant, { amountCents: 100 });
  await app.subscriptions.create(tenant, { valueCents: 4990, interval: 'weekly' });
  const { open, refund } = await client.request(
    `mutation ($id: String!) { refund: refundPayment(input: { paymentId: $id, amountCents: 10, idempotencyKey: $id }) { __typename ... on UserError { message } }
      open: createSubaccount(input: { name: "Bia" }) { ... on CreateSubaccountSuccess { subaccount { subaccountId } } } }`,
    { id: payment.paymentId },
  );
  expect(refund).toEqual({ __typename: 'RefundPaymentSuccess' });
  ({ subaccountId } = open.subaccount);
  const pixKey = 'maria@example.com';
  await client.request(
    `mutation ($id: String!, $first: RequestSubaccountPayoutInput!, $second: RequestSubaccountPayoutInput!) {
      transferToSubaccount(input: { subaccountId: $id, amountCents: 9000, idempotencyKey: $id }) { __typename }
      first: requestSubaccountPayout(input: $first) { __typename }
      second: requestSubaccountPayout(input: $second) { __typename } }`,
    {
      id: subaccountId,
      first: {
        subaccountId,
        pixKey,
        idempotencyKey: 'first',
        amountCents: 4990,
        externalId: NUMBERS.allSubaccountPayoutUpdates,
      },
      second: { subaccountId, pixKey, idempotencyKey: 'second', amountCents: 1000 },
    },
  );
}

function subscriptionTo(name: Name, selecting: Selecting): string {
  const { types, resource, members }: Family = FAMILIES[name];
  const given = Object.keys(selecting);
  return `subscription ($after: String${given.map((each) => `, $${each}: ${types[each]}`).join('')}) {
    ${name}(after: $after${given.map((each) => `, ${each}: $${each}`).join('')}) {
      cursor resource: ${resource} { id ${members} } } }`;
}

/** The first `count` updates of a stream after a cursor. */
async function read(
  name: Name,
  selecting: Selecting,
  { after = before, count }: { after?: string; count: number },
): Promise<Update[]> {
  if (count === 0) return [];
  const stream = client.sse(subscriptionTo(name, selecting), { after, ...selecting });
  const updates: Update[] = [];
  while (updates.length < count) updates.push((await stream.data())[name]);
  await stream.close();
  return updates;
}

/** The ids of the list with the same arguments. */
async function listed(name: Name, selecting: Selecting): Promise<Set<string>> {
  const { types, list, isOfSubaccount }: Family = FAMILIES[name];
  const given = Object.keys(selecting);
  const selected = `list: ${list}(${given.map((each) => `${each}: $${each}`).join(', ')}) { nodes { id } }`;
  const data = await client.request(
    `query (${given.map((each) => `$${each}: ${types[each]}`).join(', ')}) {
      ${isOfSubaccount ? `of: subaccount(subaccountId: "${subaccountId}") { ${selected} }` : selected} }`,
    selecting,
  );
  return new Set((data.of ?? data).list.nodes.map(({ id }: { id: string }) => id));
}

const LONG_AGO = '2000-01-01T00:00:00Z';
const isFirst = ({ externalId }: Resource) => externalId !== null;
const FILTERED = [
  'allCardPaymentUpdates',
  'allPaymentUpdates',
  'allChargeUpdates',
  'allPayoutUpdates',
  'allSubaccountPayoutUpdates',
] as const;
const WITH_DATES = ['allCardPaymentUpdates', 'allPaymentUpdates', 'allChargeUpdates'] as const;
const CUSTOMERS = 'allCardPaymentUpdates';

const CASES: [Name, Selecting, (resource: Resource) => boolean][] = [
  ...FILTERED.flatMap((name): (typeof CASES)[number][] => [
    [name, { filter: { externalId: NUMBERS[name] } }, isFirst],
    [name, { filter: { externalId: 'pedido-9' } }, () => false],
    [name, { filter: { amountCents: 1000 } }, ({ amountCents }) => amountCents === 1000],
    [name, { filter: { amountCents: 4990, externalId: NUMBERS[name] } }, isFirst],
  ]),
  ...WITH_DATES.flatMap((name): (typeof CASES)[number][] => [
    [name, { filter: { createdAfter: LONG_AGO } }, () => true],
    [name, { filter: { createdBefore: LONG_AGO } }, () => false],
    [name, { filter: { paidAfter: LONG_AGO } }, ({ status }) => status === 'PAID'],
    [name, { filter: { refundedAfter: LONG_AGO } }, () => false],
  ]),
  [CUSTOMERS, { filter: { customer: { externalId: '8' } } }, ({ customer }) => customer?.externalId === '8'],
  [CUSTOMERS, { filter: { customer: { email: 'Ana@example.COM' } } }, isFirst],
  [CUSTOMERS, { status: ['PAID', 'EXPIRED'] }, ({ status }) => status === 'PAID'],
  [CUSTOMERS, { status: [] }, () => false],
  [
    CUSTOMERS,
    { status: ['PENDING'], filter: { amountCents: 4990 } },
    (each) => isFirst(each) && each.status === 'PENDING',
  ],
  ['allPaymentUpdates', { filter: { status: ['PAID'], method: ['PIX'] } }, ({ status }) => status === 'PAID'],
  ['allPaymentUpdates', { filter: { method: ['LTC'] } }, () => false],
  ['allChargeUpdates', { filter: { split: true } }, () => false],
  ['allChargeUpdates', { filter: { split: false, status: ['PAID'] } }, ({ status }) => status === 'PAID'],
  ['allPayoutUpdates', { filter: { status: ['PENDING'] } }, ({ status }) => status === 'PENDING'],
  ['allPayoutUpdates', { filter: { processedBefore: LONG_AGO } }, () => false],
  ['allSubaccountPayoutUpdates', { filter: { createdAfter: LONG_AGO } }, () => true],
  [
    'allSubaccountPayoutUpdates',
    { filter: { completedAfter: LONG_AGO } },
    ({ status }) => status === 'COMPLETED',
  ],
  ['allSubaccountPayoutUpdates', { filter: { reversedAfter: LONG_AGO } }, () => false],
  ['allRefundUpdates', { filter: { createdBefore: LONG_AGO } }, () => false],
  ['allRefundUpdates', { filter: { createdAfter: LONG_AGO, failedAfter: LONG_AGO } }, () => false],
  ['allRefundUpdates', { filter: { completedAfter: LONG_AGO } }, ({ status }) => status === 'COMPLETED'],
  ['allDisputeUpdates', { filter: { createdAfter: LONG_AGO }, status: ['OPEN'] }, () => true],
  ['allDisputeUpdates', { filter: { closedAfter: LONG_AGO } }, () => false],
];

describe('the filters of all… updates', () => {
  test.each(CASES.filter((_, index) => runsAll() || index % 3 === 0))(
    '%s with %j sends exactly the changes after which it is fulfilled',
    async (name, selecting, wants) => {
      const updates = all.get(name)!;
      const wanted = updates.filter(({ resource }) => wants(resource));
      expect(await read(name, selecting, { count: wanted.length })).toEqual(wanted);
      // A list has the newest state of a resource, and no earlier one.
      const last = new Map(updates.map(({ resource }) => [resource.id, resource]));
      const fulfilled = [...last.values()].filter(wants).map(({ id }) => id);
      expect(await listed(name, selecting)).toEqual(new Set(fulfilled));
    },
  );

  test('The filter `reference` matches every name of a resource', async () => {
    for (const name of FILTERED) {
      const [{ resource }] = all.get(name)! as [Update];
      const selecting = { filter: { reference: resource.name } };
      const wanted = all.get(name)!.filter((each) => each.resource.id === resource.id);
      expect(await read(name, selecting, { count: wanted.length })).toEqual(wanted);
    }
    const paid = all.get('allPaymentUpdates')!.filter(({ resource }) => resource.status === 'PAID');
    const { endToEndId } = paid[0]!.resource;
    expect(endToEndId).toMatch(/^E/);
    expect(
      await read('allPaymentUpdates', { filter: { reference: endToEndId } }, { count: paid.length }),
    ).toEqual(paid);
  });

  test.each(Object.keys(FAMILIES) as Name[])(
    '%s, filtered by status, resumes from every cursor',
    async (name) => {
      const updates = all.get(name)!;
      const { status } = updates.at(-1)!.resource;
      const selecting: Selecting =
        'status' in FAMILIES[name].types ? { status: [status] } : { filter: { status: [status] } };
      const cursors = updates.slice(0, runsAll() ? -1 : 1);
      for (const [index, { cursor }] of cursors.entries()) {
        const wanted = updates.slice(index + 1).filter(({ resource }) => resource.status === status);
        expect(await read(name, selecting, { after: cursor, count: wanted.length })).toEqual(wanted);
      }
    },
  );

  test('Followers of one document with different filters are sent different changes at the live end', async () => {
    const after = (await client.request('{ updatesCursor }')).updatesCursor;
    const followers = [100, 200, 100].map((amountCents) => ({
      amountCents,
      stream: client.ws(subscriptionTo('allPaymentUpdates', { filter: {} }), {
        after,
        filter: { amountCents },
      }),
    }));
    for (const valueCents of [200, 100, 200, 100]) await app.payments.create(tenant, { valueCents });
    for (const { amountCents, stream } of followers) {
      const seen = [(await stream.data()).allPaymentUpdates, (await stream.data()).allPaymentUpdates];
      expect(seen.map(({ resource }) => resource.amountCents)).toEqual([amountCents, amountCents]);
      expect(await read('allPaymentUpdates', { filter: { amountCents } }, { after, count: 2 })).toEqual(seen);
      await stream.close();
    }
  });

  test('The pauses of one checkout token are followed', async () => {
    const { updatesCursor } = await client.request('{ updatesCursor }');
    for (const _ of [1, 2]) {
      const { createCheckoutToken } = await client.request(
        'mutation { createCheckoutToken(input: { amount: { fixedCents: 100 } }) { ... on CreateCheckoutTokenSuccess { token } } }',
      );
      await client.request('mutation ($token: String!) { pauseToken(token: $token) { __typename } }', {
        token: createCheckoutToken.token,
      });
    }
    const [newest, older] = (await client.request('{ pausedTokens { nodes { tokenId } } }')).pausedTokens
      .nodes;
    for (const { tokenId } of [newest, older]) {
      const stream = client.sse(
        'subscription ($after: String, $id: String) { allCheckoutTokenUpdates(after: $after, tokenId: $id) { tokenId } }',
        { after: updatesCursor, id: tokenId },
      );
      expect((await stream.data()).allCheckoutTokenUpdates).toEqual({ tokenId });
      await stream.close();
    }
  });

  test('The names of a filter select among the account’s own changes alone', async () => {
    const accountId = await addAccount(app);
    const other = app.client(await addKey(app, { accountId }));
    const stream = other.ws(subscriptionTo('allPaymentUpdates', { filter: {} }), {
      after: (await other.request('{ updatesCursor }')).updatesCursor,
      filter: { externalId: 'pedido-8' },
    });
    await app.payments.create(tenant, { valueCents: 300, externalId: 'pedido-8' });
    const { payment } = await app.payments.create(
      { accountId, environment: 'live' },
      { valueCents: 300, externalId: 'pedido-8' },
    );
    expect((await stream.data()).allPaymentUpdates.resource.name).toBe(payment.paymentId);
    await stream.close();
  });

  test.each<[Name, Selecting, RegExp]>([
    ['allCardPaymentUpdates', { status: ['UNKNOWN'] }, /^status: UNKNOWN cannot be asked for$/],
    ['allCardPaymentUpdates', { filter: { reference: '' } }, /^filter.reference: /],
    [
      'allCardPaymentUpdates',
      { filter: { releasedAfter: '2026-03-02T00:00:00Z' } },
      /^filter.releasedAfter: selects in the list cardPayments alone/,
    ],
    [
      'allCardPaymentUpdates',
      { filter: { releasedBefore: '2026-03-02T00:00:00Z' } },
      /^filter.releasedBefore: selects in the list cardPayments alone/,
    ],
    ['allPaymentUpdates', { filter: { status: ['UNKNOWN'] } }, /^filter.status: UNKNOWN/],
    ['allPayoutUpdates', { filter: { externalId: '\u0000' } }, /^filter.externalId: /],
    ['allSubaccountPayoutUpdates', { filter: { amountCents: 1, reference: '' } }, /^filter.reference: /],
    ['allDisputeUpdates', { status: ['UNKNOWN'] }, /^status: UNKNOWN/],
    ['allRefundUpdates', { status: ['UNKNOWN'] }, /^status: UNKNOWN/],
    ['allSubscriptionUpdates', { status: ['UNKNOWN'] }, /^status: UNKNOWN/],
    ['allSubaccountPayoutUpdates', { status: ['UNKNOWN'] }, /^status: UNKNOWN/],
  ])('%s with %j is refused, and the argument is named', async (name, selecting, message) => {
    const stream = client.ws(subscriptionTo(name, selecting), selecting);
    const { value } = await stream.next();
    await stream.close();
    expect(value.errors).toMatchObject([
      {
        message: expect.stringMatching(message),
        extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
      },
    ]);
  });
});
