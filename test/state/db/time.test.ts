import { expect, onTestFinished, test } from 'vitest';
import { createOffsetClock, plusMs } from '../../../server/src/kernel/clock.ts';
import { openPostgres } from '../../../server/src/state/db/postgres.ts';
import { followDatabaseTime, selectTime } from '../../../server/src/state/db/time.ts';
import { createManualClock } from '../../support/clock.ts';
import { takePostgresDatabase } from '../../support/database.ts';
import { silent } from '../../support/templates.ts';

const SECOND = 1_000;

/** A machine's clock, and the database's time, which differs by a constant. */
function start({ aheadMs = 0 } = {}) {
  const base = createManualClock();
  const clock = createOffsetClock(base);
  const warnings: object[] = [];
  const database = { aheadMs: -aheadMs, isAway: false, tookMs: 0, readings: 0 };
  const readTime = async () => {
    database.readings += 1;
    if (database.isAway) throw new Error('the database is away');
    const time = plusMs(base.now(), database.aheadMs);
    // The answer takes this time to return.
    base.advance(database.tookMs);
    return time;
  };
  const log = { ...silent, warn: (fields: object) => void warnings.push(fields) };
  const follow = async () => {
    const stop = await followDatabaseTime({ clock, base, readTime, log });
    onTestFinished(stop);
    return stop;
  };
  /** Runs the next measurement. */
  const measureAgain = async () => {
    const before = database.readings;
    base.advance(SECOND);
    await expect.poll(() => database.readings).toBeGreaterThan(before);
    await new Promise(setImmediate);
  };
  return { base, clock, database, warnings, follow, measureAgain };
}

test('A clock that is a minute ahead is put back to the database’s time, and an operator hears of it.', async () => {
  const { base, clock, warnings, follow } = start({ aheadMs: 60 * SECOND });
  await follow();
  expect(clock.now()).toEqual(plusMs(base.now(), -60 * SECOND));
  expect(warnings).toEqual([{ aheadMs: 60 * SECOND }]);
});

test('A clock that may be right stays as it is, however long the answer took.', async () => {
  const { clock, database, warnings, follow, measureAgain } = start();
  database.tookMs = 500;
  await follow();
  await measureAgain();
  expect(clock.offsetMs()).toBe(0);
  expect(warnings).toEqual([]);
});

test('A clock that is set while the server runs is followed within a second.', async () => {
  const { base, clock, database, warnings, follow, measureAgain } = start();
  await follow();
  database.aheadMs = -60 * SECOND;
  await measureAgain();
  expect(clock.now()).toEqual(plusMs(base.now(), -60 * SECOND));
  expect(warnings).toEqual([{ aheadMs: 60 * SECOND }]);
});

test('A database that is away leaves the offset, and is measured again when it is back.', async () => {
  const { base, clock, database, follow, measureAgain } = start({ aheadMs: 60 * SECOND });
  await follow();
  database.isAway = true;
  await measureAgain();
  expect(clock.offsetMs()).toBe(-60 * SECOND);
  database.isAway = false;
  database.aheadMs = 5 * SECOND;
  await measureAgain();
  expect(clock.now()).toEqual(plusMs(base.now(), 5 * SECOND));
});

test('A server whose database cannot say its time does not start.', async () => {
  const { database, follow } = start();
  database.isAway = true;
  await expect(follow()).rejects.toThrow('the database is away');
});

test('Nothing is measured after the end.', async () => {
  const { base, database, follow } = start();
  const stop = await follow();
  await stop();
  base.advance(60 * SECOND);
  expect(database.readings).toBe(1);
});

test('PostgreSQL says its own time, whatever the machine of a server shows.', async () => {
  const base = createManualClock();
  const database = await openPostgres({
    databaseUrl: await takePostgresDatabase(),
    clock: base,
    log: silent,
  });
  onTestFinished(() => database.close());
  const clock = createOffsetClock(base);
  const readTime = () => selectTime(database.sql);
  const earliest = await readTime();
  onTestFinished(await followDatabaseTime({ clock, base, readTime, log: silent }));
  const latest = await readTime();
  expect(clock.ms()).toBeGreaterThanOrEqual(earliest.getTime());
  expect(clock.ms()).toBeLessThanOrEqual(latest.getTime());
});
