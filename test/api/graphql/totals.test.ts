import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { approved } from '../../support/cards.ts';
import type { GraphQLClient } from '../../support/graphql.ts';
import { type Pair, startPair } from '../../support/pair.ts';

const HOUR_MS = 3_600_000;
const FIGURES = 'count amountCents isExact asOf';
const CARDS = `query ($status: [CardPaymentStatus!], $filter: CardPaymentFilter, $groupBy: [TotalsGrouping!]) {
  totals: cardPaymentTotals(status: $status, filter: $filter, groupBy: $groupBy) {
    ${FIGURES} groups { hour method status count amountCents } } }`;
const PAYMENTS = `query ($filter: PaymentFilter, $groupBy: [TotalsGrouping!]) {
  totals: paymentTotals(filter: $filter, groupBy: $groupBy) {
    ${FIGURES} groups { hour method status count amountCents } } }`;
const CHARGES = `query ($filter: ChargeFilter, $groupBy: [TotalsGrouping!]) {
  totals: chargeTotals(filter: $filter, groupBy: $groupBy) { ${FIGURES} groups { method status count amountCents } } }`;
const REFUNDS = `query ($status: [RefundStatus!], $filter: RefundFilter, $groupBy: [TotalsGrouping!]) {
  totals: refundTotals(status: $status, filter: $filter, groupBy: $groupBy) {
    ${FIGURES} groups { hour status count amountCents } } }`;
const SALES = `query ($filter: SaleFilter, $interval: HistoryInterval, $groupBy: [TotalsGrouping!]) {
  totals: salesTotals(filter: $filter, interval: $interval, groupBy: $groupBy) {
    ${FIGURES} groups { startsAt method status count amountCents } } }`;
const PAYOUTS = `query ($filter: PayoutFilter, $groupBy: [TotalsGrouping!]) {
  totals: payoutTotals(filter: $filter, groupBy: $groupBy) {
    ${FIGURES} groups { hour method status count amountCents } } }`;
const OF_SUBACCOUNTS = `query ($status: [SubaccountPayoutStatus!], $filter: SubaccountPayoutFilter, $groupBy: [TotalsGrouping!]) {
  totals: subaccountPayoutTotals(status: $status, filter: $filter, groupBy: $groupBy) {
    ${FIGURES} groups { hour status count amountCents } } }`;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(async () => {
  expect(pair?.service.faults).toEqual([]);
  await pair?.close();
});

const totalsOf = async (client: GraphQLClient, query: string, variables: object = {}) =>
  (await client.request(query, { ...variables })).totals;
const refusal = async (client: GraphQLClient, query: string, variables: object) =>
  (await client.send(query, { ...variables })).body.errors?.[0];

/** An hour with sales: two cards, one paid, a PIX that is paid and half refunded, a paid charge, and a payout. */
async function sell() {
  const { service, clock } = pair;
  clock.advance(HOUR_MS - (clock.now().getTime() % HOUR_MS));
  const from = clock.now();
  const rest = service.rest();
  const { accountId } = await service.database.sql
    .selectFrom('account')
    .select('id as accountId')
    .orderBy('created_at')
    .executeTakeFirstOrThrow();
  const tenant = { accountId, environment: 'live' } as const;
  clock.advance(60_000);
  const card = async (valueCents: number) =>
    (
      await service.live.request(
        `mutation ($cents: Cents!) { createCardPayment(input: { valueCents: $cents, externalId: "pedido-7" }) {
          ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }`,
        { cents: valueCents },
      )
    ).createCardPayment.cardPayment.orderCode as string;
  const paidCard = await card(5_000);
  await card(700);
  await service.cardPayments.pay(paidCard, approved());
  const { paymentId } = (await rest.post('/payments', { valueCents: 3_000 })).body;
  await service.pix.pay({ txid: txidOf(paymentId) });
  await service.payments.receive(tenant, paymentId);
  clock.advance(HOUR_MS);
  await service.live.request(
    `mutation ($paymentId: String!) { refundPayment(input: { paymentId: $paymentId, amountCents: 1000, idempotencyKey: $paymentId }) { __typename } }`,
    { paymentId },
  );
  await service.work.settled();
  await service.live.request(
    'mutation { requestPayout(input: { method: PIX, amountCents: 900, destination: "ana@psa.example", idempotencyKey: "a" }) { __typename } }',
  );
  await pair.pass(60_000);
  return { from, second: new Date(from.getTime() + HOUR_MS), before: new Date(from.getTime() + 2 * HOUR_MS) };
}

describe('totals of the service', () => {
  let hours: Awaited<ReturnType<typeof sell>>;
  beforeAll(async () => {
    hours = await sell();
  });

  test('Sales are added up by the hours in which they were paid, by method and status, without what is not paid', async () => {
    const { live, clock } = pair.service;
    const filter = { paidAfter: hours.from, paidBefore: hours.before };
    const paid = { hour: hours.from.toISOString(), status: 'PAID', count: 1 };
    const groupBy = ['HOUR', 'METHOD', 'STATUS'];
    expect(await totalsOf(live, CARDS, { filter, groupBy })).toEqual({
      ...{ count: 1, amountCents: 5_000, isExact: true, asOf: clock.now().toISOString() },
      groups: [{ ...paid, method: 'CARD', amountCents: 5_000 }],
    });
    expect(await totalsOf(live, PAYMENTS, { filter, groupBy })).toMatchObject({
      ...{ count: 1, amountCents: 3_000, isExact: true },
      groups: [{ ...paid, method: 'PIX', amountCents: 3_000 }],
    });
  });

  test('A list is added up as a whole, by statuses, and by a method that all of it has', async () => {
    const { live } = pair.service;
    expect(await totalsOf(live, CARDS)).toMatchObject({ count: 2, amountCents: 5_700, groups: [] });
    expect((await totalsOf(live, CARDS, { groupBy: ['STATUS'] })).groups).toEqual([
      { hour: null, method: null, status: 'EXPIRED', count: 1, amountCents: 700 },
      { hour: null, method: null, status: 'PAID', count: 1, amountCents: 5_000 },
    ]);
    expect((await totalsOf(live, CARDS, { groupBy: ['METHOD', 'METHOD'] })).groups).toEqual([
      { hour: null, method: 'CARD', status: null, count: 2, amountCents: 5_700 },
    ]);
    expect(await totalsOf(live, CARDS, { status: ['PAID', 'REFUNDED'] })).toMatchObject({ count: 1 });
    expect(await totalsOf(live, CARDS, { status: [] })).toMatchObject({ count: 0, amountCents: 0 });
    expect(await totalsOf(live, CHARGES, { groupBy: ['METHOD'] })).toMatchObject({ count: 0, groups: [] });
  });

  test('Any other condition is added up row by row, and so is a part of an hour', async () => {
    const { live } = pair.service;
    const of = (filter: object) => totalsOf(live, CARDS, { filter });
    const two = { count: 2, amountCents: 5_700, isExact: true };
    expect(await of({ externalId: 'pedido-7' })).toMatchObject(two);
    expect(await of({ externalId: 'pedido-8' })).toMatchObject({ count: 0, isExact: true });
    expect(await of({ createdAfter: hours.from, paidBefore: hours.before })).toMatchObject({ count: 1 });
    const soon = new Date(hours.from.getTime() + 60_000);
    expect(await of({ createdAfter: soon, createdBefore: hours.before })).toMatchObject(two);
    expect(await of({ createdAfter: hours.from, createdBefore: soon })).toMatchObject({ count: 0 });
  });

  test('Refunds and payouts are added up by the hours in which they ended', async () => {
    const { live } = pair.service;
    const hour = hours.second.toISOString();
    const completed = { completedAfter: hours.from, completedBefore: hours.before };
    expect(
      await totalsOf(live, REFUNDS, { status: ['COMPLETED'], filter: completed, groupBy: ['HOUR'] }),
    ).toMatchObject({ isExact: true, groups: [{ hour, status: null, count: 1, amountCents: 1_000 }] });
    const processed = { processedAfter: hours.from, processedBefore: hours.before, status: ['COMPLETED'] };
    expect(await totalsOf(live, PAYOUTS, { filter: processed, groupBy: ['HOUR', 'METHOD'] })).toMatchObject({
      groups: [{ hour, method: 'PIX', status: null, count: 1, amountCents: 900 }],
    });
    expect(await totalsOf(live, OF_SUBACCOUNTS, { filter: completed, groupBy: ['HOUR'] })).toMatchObject({
      ...{ count: 0, amountCents: 0, isExact: true, groups: [] },
    });
  });

  test('Hours without a period, or of more than 31 days, are refused at their argument, and so are parts of hours of subaccounts', async () => {
    const { live } = pair.service;
    const month = { createdAfter: '2026-01-01T00:00:00Z', createdBefore: '2026-02-01T00:00:00Z' };
    expect(await totalsOf(live, CARDS, { filter: month, groupBy: ['HOUR'] })).toMatchObject({ count: 0 });
    for (const filter of [
      null,
      { createdAfter: month.createdAfter },
      { ...month, createdBefore: '2026-02-01T00:00:01Z' },
      { ...month, paidAfter: month.createdAfter },
    ])
      expect(await refusal(live, CARDS, { filter, groupBy: ['HOUR'] })).toMatchObject({
        extensions: { code: 'BAD_USER_INPUT', fields: [{ path: 'groupBy' }] },
      });
    const part = { completedAfter: '2026-01-01T00:30:00Z' };
    expect(await refusal(live, OF_SUBACCOUNTS, { filter: part })).toMatchObject({
      extensions: { code: 'BAD_USER_INPUT', fields: [{ path: 'filter.completedAfter' }] },
    });
    const both = { completedAfter: '2026-01-01T00:00:00Z', createdAfter: '2026-01-01T00:00:00Z' };
    expect(await refusal(live, OF_SUBACCOUNTS, { filter: both })).toMatchObject({
      extensions: { fields: [{ path: 'filter' }] },
    });
  });

  test('The sales that another service has shown are one list, in one order', async () => {
    const facade = pair.facade.client(pair.keys.live);
    await pair.settled();
    const pages = async (filter: object | null, end: 'first' | 'last') => {
      const found: { amountCents: number }[] = [];
      for (let cursor: string | null = null; ; ) {
        const [limit, from] = end === 'first' ? ['first', 'after'] : ['last', 'before'];
        const { sales }: { sales: { totalCount: number; edges: { cursor: string; node: never }[] } } =
          await facade.request(
            `query ($cursor: String, $filter: SaleFilter) { sales(${limit}: 1, ${from}: $cursor, filter: $filter) {
              totalCount edges { cursor node { amountCents method } } } }`,
            { cursor, filter },
          );
        if (sales.edges.length === 0) return found.map(({ amountCents }) => amountCents);
        found.splice(end === 'first' ? found.length : 0, 0, sales.edges[0]!.node);
        cursor = sales.edges[0]!.cursor;
      }
    };
    const all = await pages(null, 'first');
    expect(all.toSorted()).toEqual([3_000, 5_000]);
    expect(await pages(null, 'last')).toEqual(all);
    for (const end of ['first', 'last'] as const) {
      expect(await pages({ minAmountCents: 1_000 }, end)).toEqual([5_000, 3_000]);
      expect(await pages({ method: ['CARD'], paidAfter: hours.from }, end)).toEqual([5_000]);
      expect(
        (await pages({ createdAfter: hours.from, createdBefore: hours.before }, end)).toSorted(),
      ).toEqual(all.toSorted());
    }
  });

  test('Totals of another service are those of what was seen here, which are never called exact', async () => {
    const facade = pair.facade.client(pair.keys.live);
    await pair.settled();
    const filter = { paidAfter: hours.from, paidBefore: hours.before };
    const seen = await totalsOf(facade, CARDS, { filter, groupBy: ['HOUR', 'METHOD', 'STATUS'] });
    expect(seen).toEqual({
      ...{ count: 1, amountCents: 5_000, isExact: false, asOf: expect.any(String) },
      groups: [
        {
          ...{ hour: hours.from.toISOString(), method: 'CARD', status: 'PAID' },
          ...{ count: 1, amountCents: 5_000 },
        },
      ],
    });
    expect(await totalsOf(facade, PAYMENTS, { groupBy: ['METHOD'] })).toMatchObject({
      isExact: false,
      groups: [{ method: 'PIX', count: 1, amountCents: 3_000 }],
    });
    expect(await totalsOf(facade, CHARGES)).toEqual({
      ...{ count: 0, amountCents: 0, isExact: false, asOf: null, groups: [] },
    });
    expect(await totalsOf(facade, PAYOUTS, { filter: { status: ['COMPLETED'] } })).toMatchObject({
      count: 1,
    });
    expect(await totalsOf(facade, OF_SUBACCOUNTS)).toMatchObject({ count: 0, isExact: false });
    const groups = [
      { startsAt: hours.from.toISOString(), method: 'CARD', status: 'PAID', count: 1, amountCents: 5_000 },
      { startsAt: hours.from.toISOString(), method: 'PIX', status: 'PAID', count: 1, amountCents: 3_000 },
    ];
    const divided = { filter, interval: 'HOUR', groupBy: ['STATUS', 'METHOD'] };
    expect(await totalsOf(pair.service.live, SALES, divided)).toMatchObject({
      count: 2,
      isExact: true,
      groups,
    });
    expect(await totalsOf(facade, SALES, divided)).toMatchObject({ count: 2, isExact: false, groups });
    expect(await totalsOf(facade, SALES)).toMatchObject({ amountCents: 8_000, asOf: expect.any(String) });
    const release = { releasedAfter: hours.from };
    expect(await refusal(facade, CARDS, { filter: release })).toMatchObject({
      extensions: { code: 'NOT_OFFERED', retryPolicy: 'AFTER_CHANGE' },
    });
    expect(await refusal(facade, REFUNDS, {})).toMatchObject({
      extensions: { code: 'NOT_OFFERED', retryPolicy: 'AFTER_CHANGE' },
    });
  });
});
