import { sql as raw } from 'kysely';
import type { Database, Sql } from '../../db/database.ts';
import type { ShiftableClock } from '../../kernel/clock.ts';

/** The lever on the clock. What it was put forward by is kept, so that a restart does not go back in time. */
export interface SimulatedClock {
  now(): Date;
  /** How far it is ahead of the machine's. */
  offsetMs(): number;
  /** Puts it forward by so much. What falls due meanwhile is done as after a night's sleep: all at its end. */
  advance(ms: number): Promise<void>;
  /** Puts it forward to an instant; one that has passed changes nothing. */
  advanceTo(instant: Date): Promise<void>;
}

/** What an instance calls out that has put its clock forward: the new offset. */
const CLOCK_CHANNEL = 'psa_clock';

/** Puts `clock` to where it stood when the server was stopped, and from then on to where any instance puts its own. */
export async function resumeSimulatedClock({
  database,
  clock,
  onFault,
}: {
  database: Database;
  clock: ShiftableClock;
  onFault: (fault: unknown) => void;
}): Promise<SimulatedClock> {
  await database.listen(CLOCK_CHANNEL, (offset) => {
    if (offset !== '') clock.shiftTo(Number(offset));
    else selectOffset(database.sql).then(clock.shiftTo).catch(onFault);
  });
  clock.shiftTo(await selectOffset(database.sql));

  async function advance(ms: number): Promise<void> {
    // Kept before it is used: what is recorded under an offset is never ahead of the one that is read back.
    const offset = await addToOffset(database.sql, Math.max(0, ms));
    await database.notify(CLOCK_CHANNEL, String(offset));
    clock.shiftTo(offset);
  }
  return {
    now: () => clock.now(),
    offsetMs: () => clock.offsetMs(),
    advance,
    advanceTo: (instant) => advance(instant.getTime() - clock.ms()),
  };
}

async function selectOffset(sql: Sql): Promise<number> {
  const row = await sql.selectFrom('simulated_clock').select('offset_ms').executeTakeFirst();
  return row?.offset_ms ?? 0;
}

/** The new offset. */
async function addToOffset(sql: Sql, ms: number): Promise<number> {
  const { offset_ms } = await sql
    .insertInto('simulated_clock')
    .values({ offset_ms: ms })
    .onConflict((conflict) =>
      conflict.column('one').doUpdateSet({ offset_ms: raw`simulated_clock.offset_ms + excluded.offset_ms` }),
    )
    .returning('offset_ms')
    .executeTakeFirstOrThrow();
  return offset_ms;
}
