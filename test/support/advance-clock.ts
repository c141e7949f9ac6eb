import { sql } from 'kysely';
import type { TestApp } from './app.ts';
import type { Core } from './core.ts';

/** Advances the clock by `ms`, and runs each task at its own instant. */
export async function advanceClock(
  { clock, work, database }: Pick<TestApp | Core, 'clock' | 'work' | 'database'>,
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
