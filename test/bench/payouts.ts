import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureCycles } from './cycles.ts';
import { createBenchDatabase } from './databases.ts';
import { measurePages } from './pix-pages.ts';
import { type Child, startChild } from './processes/child.ts';
import { AT_LEAST_HALF_OF_FLOOR, inTurns, median, progress, QUICK, type Row, size } from './report.ts';

const CALLERS = 64;
/** Many short rounds: on a shared disk the time of a flush changes from second to second. */
const ROUNDS = size(10, 1);
const ROUND_MS = size(500, 50);
/** The number of payments or charges that each caller receives in a round. */
const OF_ROUND = size(8, 1);

/**
 * Measures payouts of one hot account and of many, each with its own check of the funds, its own answer and its
 * own webhook.
 */
export function measurePayouts(postgresUrl: string): Promise<Row[]> {
  return measure(postgresUrl, ['payout']);
}

/**
 * Measures payments by PIX: creations with their codes by either interface; creation, payment and credit; credit
 * alone; split charges; cycles of recurring PIX that fall due at once; and pages of many payments.
 */
export async function measurePix(postgresUrl: string): Promise<Row[]> {
  return [
    ...(await measure(postgresUrl, ['pix', 'receive', 'split'], true)),
    ...(await measureCycles(postgresUrl)),
    ...(await measurePages(postgresUrl)),
  ];
}

/** Measures the first kind on both databases, the others on PostgreSQL. `byHttp`: creations over HTTP, too. */
async function measure(postgresUrl: string, kinds: readonly Kind[], byHttp = false): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'psa-bench-'));
  const rows: Row[] = [];
  try {
    const databases = {
      PGlite: {
        ours: { PSA_DATA_DIR: join(folder, 'ours') },
        async copy() {
          cpSync(join(folder, 'ours'), join(folder, 'floor'), { recursive: true });
          return { PSA_DATA_DIR: join(folder, 'floor') };
        },
      },
      PostgreSQL: await postgresPair(postgresUrl),
    };
    for (const [engine, { ours, copy }] of Object.entries(databases)) {
      // A quick run leaves out PGlite: the code is the same, and two folders take time.
      if (QUICK && engine === 'PGlite') continue;
      const child = startChild('payouts.mjs');
      progress(`${KINDS[kinds[0]!].called}, ${engine}: opening accounts`);
      await child.ask('prepare', { environment: ours, callers: CALLERS });
      await child.ask('start', { ours, floor: await copy() });
      for (const kind of engine === 'PGlite' ? kinds.slice(0, 1) : kinds)
        for (const accounts of [1, CALLERS])
          rows.push(
            await measureOne(child, {
              name: `${KINDS[kind].called}, ${accounts === 1 ? 'one account' : `${accounts} accounts`}, ${engine}`,
              explanation: KINDS[kind].explanation,
              ours: () => child.ask('ours', { accounts, ms: ROUND_MS, kind, ofRound: OF_ROUND }),
            }),
          );
      if (byHttp && engine === 'PostgreSQL') rows.push(...(await measureCreation(child, engine)));
      await child.ask('close');
      await child.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}

interface Round {
  perSecond: number;
  group: number;
  statements: number;
}

/** Measures rounds of payouts, in turns with rounds of the same statements alone, and then checks both ledgers. */
async function measureOne(
  child: Child,
  { name, explanation, ours }: { name: string; explanation: string; ours: () => Promise<Round> },
): Promise<Row> {
  progress(`${name}: warming up`);
  await ours();
  progress(`${name}: ${ROUNDS} rounds`);
  const rounds = await inTurns<{ perSecond: number }>(ROUNDS, { ours, floor: () => child.ask('floor') });
  const { answered } = await child.ask('finish');
  const found = rounds.map((round) => round.ours as Round);
  const group = median(found.map((round) => round.group));
  const statements = median(found.map((round) => round.statements));
  return {
    name,
    against: 'the same statements, one caller an account',
    unit: '/s',
    ours: median(found.map(({ perSecond }) => perSecond)),
    floor: median(rounds.map(({ floor }) => floor.perSecond)),
    ratio: median(rounds.map(({ ours, floor }) => ours.perSecond / floor.perSecond)),
    target: AT_LEAST_HALF_OF_FLOOR,
    beside: `groups of ${group.toFixed(group < 10 ? 1 : 0)}, ${statements.toFixed(1)} statements each`,
    explanation: `${explanation}; after ${answered} of them both have every cent in its place`,
  };
}

/** Measures creations by REST and by GraphQL, sent by a process of its own. */
async function measureCreation(child: Child, engine: string): Promise<Row[]> {
  const load = startChild('load.mjs');
  const rows: Row[] = [];
  for (const [called, { path, body }] of Object.entries(CREATIONS))
    rows.push(
      await measureOne(child, {
        name: `PIX payments created by ${called}, one account, ${engine}`,
        explanation: CREATION,
        async ours() {
          const { url, key } = await child.ask('begin');
          const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
          const { requests, perSecond } = await load.ask('run', {
            ...{ url, path, headers, body, connections: CALLERS, ms: ROUND_MS },
          });
          return { perSecond, ...(await child.ask('end', { answered: requests })) };
        },
      }),
    );
  await load.stop();
  return rows;
}

const FLOOR =
  'the floor sends the same statements, prepared, in the same transactions to a copy of the database, one at a time for each account, over as many connections as the server has';

type Kind = 'payout' | 'pix' | 'receive' | 'split';

const KINDS: Record<Kind, { called: string; explanation: string }> = {
  payout: {
    called: 'payouts',
    explanation: `payouts of subaccounts (those of a main account end at ten an hour) by ${CALLERS} callers, each with a subaccount and an idempotency key of its own: debited, sent to a bank that answers at once, completed and answered; ${FLOOR}`,
  },
  pix: {
    called: 'PIX payments',
    explanation: `payments by PIX of ${CALLERS} callers, each with an idempotency key of its own: created, registered at the simulated bank, which books it, paid there, received and answered; ${FLOOR}`,
  },
  receive: {
    called: 'PIX credits received',
    explanation: `payments by PIX of ${CALLERS} callers, created before: the simulated bank books the payer's money with its notification, and the credit is recorded, posted and announced in one commit; ${FLOOR}`,
  },
  split: {
    called: 'split charges received',
    explanation: `the same of charges by PIX: two subaccounts have a fixed part of each, with a line of its statement and a posting of its own; ${FLOOR}`,
  },
};

/** The load replaces it by another number each time (load.mjs). */
const NEW = '<number>';

const CREATIONS = {
  REST: { path: '/v1/payments', body: JSON.stringify({ valueCents: 1_000, idempotencyKey: `rest-${NEW}` }) },
  GraphQL: {
    path: '/graphql',
    body: JSON.stringify({
      query: `mutation ($input: CreatePaymentInput!) { createPayment(input: $input) {
        ... on CreatePaymentSuccess { payment { paymentId status amountCents expiresAt checkoutUrl pix { copyPaste } } }
        ... on UserError { message }
      } }`,
      variables: { input: { valueCents: 1_000, idempotencyKey: `graphql-${NEW}` } },
    }),
  },
};
const CREATION = `payments by PIX over ${CALLERS} connections, each with an idempotency key of its own: key and limits are checked, the payment is created, registered at the simulated bank, which books it, and answered with its code; ${FLOOR}`;

async function postgresPair(postgresUrl: string) {
  const databaseUrl = await createBenchDatabase(postgresUrl);
  return {
    ours: { DATABASE_URL: databaseUrl },
    copy: async () => ({ DATABASE_URL: await createBenchDatabase(postgresUrl, databaseUrl) }),
  };
}
