import { isDeepStrictEqual } from 'node:util';
import { createBenchDatabase } from './databases.ts';
import { facadeEnvironment, LIVE_KEY, UNLIMITED } from './environment.ts';
import { ensurePeer } from './peers/install.ts';
import { type Child, startChild } from './processes/child.ts';
import { figure, inTurns, median, percentile, progress, QUICK, type Row, size } from './report.ts';

const ROUNDS = size(5, 1);
/** A round is long: twenty calls each wait 5 ms and for each other. */
const ROUND_MS = size(1_000, 50);
/** The warm-up: V8 optimises some code only after seconds, and it is three times as slow before. */
const WARM_UP_MS = size(3_000, 50);
const HEADERS = {
  authorization: `Bearer ${LIVE_KEY}`,
  'content-type': 'application/json',
  accept: 'application/json',
};

const WALLET_FIELDS = ['balanceCents', 'withdrawableCents', 'pendingReleaseCents'];
const CARD_PAYMENT_FIELDS = [
  'orderCode',
  'status',
  'amountCents',
  'currency',
  'checkoutUrl',
  'expiresAt',
  'createdAt',
  'description',
  'paidAt',
];

interface Operation {
  name: string;
  /** The query for our server and that for the peer; their root fields have different names, and the same aliases. */
  ours: string;
  peer: string;
  /** The variables by name; none for the wallet. */
  orderCodes: Record<string, string>;
  /** The number of connections that keeps two processors busy while each waits for the service. */
  connections: number;
  /** The request without GraphQL, at a path of the bare proxy. */
  path: string;
  plan: { name: string; path: string; variable: string | null; fields: string[] }[];
}

/** The load replaces it by another number each time (load.mjs). */
const NEW = '<number>';

const OPERATIONS: Operation[] = [
  walletOperation(),
  cardPaymentsOperation('20 cardPayments', (index) => String(index).padStart(NEW.length, '0')),
  cardPaymentsOperation('20 cardPayments on 5 codes', (index) => String(index % 5).padStart(NEW.length, '0')),
  cardPaymentsOperation('20 cardPayments, new each time', () => NEW),
];

/**
 * Measures two queries through the facade to a service 5 ms away, without a budget, in turns with the same
 * queries through Hive Gateway's OpenAPI handler and with the same requests from a bare proxy.
 */
export async function measureFacade(postgresUrl: string): Promise<Row[]> {
  const gateway = QUICK ? null : await ensurePeer('hive-gateway');
  // Of the routers in Rust the npm registry has this one alone, as a program for Linux on x64.
  const hasRouter = !QUICK && process.platform === 'linux' && process.arch === 'x64';
  const router = hasRouter ? await ensurePeer('grafbase') : null;
  const load = startChild('load.mjs');
  const upstream = startChild('slow-upstream.mjs');
  const children: Child[] = [load, upstream];
  const start = (program: string) => {
    const child = startChild(program);
    children.push(child);
    return child;
  };
  try {
    const { url: upstreamUrl } = await upstream.ask('start');

    const proxy = start('bare-proxy.mjs');
    const plans = Object.fromEntries(OPERATIONS.map(({ path, plan }) => [path, plan]));
    const { url: proxyUrl } = await proxy.ask('start', { upstream: upstreamUrl, plans });

    const server = start('server.mjs');
    const { url: serverUrl } = await server.ask('start', {
      ...facadeEnvironment(upstreamUrl),
      DATABASE_URL: await createBenchDatabase(postgresUrl),
      options: UNLIMITED,
    });

    const peer = gateway === null ? null : start('hive-gateway.mjs');
    const peerUrl = peer && (await peer.ask('start', { upstream: upstreamUrl })).url;

    const rust = router === null ? null : start('grafbase.mjs');
    const rustUrl = rust && (await rust.ask('start', { upstream: upstreamUrl })).url;

    const rows: Row[] = [];
    for (const operation of OPERATIONS) {
      const parties = {
        ours: { child: server, url: serverUrl, path: '/graphql', query: operation.ours },
        floor: { child: proxy, url: proxyUrl, path: operation.path, query: operation.ours },
        ...(peer && { peer: { child: peer, url: peerUrl, path: '/graphql', query: operation.peer } }),
        ...(rust && { router: { child: rust, url: rustUrl, path: '/graphql', query: operation.ours } }),
      };
      rows.push(...(await measure({ operation, parties, load, upstream, gateway, router })));
    }
    await server.ask('close');
    return rows;
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}

interface Party {
  child: Child;
  url: string;
  path: string;
  query: string;
}
type Name = 'ours' | 'floor' | 'peer' | 'router';

async function measure({
  operation,
  parties,
  load,
  upstream,
  gateway,
  router,
}: {
  operation: Operation;
  parties: Partial<Record<Name, Party>> & Record<'ours' | 'floor', Party>;
  load: Child;
  upstream: Child;
  gateway: string | null;
  router: string | null;
}): Promise<Row[]> {
  await assertSameAnswers(operation, Object.values(parties));

  async function run({ child, url, path, query }: Party, ms: number) {
    await upstream.ask('calls');
    const cpuBefore = await child.ask('cpu');
    const { requests, perSecond, delays } = await load.ask('run', {
      url,
      path,
      headers: HEADERS,
      body: JSON.stringify({ query, variables: operation.orderCodes }),
      connections: operation.connections,
      ms,
    });
    const calls = Object.values(await upstream.ask('calls')).reduce<number>(
      (sum, count) => sum + (count as number),
      0,
    );
    return {
      perSecond: perSecond as number,
      delays: delays as number[],
      calls: calls / requests,
      cpuUs: ((await child.ask('cpu')) - cpuBefore) / requests,
    };
  }

  progress(`${operation.name}, REST: warming up`);
  for (const party of Object.values(parties)) await run(party, WARM_UP_MS);
  const rounds = await inTurns(
    ROUNDS,
    Object.fromEntries(
      Object.entries(parties).map(([name, party]) => [name, () => run(party, ROUND_MS)]),
    ) as Record<Name, () => ReturnType<typeof run>>,
    `${operation.name}, REST`,
  );

  const of = (name: Name, what: 'perSecond' | 'calls' | 'cpuUs') =>
    median(rounds.map((round) => round[name][what]));
  const p99 = (name: Name) =>
    percentile(
      rounds.flatMap((round) => round[name].delays),
      99,
    ).toFixed(1);
  const against = (name: Exclude<Name, 'ours'>, who: string, explanation: string): Row => ({
    name: `${operation.name}, REST`,
    against: who,
    unit: 'µs CPU',
    ours: of('ours', 'cpuUs'),
    floor: of(name, 'cpuUs'),
    ratio: median(rounds.map((round) => round[name].cpuUs / round.ours.cpuUs)),
    beside: [
      `${figure(of('ours', 'perSecond'))} against ${figure(of(name, 'perSecond'))} requests/s: ${median(
        rounds.map((round) => round.ours.perSecond / round[name].perSecond),
      ).toFixed(2)}`,
      `p99 ${p99('ours')} against ${p99(name)} ms`,
      `upstream calls a query ${calls(of('ours', 'calls'))} against ${calls(of(name, 'calls'))}`,
    ].join(', '),
    explanation: `${WHAT}; ${explanation}`,
  });
  return [
    ...(gateway === null
      ? []
      : [
          {
            ...against(
              'peer',
              gateway,
              'Hive Gateway, with the OpenAPI handler of GraphQL Mesh and set up as its documentation says, asks it for each field of each query',
            ),
            target: { atLeast: 3 },
          },
        ]),
    ...(router === null
      ? []
      : [
          against(
            'router',
            `${router}, of a GraphQL service`,
            'Grafbase, a router in Rust, as the server of its command line, asks a service that speaks GraphQL, once for each query: it has no REST without an extension that the npm registry lacks',
          ),
        ]),
    against(
      'floor',
      'bare proxy',
      'the bare proxy is node:http, which asks for each field of each query, all at once, and reads no GraphQL',
    ),
  ];
}

const WHAT =
  'CPU of the server’s process a query, of a service 5 ms away, with the budget switched off; ours asks it once for what several queries want at the same time, and gives an answer again for a short time';

function calls(count: number): string {
  return count.toFixed(count < 0.1 ? 4 : count < 1 ? 2 : 1);
}

/** Compares the answers before anything is measured: a wrong answer may be a fast one. */
async function assertSameAnswers({ name, orderCodes }: Operation, parties: Party[]): Promise<void> {
  const answers = await Promise.all(
    parties.map(async ({ url, path, query }) => {
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: HEADERS,
        body: JSON.stringify({ query, variables: orderCodes }).replaceAll(NEW, '00000000'),
      });
      const text = await response.text();
      if (response.status !== 200 || text.includes('"errors"')) throw new Error(`${response.status} ${text}`);
      return comparable(JSON.parse(text).data);
    }),
  );
  for (const answer of answers)
    if (!isDeepStrictEqual(answer, answers[0]))
      throw new Error(`${name}: ${JSON.stringify(answer)} in place of ${JSON.stringify(answers[0])}`);
}

/** Names of enum values may be in capitals, and members in any order. */
function comparable(data: Record<string, Record<string, unknown>>): unknown {
  for (const object of Object.values(data))
    if (typeof object.status === 'string') object.status = object.status.toLowerCase();
  return data;
}

function walletOperation(): Operation {
  const query = (field: string) => `{ wallet: ${field} { ${WALLET_FIELDS.join(' ')} } }`;
  return {
    name: 'wallet',
    ours: query('wallet'),
    peer: query('getWallet'),
    orderCodes: {},
    connections: 64,
    path: '/wallet',
    plan: [{ name: 'wallet', path: '/v1/wallet', variable: null, fields: WALLET_FIELDS }],
  };
}

function cardPaymentsOperation(name: string, endOf: (index: number) => string): Operation {
  const aliases = Array.from({ length: 20 }, (_, index) => ({
    alias: `p${index}`,
    variable: `c${index}`,
    orderCode: `PSC-8NY3SQZHKXF939DW${endOf(index)}`,
  }));
  const query = (field: string) =>
    `query (${aliases.map(({ variable }) => `$${variable}: String!`).join(', ')}) { ${aliases
      .map(
        ({ alias, variable }) =>
          `${alias}: ${field}(orderCode: $${variable}) { ${CARD_PAYMENT_FIELDS.join(' ')} }`,
      )
      .join(' ')} }`;
  return {
    name,
    ours: query('cardPayment'),
    peer: query('getCardPayment'),
    orderCodes: Object.fromEntries(aliases.map(({ variable, orderCode }) => [variable, orderCode])),
    connections: 16,
    path: '/card-payments',
    plan: aliases.map(({ alias, variable }) => ({
      name: alias,
      path: '/v1/card-payments/',
      variable,
      fields: CARD_PAYMENT_FIELDS,
    })),
  };
}
