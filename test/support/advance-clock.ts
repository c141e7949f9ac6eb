import { sql } from 'kysely';
import type { Database } from '../../server/src/state/db/database.ts';
import type { WorkQueue } from '../../server/src/state/work/queue.ts';
import type { ManualClock } from './clock.ts';

/** Advances the clock by `ms`, and runs each task at its own instant. */
export async function advanceClock(
  {
    clock,
    work,
    database,
  }: { clock: ManualClock; work: Pick<WorkQueue, 'settled'>; database: Pick<Database, 'sql'> },
  ms: number,
): Promise<void> {
  const until = clock.now().getTime() + ms;
  for (;;) {
    await work.settled();
    const { rows } = await sql<{ at: Date | null }>`
      select min(greatest(due_at, leased_until)) as at from task`.execute(database.sql);
    const due = rows[0]?.at?.getTime();
    if (due === undefined || due > until) break;
    clock.jumpTo(new Date(due));
  }
  clock.jumpTo(new Date(until));
  await work.settled();
}
