import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBenchDatabase } from './databases.ts';
import { startChild } from './processes/child.ts';
import { inTurns, median, progress, type Row, size } from './report.ts';

/** Many short ones: on a shared disk, how long a flush takes changes from second to second. */
const ROUNDS = size(12, 1);
const ROUND_MS = size(500, 50);

/** Sales of one merchant, many callers at once and one alone, each acknowledged when it is on the disk. */
export async function measurePostings(postgresUrl: string): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'psa-bench-'));
  const rows: Row[] = [];
  try {
    const databases = {
      PGlite: { dataDir: folder },
      PostgreSQL: { dataDir: 'none', databaseUrl: await createBenchDatabase(postgresUrl) },
    };
    for (const [engine, database] of Object.entries(databases)) {
      const ledger = startChild('postings.mjs');
      await ledger.ask('start', database);
      for (const callers of [64, 1]) {
        const name = `sales, ${callers} ${callers === 1 ? 'caller' : 'callers'}, ${engine}`;
        progress(`${name}: warming up`);
        await ledger.ask('straight', { group: callers, ms: 300 });
        const { group } = await ledger.ask('committer', { callers, ms: ROUND_MS });
        progress(`${name}: ${ROUNDS} rounds`);
        const rounds = await inTurns<{ perSecond: number; group: number }>(ROUNDS, {
          ours: () => ledger.ask('committer', { callers, ms: ROUND_MS }),
          floor: () => ledger.ask('straight', { group: Math.max(1, Math.round(group)), ms: ROUND_MS }),
        });
        rows.push({
          name,
          unit: '/s',
          ours: median(rounds.map(({ ours }) => ours.perSecond)),
          floor: median(rounds.map(({ floor }) => floor.perSecond)),
          ratio: median(rounds.map(({ ours, floor }) => ours.perSecond / floor.perSecond)),
          beside: `groups of ${median(rounds.map(({ ours }) => ours.group)).toFixed(0)}`,
          explanation:
            'ledger transactions of two lines a second on one account, each with its own decision and answer; the floor sends the same rows in groups of the same size, as one statement in a transaction',
        });
      }
      await ledger.ask('close');
      await ledger.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}
