import { sql as raw } from 'kysely';
import { type Clock, type OffsetClock, plusMs } from '../kernel/clock.ts';
import type { Sql } from './database.ts';
import type { Log } from './log.ts';

/** Shorter than any lease: a machine whose clock is set while it runs takes nothing that another holds. */
const MEASURE_MS = 1_000;
/** The error of a clock that is worth a line in the log. */
const NOTABLE_MS = 1_000;

/**
 * Keeps `clock` at the database's time, which all instances share, whatever their machines show: by a clock that is a
 * minute ahead another instance's leases would have ended, and what is due in a minute would be due. The offset stays as
 * it is wherever a measurement allows that, so on one machine it stays 0. Returns what ends it.
 * @throws what `readTime` throws the first time
 */
export async function followDatabaseTime({
  clock,
  base,
  readTime,
  log,
}: {
  clock: OffsetClock;
  /** The clock that `clock` goes by. */
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
    // It was read at some moment between these two.
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
        // A database that is away is reported by all that need it. The offset holds until it is back.
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
