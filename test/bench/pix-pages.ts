import pg from 'pg';
import { createBenchDatabase } from './databases.ts';
import { LIVE_KEY, SANDBOX_KEY, UNLIMITED_KEY } from './environment.ts';
import { startChild } from './processes/child.ts';
import { inTurns, median, progress, QUICK, type Row, size } from './report.ts';

const PAYMENTS = QUICK ? 200 : 200_000;
const FEW = 100;
/** The offset of a page that is deep in the list. */
const OFFSET = QUICK ? 100 : 10_000;
const HEADERS = { 'content-type': 'application/json', accept: 'application/json' };

const PAGE = `query ($filter: PaymentFilter) { payments(first: 50, filter: $filter) { totalCount nodes {
  paymentId status method amountCents feeCents description version createdAt expiresAt paidAt pix { copyPaste }
} } }`;
/** A page with the rows that other tables have for each payment. */
const PAGE_WITH_REFUNDS = `{ payments(first: 50) { totalCount nodes {
  paymentId status amountCents refunds { refundId } disputes { disputeId } delivered { kind }
} } }`;

/** Measures a page of payments in a database with many of them against one with few. */
export async function measurePages(postgresUrl: string): Promise<Row[]> {
  const databaseUrl = await createBenchDatabase(postgresUrl);
  const server = startChild('server.mjs');
  const load = startChild('load.mjs');
  const client = new pg.Client(databaseUrl);
  try {
    const { url } = await server.ask('start', {
      ...UNLIMITED_KEY,
      PSA_BOOTSTRAP_TEST_KEY: SANDBOX_KEY,
      restLimit: 100_000_000,
      DATABASE_URL: databaseUrl,
    });
    await client.connect();
    progress(`${PAYMENTS.toLocaleString('en')} payments in the table: writing them`);
    await client.query(SEED, [FEW, 'sandbox']);
    await client.query(SEED, [PAYMENTS, 'live']);
    await client.query('vacuum analyze payment');

    const send = async (request: object, key = LIVE_KEY): Promise<number> => {
      const headers = { ...HEADERS, authorization: `Bearer ${key}` };
      const { delays } = await load.ask('run', {
        url,
        headers,
        connections: 1,
        ms: size(400, 20),
        ...request,
      });
      return median(delays);
    };
    const query = (text: string, variables: object = {}, key?: string) =>
      send({ path: '/graphql', body: JSON.stringify({ query: text, variables }) }, key);
    const minute = (place: number) => new Date(Date.UTC(2020, 0, 1) + place * 60_000 + 1).toISOString();
    const month = {
      createdAfter: minute(PAYMENTS * 0.3),
      createdBefore: minute(PAYMENTS * 0.3 + Math.min(PAYMENTS / 4, 43_200)),
    };
    const asked: Record<string, () => Promise<number>> = {
      'the newest, with totalCount': () => query(PAGE),
      'the newest, with refunds, disputes and contents': () => query(PAGE_WITH_REFUNDS),
      'of a month, with totalCount': () => query(PAGE, { filter: month }),
      'of two statuses in a month, with totalCount': () =>
        query(PAGE, { filter: { ...month, status: ['PAID', 'EXPIRED'] } }),
      'of a rare status, with totalCount': () => query(PAGE, { filter: { status: ['FAILED'] } }),
      'the newest at /v1, with total': () => send({ method: 'GET', path: '/v1/payments?limit=50' }),
      [`at /v1, from the ${OFFSET.toLocaleString('en')}th on, with total`]: () =>
        send({ method: 'GET', path: `/v1/payments?limit=50&offset=${OFFSET}` }),
    };
    const least = () => query(PAGE, {}, SANDBOX_KEY);
    for (const each of [least, ...Object.values(asked)]) await each();
    const rounds = await inTurns<number, string>(size(5, 1), { least, ...asked }, 'a page of payments');
    await server.ask('close');
    const many = PAYMENTS.toLocaleString('en');
    return Object.keys(asked).map((name) => ({
      name: `payments of ${many}, ${name}`,
      against: `the newest of ${FEW}`,
      unit: 'ms',
      ours: median(rounds.map((round) => round[name]!)),
      floor: median(rounds.map(({ least: floor }) => floor!)),
      ratio: median(rounds.map((round) => round[name]! / round.least!)),
      target: { atMost: name.includes('from the') ? 6 : 4 },
      beside: '',
      explanation: `a page of fifty payments by PIX on PostgreSQL, one request at a time: of ${many} in the table, against the newest page with totalCount of an environment that has ${FEW}`,
    }));
  } finally {
    await client.end();
    await Promise.all([server, load].map((child) => child.stop()));
  }
}

/** Payments at intervals of a minute: of a hundred one has failed, nine have expired, and the others are paid. */
const SEED = `
  insert into payment (account_id, environment, payment_id, version, status, method, amount_cents, fee_cents, br_code,
    created_at, expires_at, paid_at, end_to_end_id, failure_reason)
  select account.id, $2::text, 'psa_' || case $2::text when 'live' then '0' else 'f' end || lpad(to_hex(place), 31, '0'),
    3, status, 'pix', 1000 + place % 9000, 0, '00020126580014br.gov.bcb.pix', at, at + interval '30 minutes',
    case status when 'paid' then at + interval '1 minute' end, case status when 'paid' then 'E' || place end,
    case status when 'failed' then 'refused' end
  from account, generate_series(1, $1::int) place
    cross join lateral (select timestamptz '2020-01-01' + place * interval '1 minute' as at,
      case when place % 100 = 0 then 'failed' when place % 10 = 0 then 'expired' else 'paid' end as status) payment
  order by place`;
