import { isDeepStrictEqual } from 'node:util';
import { createBenchDatabase } from './databases.ts';
import { LIVE_KEY, UNLIMITED_KEY } from './environment.ts';
import { ensurePeer } from './peers/install.ts';
import { type Child, startChild } from './processes/child.ts';
import { inTurns, median, progress, QUICK, type Row, size, type Target } from './report.ts';

const CONNECTIONS = 32;
const ROUNDS = size(9, 1);
const ROUND_MS = size(500, 50);
/** The warm-up: V8 optimises some code only after seconds, and it is three times as slow before. */
const WARM_UP_MS = size(2_500, 50);
const HEADERS = {
  authorization: `Bearer ${LIVE_KEY}`,
  'content-type': 'application/json',
  accept: 'application/json',
};

const OPERATIONS = {
  wallet: '{ wallet { balanceCents withdrawableCents pendingReleaseCents } }',
  'payouts(first: 50)': `{ payouts(first: 50) { nodes {
    withdrawalId code method amountCents serviceFeeCents destination status version requestedAt processedAt
  } } }`,
};

type Name = 'ours' | 'bare' | 'stringify' | 'mercurius' | 'apollo';
interface Party {
  child: Child;
  url: string;
}
interface Round {
  perSecond: number;
  cpuUs: number;
}

/**
 * Measures two queries over HTTP whose data lie in memory: our server with key, limits and log; a server with
 * prepared bytes, one that serializes the data, and two other GraphQL servers over the same data.
 */
export async function measureReads(postgresUrl: string): Promise<Row[]> {
  const called = {
    mercurius: QUICK ? null : await ensurePeer('mercurius'),
    apollo: QUICK ? null : await ensurePeer('apollo'),
  };
  const children: Child[] = [];
  const start = async (program: string, given?: unknown): Promise<Party> => {
    const child = startChild(program);
    children.push(child);
    return { child, ...(await child.ask('start', given)) };
  };
  try {
    const load = startChild('load.mjs');
    children.push(load);
    const servers = {
      ours: await start('server.mjs', {
        ...UNLIMITED_KEY,
        DATABASE_URL: await createBenchDatabase(postgresUrl),
        memory: true,
      }),
      ...(called.mercurius && { mercurius: await start('mercurius.mjs') }),
      ...(called.apollo && { apollo: await start('apollo.mjs') }),
    };
    const rows: Row[] = [];
    for (const [name, query] of Object.entries(OPERATIONS)) {
      const bytes = await sameAnswer(query, Object.values(servers));
      const answer = { body: bytes, headers: { 'content-type': 'application/json; charset=utf-8' } };
      const bare = await start('bare-http.mjs', answer);
      const stringify = await start('bare-http.mjs', { ...answer, stringifies: true });
      const parties = { ...servers, bare, stringify };
      rows.push(...(await measure({ name, query, load, parties, called })));
    }
    await servers.ours.child.ask('close');
    return rows;
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}

async function measure({
  name,
  query,
  load,
  parties,
  called,
}: {
  name: string;
  query: string;
  load: Child;
  parties: Partial<Record<Name, Party>> & Record<'ours' | 'bare' | 'stringify', Party>;
  called: Record<'mercurius' | 'apollo', string | null>;
}): Promise<Row[]> {
  async function run({ child, url }: Party, ms: number): Promise<Round> {
    const before = await child.ask('cpu');
    const { requests, perSecond } = await load.ask('run', {
      url,
      path: '/graphql',
      headers: HEADERS,
      body: JSON.stringify({ query }),
      connections: CONNECTIONS,
      ms,
    });
    return { perSecond, cpuUs: ((await child.ask('cpu')) - before) / requests };
  }
  progress(`${name}: warming up`);
  for (const party of Object.values(parties)) await run(party, WARM_UP_MS);
  const rounds = await inTurns<Round, Name>(
    ROUNDS,
    Object.fromEntries(
      Object.entries(parties).map(([each, party]) => [each, () => run(party, ROUND_MS)]),
    ) as Record<Name, () => Promise<Round>>,
    name,
  );
  const against = (other: Name, who: string, target?: Target): Row => {
    const of = (party: Name, figure: keyof Round) => median(rounds.map((round) => round[party][figure]));
    const faster = median(rounds.map((round) => round.ours.perSecond / round[other].perSecond));
    return {
      name,
      against: who,
      unit: 'µs CPU',
      ours: of('ours', 'cpuUs'),
      floor: of(other, 'cpuUs'),
      ratio: median(rounds.map((round) => round[other].cpuUs / round.ours.cpuUs)),
      ...(target && { target }),
      beside: `${rate(of('ours', 'perSecond'))} against ${rate(of(other, 'perSecond'))} requests/s: ${faster.toFixed(2)}`,
      explanation: EXPLANATION,
    };
  };
  const bytes = 'node:http, the same bytes';
  return [
    against('bare', bytes),
    against('stringify', 'node:http, JSON.stringify of the data'),
    ...(called.mercurius ? [against('mercurius', `${called.mercurius}, JIT`, { atLeast: 1 })] : []),
    ...(called.apollo ? [against('apollo', called.apollo, { atLeast: 3 })] : []),
  ];
}

const EXPLANATION = `a query over HTTP by ${CONNECTIONS} connections, wallet and payouts in memory; ours checks key, cost and limits, and logs; the others check nothing. Every server executes every query. CPU of the server's process a request`;

function rate(perSecond: number): string {
  return Math.round(perSecond).toLocaleString('en');
}

/** Compares the answers of all parties with ours: a wrong answer may be a fast one. Returns our bytes. */
async function sameAnswer(query: string, parties: Party[]): Promise<string> {
  const texts = await Promise.all(parties.map(({ url }) => post(url, query)));
  const [ours, ...others] = texts.map((text) => JSON.parse(text));
  for (const other of others)
    if (!isDeepStrictEqual(other.data, ours.data))
      throw new Error(`${JSON.stringify(other)} in place of ${JSON.stringify(ours)}`);
  return texts[0]!;
}

async function post(url: string, query: string): Promise<string> {
  const body = JSON.stringify({ query });
  const response = await fetch(`${url}/graphql`, { method: 'POST', headers: HEADERS, body });
  const text = await response.text();
  if (response.status !== 200 || text.includes('"errors"')) throw new Error(`${response.status} ${text}`);
  return text;
}
