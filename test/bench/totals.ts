import pg from 'pg';
import { createBenchDatabase } from './databases.ts';
import { LIVE_KEY, UNLIMITED_KEY } from './environment.ts';
import { startChild } from './processes/child.ts';
import { inTurns, median, percentile, progress, type Row, size } from './report.ts';

const PAYMENTS = size(1_000_000, 2_000);
const DAY_MS = 86_400_000;
/** The first payment; the others follow it a minute apart. */
const FIRST_AT = Date.UTC(2025, 0, 1);
const MAX_MS = 20;

const FIGURES = 'count amountCents';
const GROUPS = `groups { startsAt method status ${FIGURES} }`;

/** A period of whole hours in the middle of the payments. */
function days(count: number) {
  const from = FIRST_AT + Math.floor((PAYMENTS * 60_000) / 2 / DAY_MS) * DAY_MS;
  const instant = (at: number) => `"${new Date(at).toISOString()}"`;
  return `{ createdAfter: ${instant(from)}, createdBefore: ${instant(from + count * DAY_MS)} }`;
}

const totals = (groupBy: string, filter = '{}') =>
  `{ paymentTotals(filter: ${filter}, groupBy: [${groupBy}]) { ${FIGURES} isExact ${GROUPS} } }`;

const ASKED: Record<string, string> = {
  'of all time': totals(''),
  'of all time by method': totals('METHOD'),
  'of all time by status': totals('STATUS'),
  'of all time by method and status': totals('METHOD, STATUS'),
  'of a day by hour, method and status': totals('HOUR, METHOD, STATUS', days(1)),
  'of 31 days by hour': totals('HOUR', days(31)),
  'of 31 days by hour, method and status': totals('HOUR, METHOD, STATUS', days(31)),
  'of a year by day, of all methods of sale': `{
    salesTotals(filter: ${days(365)}, interval: DAY, timeZone: "UTC", groupBy: [METHOD, STATUS]) { ${FIGURES} isExact ${GROUPS} }
  }`,
};

/** Measures the totals of a million payments that a client asks for with periods of whole hours. */
export async function measureTotals(postgresUrl: string): Promise<Row[]> {
  const databaseUrl = await createBenchDatabase(postgresUrl);
  const server = startChild('server.mjs');
  const load = startChild('load.mjs');
  const client = new pg.Client(databaseUrl);
  try {
    const { url } = await server.ask('start', { ...UNLIMITED_KEY, DATABASE_URL: databaseUrl });
    await client.connect();
    const many = PAYMENTS.toLocaleString('en');
    progress(`totals: writing ${many} payments`);
    await client.query(SEED, [PAYMENTS, new Date(FIRST_AT)]);
    await client.query('vacuum analyze payment');
    await client.query('vacuum analyze list_amount');
    const send = async (query: string): Promise<number[]> => {
      const { delays } = await load.ask('run', {
        ...{ url, connections: 1, ms: size(1_000, 20), path: '/graphql', body: JSON.stringify({ query }) },
        headers: {
          authorization: `Bearer ${LIVE_KEY}`,
          'content-type': 'application/json',
          accept: 'application/json',
        },
      });
      return delays;
    };
    for (const query of Object.values(ASKED)) await send(query);
    const rounds = await inTurns<number[], string>(
      size(3, 1),
      Object.fromEntries(Object.entries(ASKED).map(([name, query]) => [name, () => send(query)])),
      'totals',
    );
    await server.ask('close');
    return Object.keys(ASKED).map((name) => {
      const delays = rounds.flatMap((round) => round[name]!);
      return {
        name: `totals of ${many} payments, ${name}`,
        unit: 'ms',
        ours: median(delays),
        floor: null,
        ratio: null,
        target: { atMost: MAX_MS },
        beside: `p99 ${percentile(delays, 99).toFixed(1)} ms`,
        explanation: `the count and the amount of ${many} payments, whole and by groups, on PostgreSQL, one request at a time: the median of all answers`,
      };
    });
  } finally {
    await client.end();
    await Promise.all([server, load].map((child) => child.stop()));
  }
}

/** Payments by both methods, one in each minute; the triggers of the table keep their totals. */
const SEED = `
  insert into payment (account_id, environment, payment_id, version, status, method, amount_cents, fee_cents, created_at,
    expires_at, paid_at, end_to_end_id, failure_reason, ltc_litoshi, ltc_received_litoshi, ltc_confirmations,
    ltc_required_confirmations, ltc_revision)
  select account.id, 'live', 'psa_' || lpad(to_hex(place), 32, '0'), 3, status, method, 1000 + place % 9000, 0, at,
    at + interval '30 minutes', case status when 'paid' then at + interval '1 minute' end,
    case when method = 'pix' and status = 'paid' then 'E' || place end, case status when 'failed' then 'refused' end,
    quote, quote, quote, quote, quote
  from account, generate_series(1, $1::int) place
    cross join lateral (select $2::timestamptz + place * interval '1 minute' as at,
      case when place % 20 = 0 then 'failed' when place % 10 = 3 then 'expired' else 'paid' end as status,
      case when place % 7 = 0 then 'ltc' else 'pix' end as method,
      case when place % 7 = 0 then 6 end as quote) payment
  order by place`;
