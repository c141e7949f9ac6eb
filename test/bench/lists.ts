import pg from 'pg';
import { hashSecret } from '../../server/src/kernel/ids.ts';
import { COUNT, CROWD, RARE, SEED } from '../state/db/list-rows.ts';
import { type ListRequest, type Owner, restRequests, schemaRequests } from '../support/schema-lists.ts';
import { createBenchDatabase } from './databases.ts';
import { LIVE_KEY, UNLIMITED_KEY } from './environment.ts';
import { startChild } from './processes/child.ts';
import { inTurns, median, progress, type Row, size } from './report.ts';

const SHORT_KEY = 'ps_live_short0123456789abcdef';
const LONG: Owner = { first: 0, rows: size(1_000_000, 200) };
const SHORT: Owner = { first: 20_000_000, rows: 100 };
/** The time for which each request is measured in each round. */
const ROUND_MS = size(40, 1);

/**
 * Measures the first page of every list of the schema and of `/v1`, with every value of every filter: long lists
 * against short ones.
 */
export async function measureLists(postgresUrl: string): Promise<Row[]> {
  const databaseUrl = await createBenchDatabase(postgresUrl);
  const [server, load] = [startChild('server.mjs'), startChild('load.mjs')];
  const client = new pg.Client(databaseUrl);
  try {
    const { url } = await server.ask('start', {
      ...UNLIMITED_KEY,
      restLimit: 100_000_000,
      DATABASE_URL: databaseUrl,
    });
    await client.connect();
    progress(`every list: writing ${LONG.rows.toLocaleString('en')} rows of each`);
    await writeRows(client);
    const description = await (await fetch(`${url}/v1/openapi.json`)).json();
    const requests = [...schemaRequests(['first']), ...restRequests(description)];
    const send = async (request: ListRequest, of: Owner): Promise<number> => {
      const [path, body] = [request.path(of), request.body(of)];
      const { delays } = await load.ask('run', {
        ...{ url, connections: 1, ms: ROUND_MS, path: path ?? '/graphql', method: path ? 'GET' : 'POST' },
        body: body ? JSON.stringify(body) : '',
        headers: {
          authorization: `Bearer ${of === LONG ? LIVE_KEY : SHORT_KEY}`,
          'content-type': 'application/json',
          accept: 'application/json',
        },
      });
      return median(delays);
    };
    const byList = new Map<string, Row[]>();
    for (const request of requests) {
      const rounds = await inTurns<number, 'long' | 'short'>(size(3, 1), {
        long: () => send(request, LONG),
        short: () => send(request, SHORT),
      });
      const row = {
        name: `first page of ${request.list}`,
        against: `of ${SHORT.rows}`,
        unit: 'ms',
        ours: median(rounds.map(({ long }) => long)),
        floor: median(rounds.map(({ short }) => short)),
        ratio: median(rounds.map(({ long, short }) => long / short)),
        target: { atMost: 4 },
        beside: request.name.slice(request.list.length).trim(),
        explanation: `fifty rows of ${LONG.rows.toLocaleString('en')} on PostgreSQL, one request at a time, against the same page of an account with ${SHORT.rows}: the value of a filter with the largest ratio; deliveries and the store have 5,000 rows at most`,
      };
      byList.set(request.list, [...(byList.get(request.list) ?? []), row]);
      console.log(
        `${row.ratio.toFixed(2)}  ${request.name}: ${row.ours.toFixed(2)} against ${row.floor.toFixed(2)} ms`,
      );
    }
    await server.ask('close');
    const slowest = [...byList.values()].map(
      (rows) => rows.sort((one, other) => other.ratio! - one.ratio!)[0]!,
    );
    return slowest.sort((one, other) => other.ratio! - one.ratio!);
  } finally {
    await client.end();
    await Promise.all([server, load].map((child) => child.stop()));
  }
}

/** Writes the rows of the server's account, and those of an account with short lists, which gets a key. */
async function writeRows(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ id: string }>('select id from account');
  const [account] = rows;
  const short = 'acc_short';
  await client.query(`
    insert into account select (jsonb_populate_record(account, '{"id": "${short}"}')).* from account;
    insert into api_key (id, account_id, environment, secret_hash, permissions, created_at)
      values ('key_short', '${short}', 'live', '${hashSecret(SHORT_KEY)}', '{}', now())`);
  const accounts = [
    { accountId: account!.id, rare: Math.min(RARE, LONG.rows / 2), ...LONG },
    { accountId: short, rare: RARE / 2, ...SHORT },
    ...CROWD,
  ];
  for (const statements of [...SEED(accounts), COUNT]) await client.query(`begin; ${statements}; commit`);
  await client.query('vacuum analyze');
}
