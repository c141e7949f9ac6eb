import { createBenchDatabase } from './databases.ts';
import { startChild } from './processes/child.ts';
import { figure, inTurns, median, progress, type Row, size, type Target } from './report.ts';

const CALLERS = 64;
const ROUNDS = size(8, 1);
const ROUND_MS = size(400, 20);
const WARM_UP_MS = size(1_500, 20);
const MANY = size(1_000, 20);
const FEW = 10;

interface Case {
  name: string;
  accounts: number;
  isHot: boolean;
  target: Target;
}

const CASES: Case[] = [
  { name: '1 account', accounts: 1, isHot: false, target: { atLeast: 5 } },
  { name: `${FEW} accounts, even`, accounts: FEW, isHot: false, target: { atLeast: 2 } },
  { name: `${FEW} accounts, one hot`, accounts: FEW, isHot: true, target: { atLeast: 4 } },
  {
    name: `${MANY.toLocaleString('en')} accounts, even`,
    accounts: MANY,
    isHot: false,
    target: { atLeast: 1 },
  },
  {
    name: `${MANY.toLocaleString('en')} accounts, one hot`,
    accounts: MANY,
    isHot: true,
    target: { atLeast: 2 },
  },
];

interface Round {
  perSecond: number;
  cpuUs: number;
  group: number;
}

/** Measures the workload that is published of ledgers: transfers on a few accounts that all want, and on many. */
export async function measureTransfers(postgresUrl: string): Promise<Row[]> {
  const child = startChild('transfers.mjs');
  try {
    progress(`transfers: opening ${MANY} accounts`);
    await child.ask('start', {
      databaseUrl: await createBenchDatabase(postgresUrl),
      floorUrl: await createBenchDatabase(postgresUrl),
      accounts: MANY,
    });
    const rows: Row[] = [];
    for (const { name, accounts, isHot, target } of CASES) {
      const ask = (who: 'ours' | 'floor', ms: number): Promise<Round> =>
        child.ask(who, { accounts, isHot, callers: CALLERS, ms });
      progress(`transfers, ${name}: warming up`);
      for (const who of ['ours', 'floor'] as const) await ask(who, WARM_UP_MS);
      const rounds = await inTurns<Round>(
        ROUNDS,
        { ours: () => ask('ours', ROUND_MS), floor: () => ask('floor', ROUND_MS) },
        `transfers, ${name}`,
      );
      const of = (who: 'ours' | 'floor', what: keyof Round) =>
        median(rounds.map((round) => round[who][what]));
      rows.push({
        name: `transfers, ${name}`,
        against: 'one transaction a transfer',
        unit: '/s',
        ours: of('ours', 'perSecond'),
        floor: of('floor', 'perSecond'),
        ratio: median(rounds.map(({ ours, floor }) => ours.perSecond / floor.perSecond)),
        target,
        beside: `groups of ${figure(of('ours', 'group'))}, CPU ${figure(of('ours', 'cpuUs'))} against ${figure(of('floor', 'cpuUs'))} µs`,
        explanation: EXPLANATION,
      });
    }
    await child.ask('close');
    return rows;
  } finally {
    await child.stop();
  }
}

const EXPLANATION = `transfers a second on one PostgreSQL by ${CALLERS} callers, each of two postings between two balances of an account drawn by chance, of one in nine of ten where it is hot; decided, and acknowledged when it is on the disk; against the same postings, balances and event in a transaction of their own, prepared, over as many connections as the server has`;
