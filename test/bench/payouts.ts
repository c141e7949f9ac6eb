import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBenchDatabase } from './databases.ts';
import { startChild } from './processes/child.ts';
import { inTurns, median, progress, QUICK, type Row, size } from './report.ts';

const CALLERS = 64;
/** Many short ones: on a shared disk, how long a flush takes changes from second to second. */
const ROUNDS = size(10, 1);
const ROUND_MS = size(500, 50);

/** Payouts of one hot account and of many, each with its own look at the funds, its own answer and its own webhook. */
export function measurePayouts(postgresUrl: string): Promise<Row[]> {
  return measure(postgresUrl, 'payout');
}

/** Payments by PIX, each created with its code, paid by its payer, and received, with its own webhook. */
export function measurePix(postgresUrl: string): Promise<Row[]> {
  return measure(postgresUrl, 'pix');
}

async function measure(postgresUrl: string, kind: 'payout' | 'pix'): Promise<Row[]> {
  const { called, explanation } = KINDS[kind];
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
      // The code is the same, and two folders of PGlite's take their time.
      if (QUICK && engine === 'PGlite') continue;
      const payouts = startChild('payouts.mjs');
      progress(`${called}, ${engine}: opening accounts`);
      await payouts.ask('prepare', { environment: ours, callers: CALLERS });
      await payouts.ask('start', { ours, floor: await copy() });
      for (const accounts of [1, CALLERS]) {
        const name = `${called}, ${accounts === 1 ? 'one account' : `${accounts} accounts`}, ${engine}`;
        progress(`${name}: warming up`);
        await payouts.ask('ours', { accounts, ms: ROUND_MS, kind });
        progress(`${name}: ${ROUNDS} rounds`);
        const rounds = await inTurns<{ perSecond: number; group: number; statements: number }>(ROUNDS, {
          ours: () => payouts.ask('ours', { accounts, ms: ROUND_MS, kind }),
          floor: () => payouts.ask('floor'),
        });
        const { answered } = await payouts.ask('finish');
        const group = median(rounds.map(({ ours }) => ours.group));
        const statements = median(rounds.map(({ ours }) => ours.statements));
        rows.push({
          name,
          against: 'the same statements, one caller an account',
          unit: '/s',
          ours: median(rounds.map(({ ours }) => ours.perSecond)),
          floor: median(rounds.map(({ floor }) => floor.perSecond)),
          ratio: median(rounds.map(({ ours, floor }) => ours.perSecond / floor.perSecond)),
          beside: `groups of ${group.toFixed(group < 10 ? 1 : 0)}, ${statements.toFixed(1)} statements each`,
          explanation: `${explanation}; after ${answered} of them both have every cent in its place`,
        });
      }
      await payouts.ask('close');
      await payouts.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}

const FLOOR =
  'the floor sends the same statements, prepared, in the same transactions to a copy of the database, one at a time for each account, over as many connections as the server has';

const KINDS = {
  payout: {
    called: 'payouts',
    explanation: `payouts of subaccounts (those of a main account end at ten an hour) by ${CALLERS} callers, each with a subaccount and an idempotency key of its own: debited, sent to a bank that answers at once, completed and answered; ${FLOOR}`,
  },
  pix: {
    called: 'PIX payments',
    explanation: `payments by PIX of ${CALLERS} callers, each with an idempotency key of its own: created, registered at the simulated bank, which books it, paid there, received and answered; ${FLOOR}`,
  },
};

async function postgresPair(postgresUrl: string) {
  const databaseUrl = await createBenchDatabase(postgresUrl);
  return {
    ours: { DATABASE_URL: databaseUrl },
    copy: async () => ({ DATABASE_URL: await createBenchDatabase(postgresUrl, databaseUrl) }),
  };
}
