import { sql as raw } from 'kysely';
import { type Clock, type OffsetClock, plusMs } from '../../kernel/clock.ts';
import type { Sql } from './database.ts';
import type { Log } from './log.ts';

/**
 * The interval of measurements: shorter than any lease, so that an instance whose clock was changed claims no
 * leases of another.
 */
const MEASURE_MS = 1_000;
/** The smallest change of the offset that is logged. */
const NOTABLE_MS = 1_000;

/**
 * Keeps `clock` at the database's time, which all instances share, whatever their machines show: by a clock
 * that is a minute ahead the leases of other instances would have ended, and tasks of the next minute would
 * be due. The offset stays as it is if a measurement allows that, so on one machine it stays 0. Returns the
 * function that stops this.
 * @throws what `readTime` throws the first time
 */
export async function followDatabaseTime({
  clock,
  base,
  readTime,
  log,
}: {
  clock: OffsetClock;
  /** The machine's clock, to which `clock` adds its offset. */
  base: Clock;
  readTime: () => Promise<Date>;
  log: Log;
}): Promise<() => Promise<void>> {
  let reportedMs = 0;
  let stopped = false;
  let measuring: Promise<void> = Promise.resolve();

  async function measure(): Promise<void> {
    const before = base.ms();
    const time = (await readTime()).getTime();
    // The database read its time between the two readings here, so the offset is between these bounds.
    const [least, most] = [time - base.ms(), time - before];
    const offsetMs = clock.offsetMs();
    if (offsetMs >= least && offsetMs <= most) return;
    clock.setOffset(Math.round((least + most) / 2));
    report(clock.offsetMs());
  }

  function report(offsetMs: number): void {
    if (Math.abs(offsetMs - reportedMs) < NOTABLE_MS) return;
    reportedMs = offsetMs;
    const message =
      'This machine’s clock is not at the database’s time, which is the one that counts: set it';
    log.warn({ aheadMs: -offsetMs }, message);
  }

  function measureLater(): () => void {
    return base.schedule(plusMs(base.now(), MEASURE_MS), () => {
      measuring = measure()
        // All callers that need the database report that it is down. The offset stays until it is back.
        .catch(() => undefined)
        .finally(() => {
          if (!stopped) cancel = measureLater();
        });
    });
  }

  await measure();
  let cancel = measureLater();
  return async () => {
    stopped = true;
    cancel();
    await measuring;
  };
}

export async function selectTime(sql: Sql): Promise<Date> {
  const { rows } = await raw<{ time: Date }>`select clock_timestamp() as time`.execute(sql);
  return rows[0]!.time;
}
