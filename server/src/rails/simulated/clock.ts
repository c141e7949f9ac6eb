import { type RawBuilder, sql as raw } from 'kysely';
import type { ShiftableClock } from '../../kernel/clock.ts';
import type { Database, Sql } from '../../state/db/database.ts';

/** The control of the clock. The offset is stored, so that a restart does not go back in time. */
export interface SimulatedClock {
  now(): Date;
  /** Returns the time by which it is ahead of the machine's. */
  offsetMs(): number;
  /**
   * Advances it by a time. Tasks that fall due in between all run at its end, as after a night without the server.
   */
  advance(ms: number): Promise<void>;
  /** Advances it to an instant; one that has passed changes nothing. */
  advanceTo(instant: Date): Promise<void>;
}

/** The channel on which an instance announces the new offset. */
const CLOCK_CHANNEL = 'psa_clock';

/**
 * Sets `clock` to its offset when the server was stopped, and later to the offset of any instance that advances its
 * own.
 */
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

  /** Announces and uses a stored offset: an event recorded under one is never ahead of the one that is read back. */
  async function take(offset: number): Promise<void> {
    await database.notify(CLOCK_CHANNEL, String(offset));
    clock.shiftTo(offset);
  }
  return {
    now: () => clock.now(),
    offsetMs: () => clock.offsetMs(),
    advance: async (ms) => take(await addToOffset(database.sql, Math.max(0, ms))),
    async advanceTo(instant) {
      // Two requests for one instant, on this instance or another, advance the clock once.
      const baseMs = clock.ms() - clock.offsetMs();
      await take(await raiseOffset(database.sql, Math.max(0, instant.getTime() - baseMs)));
    },
  };
}

async function selectOffset(sql: Sql): Promise<number> {
  const row = await sql.selectFrom('simulated_clock').select('offset_ms').executeTakeFirst();
  return row?.offset_ms ?? 0;
}

/** Adds to the offset and returns the new one. */
function addToOffset(sql: Sql, ms: number): Promise<number> {
  return saveOffset(sql, ms, raw`simulated_clock.offset_ms + excluded.offset_ms`);
}

/** Raises the offset to at least `ms` and returns the new one. */
function raiseOffset(sql: Sql, ms: number): Promise<number> {
  return saveOffset(sql, ms, raw`greatest(simulated_clock.offset_ms, excluded.offset_ms)`);
}

/** Stores an offset, or combines it with the one that is stored. */
async function saveOffset(sql: Sql, ms: number, combined: RawBuilder<number>): Promise<number> {
  const { offset_ms } = await sql
    .insertInto('simulated_clock')
    .values({ offset_ms: ms })
    .onConflict((conflict) => conflict.column('one').doUpdateSet({ offset_ms: combined }))
    .returning('offset_ms')
    .executeTakeFirstOrThrow();
  return offset_ms;
}
