import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBenchDatabase } from './databases.ts';
import { startChild } from './processes/child.ts';
import { inTurns, median, progress, type Row, size } from './report.ts';

/** Many short rounds: on a shared disk the time of a flush changes from second to second. */
const ROUNDS = size(12, 1);
const ROUND_MS = size(500, 50);
const WARM_UP_MS = size(1_000, 50);
/** The warm-up of PGlite in the main thread, where it gets faster for seconds. */
const LOOP_WARM_UP_MS = size(6_000, 50);

interface Measured {
  perSecond: number;
  group: number;
}

const OURS =
  'ledger transactions of two lines a second on one account, each with its own decision and answer, acknowledged when it is on the disk';
const SINGLE = {
  ask: 'single',
  warmUpMs: WARM_UP_MS,
  against: 'one transaction a posting, same SQL',
  target: { atLeast: 5 },
  explanation: `${OURS}; against one transaction for each of them with the same statements, prepared, by as many callers over as many connections as the server has`,
};
const LOOP = {
  ask: 'loop',
  warmUpMs: LOOP_WARM_UP_MS,
  against: 'a SQL loop without our code',
  target: { atLeast: 0.8 },
  explanation: `${OURS}; against a loop without our code over PGlite in its own thread (made to flush as ours does), with the same statements and groups of the same size`,
};
const STRAIGHT = `${OURS}; against the same rows alone, with no balance read and no event written, in groups of the same size as one prepared statement in a transaction`;

/**
 * Measures sales of one merchant, by many callers at once and by one alone, each acknowledged when it is on the
 * disk.
 */
export async function measurePostings(postgresUrl: string): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'psa-bench-'));
  const rows: Row[] = [];
  try {
    const databases = {
      PGlite: { dataDir: join(folder, 'ours'), bareDir: join(folder, 'bare') },
      PostgreSQL: { dataDir: 'none', databaseUrl: await createBenchDatabase(postgresUrl) },
    };
    for (const [engine, database] of Object.entries(databases)) {
      const ledger = startChild('postings.mjs');
      await ledger.ask('start', database);
      const whole = engine === 'PGlite' ? LOOP : SINGLE;
      for (const callers of [64, 1]) {
        const of = `${callers} ${callers === 1 ? 'caller' : 'callers'}, ${engine}`;
        progress(`${of}: warming up`);
        await ledger.ask('straight', { group: callers, ms: WARM_UP_MS });
        await ledger.ask(whole.ask, { callers, group: callers, ms: whole.warmUpMs });
        let { group } = await ledger.ask('committer', { callers, ms: WARM_UP_MS });
        const rounds = await inTurns<Measured, 'ours' | 'straight' | 'whole'>(
          ROUNDS,
          {
            async ours() {
              const measured: Measured = await ledger.ask('committer', { callers, ms: ROUND_MS });
              group = measured.group;
              return measured;
            },
            straight: () => ledger.ask('straight', { group: Math.max(1, Math.round(group)), ms: ROUND_MS }),
            whole: () =>
              ledger.ask(whole.ask, { callers, group: Math.max(1, Math.round(group)), ms: ROUND_MS }),
          },
          `postings, ${of}`,
        );
        const against = (floor: 'straight' | 'whole') => ({
          unit: '/s',
          ours: median(rounds.map(({ ours }) => ours.perSecond)),
          floor: median(rounds.map((round) => round[floor].perSecond)),
          ratio: median(rounds.map((round) => round.ours.perSecond / round[floor].perSecond)),
          beside: `groups of ${median(rounds.map(({ ours }) => ours.group)).toFixed(0)}`,
        });
        rows.push(
          {
            name: `postings, ${of}`,
            against: whole.against,
            ...against('whole'),
            // A single caller has no other to share a transaction with.
            ...(callers > 1 && { target: whole.target }),
            explanation: whole.explanation,
          },
          { name: `sales, ${of}`, against: 'the rows alone', ...against('straight'), explanation: STRAIGHT },
        );
      }
      await ledger.ask('close');
      await ledger.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}
