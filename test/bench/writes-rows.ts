import { figure, median, type Row, type Target } from './report.ts';

export type KindName = 'cardGraphQL' | 'cardREST' | 'transfer' | 'payout' | 'pix';
/** The writers: our server for one tenant, for one of each caller and for many, or another program for one of each caller. */
export type WriterName = 'one' | 'each' | 'many' | 'floor' | 'mercurius' | 'before';

/** The rate of a round, and the cost of each command in it. */
export interface Round {
  perSecond: number;
  webhooks: number;
  /** CPU time of the server's process, and that of PostgreSQL's. */
  cpuUs: number;
  databaseCpuUs: number;
  statements: number;
  transactions: number;
  walBytes: number;
  diskBytes: number;
}

interface Named {
  kind: KindName;
  engine: string;
  callers: number;
  many: number;
  /** The peers by name; null if they were not measured. */
  mercurius: string | null;
  before: string | null;
}

const KINDS: Record<KindName, { called: string; explanation: string }> = {
  cardGraphQL: {
    called: 'createCardPayment',
    explanation: 'the mutation createCardPayment',
  },
  cardREST: { called: 'POST /v1/card-payments', explanation: 'the same by REST' },
  transfer: { called: 'transfer', explanation: 'a transfer to a subaccount by REST' },
  payout: {
    called: 'subaccount payout',
    explanation:
      'a payout of a subaccount by REST to a bank that answers at once, until its webhook has been received',
  },
  pix: {
    called: 'PIX payment',
    explanation:
      'a payment by PIX, created by REST, registered at the simulated bank, paid there and received, until its webhook has been received',
  },
};

const SAME_ROWS =
  'the same rows without the totals of lists, by a bare node:http route that checks nothing: one prepared statement a table with arrays for all that waits, in one transaction, one after the other';

/** The targets of a kind, by the one that it is measured against. */
const TARGETS: Partial<Record<KindName, Partial<Record<WriterName, Record<string, number>>>>> = {
  cardGraphQL: {
    floor: { PGlite: 0.5, PostgreSQL: 0.5 },
    mercurius: { PostgreSQL: 5 },
  },
  payout: { before: { PGlite: 6, PostgreSQL: 4 } },
};
const OF_ONE = 0.8;
const OF_MANY = 0.6;
/** The most that a payout among many may cost. */
const MOST: Record<string, number> = { statements: 6, transactions: 4, flushes: 2, wal: 14, disk: 0.5 };

/** The rates of a kind of command: of several tenants against one, and against others. */
export function rowsOf(named: Named, rounds: readonly Record<WriterName, Round>[]): Row[] {
  const { kind, engine, callers, many, mercurius, before } = named;
  const { called, explanation } = KINDS[kind];
  const row = (
    name: string,
    ours: WriterName,
    other: WriterName,
    against: string,
    how: string,
    target?: Target,
  ): Row => {
    const of = (writer: WriterName, what: keyof Round) => median(rounds.map((round) => round[writer][what]));
    const both = (what: keyof Round) => `${figure(of(ours, what))} against ${figure(of(other, what))}`;
    return {
      name: `${called}, ${name}, ${engine}`,
      against,
      unit: '/s',
      ours: of(ours, 'perSecond'),
      floor: of(other, 'perSecond'),
      ratio: median(rounds.map((round) => round[ours].perSecond / round[other].perSecond)),
      ...(target && { target }),
      beside: [
        `CPU ${both('cpuUs')} µs`,
        ...(engine === 'PostgreSQL' ? [`PostgreSQL’s ${both('databaseCpuUs')} µs`] : []),
        `statements ${both('statements')}`,
      ].join(', '),
      explanation: `${explanation}, by ${callers} callers, ${how}`,
    };
  };
  const each = `${callers} tenants`;
  const own = 'each with a tenant of its own';
  const aim = (writer: WriterName) => {
    const atLeast = TARGETS[kind]?.[writer]?.[engine];
    return atLeast === undefined ? undefined : { atLeast };
  };
  return [
    row(each, 'each', 'one', 'one tenant', `${own}, against all of one tenant`, { atLeast: OF_ONE }),
    row(
      `${many.toLocaleString('en')} tenants, two commands each`,
      ...(['many', 'one', 'one tenant'] as const),
      'each with the next tenant after two commands, against all of one tenant',
      { atLeast: OF_MANY },
    ),
    row(each, 'each', 'floor', 'the rows alone', `${own}, against ${SAME_ROWS}`, aim('floor')),
    ...(mercurius
      ? [
          row(
            each,
            ...(['each', 'mercurius', `${mercurius} with pg`] as const),
            `${own}, against the same rows by a mutation with a transaction for each step, over ten connections`,
            aim('mercurius'),
          ),
        ]
      : []),
    ...(before
      ? [
          row(
            each,
            ...(['each', 'before', `the build of ${before}`] as const),
            `${own}, against an earlier build of this server`,
            aim('before'),
          ),
        ]
      : []),
  ];
}

/** The cost of a command to the database, among as many tenants as callers. */
export function countRows(
  { kind, callers, mercurius, before }: Named,
  rounds: readonly Record<WriterName, Round>[],
  flushes: number,
): Row[] {
  const { called, explanation } = KINDS[kind];
  const other: WriterName = before ? 'before' : mercurius ? 'mercurius' : 'floor';
  const against = before ? `the build of ${before}` : mercurius ? `${mercurius} with pg` : 'the rows alone';
  const all = (writer: WriterName, what: keyof Round) => rounds.map((round) => round[writer][what]);
  const of = (writer: WriterName, what: keyof Round) => median(all(writer, what));
  // A file grows by many pages at once, so a round has too much of it or too little.
  const meanOf = (writer: WriterName) =>
    all(writer, 'diskBytes').reduce((sum, bytes) => sum + bytes, 0) / rounds.length;
  const webhooks = of('each', 'webhooks');
  const row = (name: string, what: string, unit: string, ours: number, floor: number | null): Row => {
    const most = kind === 'payout' ? MOST[what] : undefined;
    const isShare = what === 'disk';
    return {
      name: `${called}, ${name}, ${callers} tenants, PostgreSQL`,
      ...(floor !== null && { against }),
      unit,
      ours,
      floor,
      ratio: isShare && before && floor ? ours / floor : null,
      ...(most !== undefined && !(isShare && !before) && { target: { atMost: most } }),
      beside: webhooks > 0 ? `${figure(webhooks)} webhooks delivered` : '',
      explanation: `of one command: ${explanation}; the statements and transactions of the simulated bank are not counted`,
    };
  };
  const pair = (what: keyof Round, by = 1) => [of('each', what) / by, of(other, what) / by] as const;
  return [
    row('statements', 'statements', 'statements', ...pair('statements')),
    row('transactions that write', 'transactions', 'transactions', ...pair('transactions')),
    row('flushes', 'flushes', 'flushes', flushes, null),
    row('write-ahead log', 'wal', 'kB', ...pair('walBytes', 1_000)),
    row('disk', 'disk', 'kB', meanOf('each') / 1_000, meanOf(other) / 1_000),
  ];
}
