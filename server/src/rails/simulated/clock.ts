import { type RawBuilder, sql as raw } from 'kysely';
import type { ShiftableClock } from '../../kernel/clock.ts';
import type { Database, Sql } from '../../state/db/database.ts';

/** The control of the clock. The offset is stored, so that a restart does not go back in time. */
export interface SimulatedClock {
  now(): Date;
  /** Returns the time by which the clock is ahead of the machine's. */
  offsetMs(): number;
  /**
   * Advances the clock. Tasks that fall due in between all run at the end, as after a night without the
   * server.
   */
  advance(ms: number): Promise<void>;
  /** Advances the clock to an instant; an instant that has passed changes nothing. */
  advanceTo(instant: Date): Promise<void>;
}

/** The channel on which an instance announces the new offset. */
const CLOCK_CHANNEL = 'psa_clock';

/**
 * Sets `clock` to the offset that was stored last, and later to each offset that another instance announces.
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

  /**
   * Announces a stored offset and uses it: this instance records no event at an offset that is ahead of the
   * stored one.
   */
  async function take(offset: number): Promise<void> {
    await database.notify(CLOCK_CHANNEL, String(offset));
    clock.shiftTo(offset);
  }
  return {
    now: () => clock.now(),
    offsetMs: () => clock.offsetMs(),
    advance: async (ms) => take(await addToOffset(database.sql, Math.max(0, ms))),
    async advanceTo(instant) {
      // Two requests for one instant, on any instances, advance the clock once.
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

/** Stores an offset; `combined` says how, if one is stored already. */
async function saveOffset(sql: Sql, ms: number, combined: RawBuilder<number>): Promise<number> {
  const { offset_ms } = await sql
    .insertInto('simulated_clock')
    .values({ offset_ms: ms })
    .onConflict((conflict) => conflict.column('one').doUpdateSet({ offset_ms: combined }))
    .returning('offset_ms')
    .executeTakeFirstOrThrow();
  return offset_ms;
}
