import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  COMMON_CENTS,
  COUNT,
  ORDER,
  PAYER,
  RARE_CENTS,
  ROW_AT,
  SEED,
  seed,
} from '../../state/db/list-rows.ts';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import type { GraphQLClient } from '../../support/graphql.ts';

// The rows of the seed have the same instants in each of the three lists, so each place of the merged list has three sales.

const ROWS = 40;
const COMMON = 'createdAt paidAt status method amountCents orderId';
const SALE = `... on CardPayment { id: orderCode } ... on Payment { id: paymentId } ... on Charge { id: chargeId } ${COMMON}`;
const SALES = `query ($first: Int, $after: String, $last: Int, $before: String, $filter: SaleFilter) {
  sales(first: $first, after: $after, last: $last, before: $before, filter: $filter) {
    totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { ${SALE} } } } }`;
const LISTS = `{
  payments(first: 100) { nodes { id: paymentId ${COMMON} } }
  charges(first: 100) { nodes { id: chargeId externalId ${COMMON} } }
  cardPayments(first: 100) { nodes { id: orderCode ${COMMON} } } }`;
const TOTALS = `query ($filter: SaleFilter, $interval: HistoryInterval, $timeZone: String! = "America/Sao_Paulo", $groupBy: [TotalsGrouping!]) {
  salesTotals(filter: $filter, interval: $interval, timeZone: $timeZone, groupBy: $groupBy) {
    count amountCents isExact groups { hour startsAt method status count amountCents } } }`;

interface Sale {
  id: string;
  createdAt: string;
  paidAt: string | null;
  amountCents: number;
}

let app: TestApp;
let accountId: string;
let client: GraphQLClient;
let key: string;
beforeAll(async () => {
  app = await startApp();
  accountId = await addAccount(app);
  key = await addKey(app, { accountId });
  client = app.client(key);
  await seed(app.database, ...SEED([{ accountId, rows: ROWS, rare: 6, first: 0 }]));
  await seed(app.database, COUNT);
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

/** The sales of the three lists in the order of `instant`, newest first; rows of one instant by their kinds. */
async function merged(
  of: (sale: Sale & Record<string, unknown>) => boolean = () => true,
  instant: 'createdAt' | 'paidAt' = 'createdAt',
): Promise<string[]> {
  const { payments, charges, cardPayments } = await client.request(LISTS);
  const all: (Sale & Record<string, unknown>)[] = [
    ...payments.nodes,
    ...charges.nodes,
    ...cardPayments.nodes,
  ];
  const at = (sale: Sale) => Date.parse(sale[instant]!);
  return all
    .filter(of)
    .sort((left, right) => at(right) - at(left))
    .map(({ id }) => id);
}

async function walk(filter: object | null, size: number, end: 'first' | 'last'): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const variables = end === 'first' ? { first: size, after: cursor } : { last: size, before: cursor };
    const { sales }: { sales: Connection } = await client.request(SALES, { ...variables, filter });
    const ids = sales.edges.map(({ node }) => node.id);
    found.splice(end === 'first' ? found.length : 0, 0, ...ids);
    cursor = end === 'first' ? sales.pageInfo.endCursor : sales.pageInfo.startCursor;
    if (!(end === 'first' ? sales.pageInfo.hasNextPage : sales.pageInfo.hasPreviousPage)) return found;
  }
}

interface Connection {
  totalCount: number;
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string; endCursor: string };
  edges: { cursor: string; node: Sale }[];
}

describe('the list of sales', () => {
  const at = (nth: number) => ROW_AT(nth).toISOString();
  const nthOf = (sale: Sale) => (Date.parse(sale.createdAt) - ROW_AT(0).getTime()) / 60_000;
  const LONG_AGO = '2000-01-01T00:00:00Z';
  const isPayment = (sale: object) => !('externalId' in sale);

  test('Every sale is listed once, in one order, at any size of the pages and from both ends', async () => {
    const expected = await merged();
    expect(expected).toHaveLength(3 * ROWS);
    for (const size of [7, 100])
      for (const end of ['first', 'last'] as const)
        expect(await walk(null, size, end), `${end} ${size}`).toEqual(expected);
  });

  test.each<[string, object, (sale: Sale & Record<string, unknown>) => boolean, ('createdAt' | 'paidAt')?]>([
    [
      'an e-mail address',
      { customer: { email: PAYER.common.email } },
      (sale) => isPayment(sale) && sale.createdAt !== at(7),
    ],
    [
      'a customer',
      { customer: { externalId: PAYER.rare.externalId } },
      (sale) => isPayment(sale) && sale.createdAt === at(7),
    ],
    ['an order', { orderId: ORDER }, (sale) => sale.orderId === ORDER],
    ['the label of a charge', { externalId: ORDER }, (sale) => sale.externalId === ORDER],
    ['an order and a label', { externalId: ORDER, orderId: ORDER }, () => false],
    ['a code', { reference: 'PSC-9' }, ({ id }) => id === 'PSC-9'],
    ['an amount', { amountCents: COMMON_CENTS }, (sale) => sale.amountCents === COMMON_CENTS],
    ['a rare amount', { amountCents: RARE_CENTS }, (sale) => sale.amountCents === RARE_CENTS],
    ['a method', { method: ['CARD'] }, (sale) => sale.method === 'CARD'],
    ['no method of these', { method: ['LTC'] }, (sale) => sale.method === 'LTC'],
    [
      'statuses and methods',
      { status: ['FAILED', 'REFUNDED'], method: ['PIX'] },
      (sale) => sale.status !== 'PAID' && sale.method === 'PIX',
    ],
    [
      'dates',
      { createdAfter: at(5), createdBefore: at(30) },
      (sale) => sale.createdAt >= at(5) && sale.createdAt < at(30),
    ],
    [
      'an e-mail address and dates',
      { customer: { email: PAYER.common.email }, createdAfter: at(5), createdBefore: at(30) },
      (sale) => isPayment(sale) && nthOf(sale) !== 7 && nthOf(sale) >= 5 && nthOf(sale) < 30,
    ],
    [
      'an e-mail address and dates of payment',
      { customer: { email: PAYER.common.email }, paidAfter: at(3), paidBefore: at(30) },
      (sale) =>
        isPayment(sale) && sale.paidAt !== null && nthOf(sale) !== 7 && nthOf(sale) >= 3 && nthOf(sale) < 30,
      'paidAt',
    ],
    [
      'an amount and a first date',
      { amountCents: COMMON_CENTS, createdAfter: at(20) },
      (sale) => nthOf(sale) >= 20,
    ],
    [
      'dates of payment and an amount',
      { paidAfter: LONG_AGO, amountCents: COMMON_CENTS },
      (sale) => sale.paidAt !== null && sale.amountCents === COMMON_CENTS,
      'paidAt',
    ],
  ])(
    'A filter by %s selects the same as in the three lists, in the order of the sales',
    async (_, filter, isSelected, instant) => {
      const expected = await merged(isSelected, instant);
      for (const end of ['first', 'last'] as const)
        expect(await walk(filter, 13, end), end).toEqual(expected);
      const { sales } = await client.request(SALES, { first: 1, filter });
      expect(sales.totalCount).toBe(expected.length);
      const { salesTotals } = await client.request(TOTALS, { filter });
      expect(salesTotals).toMatchObject({ count: expected.length, isExact: true });
    },
  );

  test('A range of amounts has the largest first, and of one amount the newest', async () => {
    const all = await merged();
    const rare = await merged(({ amountCents }) => amountCents === RARE_CENTS);
    const expected = [...all.filter((id) => !rare.includes(id)), ...rare];
    for (const end of ['first', 'last'] as const) {
      expect(await walk({ minAmountCents: 1 }, 13, end)).toEqual(expected);
      expect(await walk({ minAmountCents: RARE_CENTS, maxAmountCents: COMMON_CENTS }, 50, end)).toEqual(
        expected,
      );
    }
  });

  test('Sales whose clocks disagree are each listed once', async () => {
    await sql`update payment set created_at = created_at - interval '150 seconds'
      where account_id = ${accountId} and number % 3 = 0`.execute(app.database.sql);
    const expected = await merged();
    const ofPayer = await merged((sale) => isPayment(sale) && sale.amountCents === COMMON_CENTS);
    for (const end of ['first', 'last'] as const) {
      expect(await walk(null, 7, end)).toEqual(expected);
      const email = PAYER.common.email.toUpperCase();
      expect(await walk({ customer: { email } }, 4, end)).toEqual(ofPayer);
    }
  });

  test('A reader beside writers gets every sale once, and from its first cursor each new one', async () => {
    const before = await merged();
    const { sales: newest } = await client.request(SALES, { first: 1 });
    const found: string[] = [];
    for (let after: string | null = null, nth = 0; ; nth += 1) {
      const { sales }: { sales: Connection } = await client.request(SALES, { first: 25, after });
      found.push(...sales.edges.map(({ node }) => node.id));
      await client.request(
        nth % 2
          ? 'mutation { createPayment(input: { amountCents: 900 }) { __typename } }'
          : 'mutation { createCharge(input: { amountCents: 900 }) { __typename } }',
      );
      after = sales.pageInfo.endCursor;
      if (!sales.pageInfo.hasNextPage) break;
    }
    expect(found).toEqual(before);
    const { sales: later } = await client.request(SALES, { last: 50, before: newest.edges[0].cursor });
    const all = await merged();
    expect(later.edges.map(({ node }: Connection['edges'][number]) => node.id)).toEqual(
      all.slice(0, all.length - before.length),
    );
  });

  test('A credential gets the kinds that it may read, and one that may read none is refused', async () => {
    const kindsOf = async (scopes: string[]) => {
      const { createDashboardToken } = await client.request(
        `mutation ($scopes: [DashboardScope!]!) { createDashboardToken(input: { scopes: $scopes }) {
          ... on CreateDashboardTokenSuccess { token } } }`,
        { scopes },
      );
      const { data, errors } = (
        await app
          .client(createDashboardToken.token)
          .send('{ sales(first: 100) { totalCount nodes { __typename } } salesTotals { count } }', {})
      ).body;
      if (errors) return errors[0].extensions.code;
      expect(data.sales.totalCount).toBe(data.salesTotals.count);
      return [...new Set(data.sales.nodes.map((node: { __typename: string }) => node.__typename))].sort();
    };
    expect(await kindsOf(['CARD_PAYMENTS'])).toEqual(['CardPayment']);
    expect(await kindsOf(['PAYMENTS'])).toEqual(['Charge', 'Payment']);
    expect(await kindsOf(['CARD_PAYMENTS', 'PAYMENTS'])).toEqual(['CardPayment', 'Charge', 'Payment']);
    expect(await kindsOf(['WALLET'])).toBe('FORBIDDEN');
    const restricted = await addKey(app, { accountId, permissions: ['statement.read'] });
    expect((await app.rest(restricted).get('/sales')).status).toBe(403);
    const payer = await addToken(app, { kind: 'payment', grant: { orderCode: 'PSC-1' } });
    const { errors } = (await app.client(payer).send('{ sales { totalCount } }', {})).body;
    expect(errors[0].extensions.code).toBe('FORBIDDEN');
  });

  test('REST lists the same, with what all kinds have', async () => {
    const { body } = await app
      .rest(key)
      .get(`/sales?limit=3&offset=1&orderId=${ORDER}&customerEmail=${PAYER.common.email}`);
    const { sales } = await client.request(SALES, {
      first: 4,
      filter: { orderId: ORDER, customer: { email: PAYER.common.email } },
    });
    const idsOf = (items: Sale[]) => items.map(({ id }) => id);
    expect(idsOf(body.sales)).toEqual(idsOf(sales.edges.slice(1).map(({ node }: { node: Sale }) => node)));
    expect(body).toMatchObject({ total: sales.totalCount, limit: 3, offset: 1 });
    expect(body.sales[0]).toMatchObject({
      orderId: ORDER,
      externalId: null,
      customer: PAYER.common,
      currency: 'BRL',
    });
    const { body: charges } = await app.rest(key).get('/sales?externalId=pedido-3');
    expect(charges.sales).toMatchObject([
      { type: 'charge', method: 'pix', status: 'failed', orderId: null, externalId: 'pedido-3' },
    ]);
  });
});

describe('the totals of sales', () => {
  const period = {
    createdAfter: ROW_AT(0).toISOString(),
    createdBefore: new Date(ROW_AT(0).getTime() + 86_400_000).toISOString(),
  };

  test.each(['America/Sao_Paulo', 'UTC', 'Asia/Kolkata'])(
    'Parts of time in %s add up to the whole, as the sales in them do',
    async (timeZone) => {
      const { sales } = await client.request(SALES, { first: 100, filter: period });
      const { sales: rest } = await client.request(SALES, {
        first: 100,
        after: sales.pageInfo.endCursor,
        filter: period,
      });
      const nodes: Sale[] = [...sales.edges, ...rest.edges].map(({ node }) => node);
      for (const interval of ['HOUR', 'DAY', 'MONTH']) {
        const { salesTotals } = await client.request(TOTALS, { filter: period, interval, timeZone });
        expect(salesTotals.isExact).toBe(true);
        const starts: string[] = salesTotals.groups.map(({ startsAt }: { startsAt: string }) => startsAt);
        starts.forEach((start, nth) => {
          const own = nodes.filter(
            ({ createdAt }) => createdAt >= start && (!starts[nth + 1] || createdAt < starts[nth + 1]!),
          );
          expect(salesTotals.groups[nth]).toMatchObject({
            ...{ hour: interval === 'HOUR' ? start : null, method: null, status: null, count: own.length },
            amountCents: own.reduce((sum, { amountCents }) => sum + amountCents, 0),
          });
        });
        const counts = salesTotals.groups.map(({ count }: { count: number }) => count);
        expect(counts.reduce((sum: number, count: number) => sum + count, 0)).toBe(salesTotals.count);
        expect(salesTotals.count).toBe(nodes.length);
      }
    },
  );

  test('The totals by methods and statuses are those of the three lists', async () => {
    const { salesTotals } = await client.request(TOTALS, { groupBy: ['METHOD', 'STATUS'] });
    const lists = await client.request(`{
      cards: cardPaymentTotals(groupBy: [METHOD, STATUS]) { groups { method status count amountCents } }
      payments: paymentTotals(groupBy: [METHOD, STATUS]) { groups { method status count amountCents } }
      charges: chargeTotals(groupBy: [METHOD, STATUS]) { groups { method status count amountCents } } }`);
    for (const { method, status, count, amountCents } of salesTotals.groups) {
      const own = [...lists.cards.groups, ...lists.payments.groups, ...lists.charges.groups].filter(
        (group) => group.method === method && group.status === status,
      );
      const sum = (name: string) => own.reduce((total, group) => total + group[name], 0);
      expect([count, amountCents], `${method} ${status}`).toEqual([sum('count'), sum('amountCents')]);
    }
    expect(salesTotals.groups.length).toBeGreaterThan(4);
  });

  test.each<[string, object, string]>([
    ['an interval without dates', { interval: 'DAY' }, 'interval'],
    [
      'an interval with one end',
      { interval: 'DAY', filter: { createdAfter: period.createdAfter } },
      'interval',
    ],
    [
      'an interval of another period',
      { interval: 'DAY', filter: { ...period, paidAfter: period.createdAfter } },
      'interval',
    ],
    [
      'too many parts',
      {
        interval: 'HOUR',
        filter: { createdAfter: '0001-01-01T00:00:00Z', createdBefore: '9999-01-01T00:00:00Z' },
      },
      'interval',
    ],
    ['hours as a group', { groupBy: ['HOUR'] }, 'groupBy'],
    ['no time zone of this name', { timeZone: 'Brasilia' }, 'timeZone'],
    ['no time zone at all', { timeZone: '\u0000' }, 'timeZone'],
    ['an order of no form', { filter: { orderId: '' } }, 'filter.orderId'],
    ['a label of no form', { filter: { externalId: '' } }, 'filter.externalId'],
    ['an unknown method', { filter: { method: ['UNKNOWN'] } }, 'filter.method'],
  ])('%s is refused by its name', async (_, variables, path) => {
    const { errors } = (await client.send(TOTALS, { ...variables })).body;
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', fields: [{ path }] } }]);
  });
});
