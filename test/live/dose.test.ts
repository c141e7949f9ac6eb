import { expect, onTestFinished, test } from 'vitest';
import { createSystemClock } from '../../server/src/kernel/clock.ts';
import { chosenSeed } from '../faults/random.ts';
import { connectTo, createPostgresDatabase } from '../support/database.ts';
import { scale } from '../support/scale.ts';
import { CLIENTS } from './clients.ts';
import { INSTANCES, runDose } from './dose/dose.ts';
import { isFlat } from './dose/oracle.ts';

// Followers by every client at three instances of the built server, through cuts of every kind, restarts and kills.
// The updates that each has received are compared with the table `event`.

const SIZE = {
  active: scale('DOSE_ACTIVE'),
  idle: scale('DOSE_IDLE'),
  cuts: scale('DOSE_CUTS'),
  restarts: scale('DOSE_RESTARTS'),
  kills: scale('DOSE_KILLS'),
  slowReads: scale('DOSE_SLOW_READS'),
};
/** A time that is longer than the largest dose takes on a busy machine. */
const LIMIT_MS = 3_600_000;

test(
  `${SIZE.active} active and ${SIZE.idle} idle followers by unmodified clients miss nothing and get nothing twice, over ${SIZE.cuts} cuts, restarts and kills`,
  async () => {
    const databaseUrl = await createPostgresDatabase();
    const database = await connectTo(databaseUrl, createSystemClock());
    onTestFinished(() => database.close());
    const report = await runDose({
      ...SIZE,
      databaseUrl,
      database,
      seed: chosenSeed(),
      log: (line) => process.stdout.write(`dose: ${line}\n`),
    });
    const { clients, cuts, causes, memory, otherEnds, outagesWithEvent, errors, late, logged } = report;
    process.stdout.write(
      `dose: ${JSON.stringify({ clients, cuts, causes, otherEnds, outagesWithEvent }, null, 1)}\n`,
    );
    expect(errors).toEqual([]);
    expect(late).toBe(0);
    expect(clients.map(({ client }) => client).sort()).toEqual(Object.keys(CLIENTS).sort());
    for (const found of clients)
      expect(found).toMatchObject({ missed: 0, doubled: 0, misplaced: 0, foreign: 0, errors: 0 });
    expect(logged.filter((line) => line.includes('"level":"error"'))).toEqual([]);

    // The dose was a real one: connections ended in every way, and events happened during the outages.
    expect(Object.values(cuts).reduce((sum, times) => sum + times, 0)).toBeGreaterThanOrEqual(SIZE.cuts);
    expect(Object.keys(cuts).sort()).toEqual(['end', 'frame', 'refusal', 'reset', 'silence']);
    // Some libraries report the error and others the close to a client that reads again.
    expect((causes['1013'] ?? 0) + (causes.SLOW_CONSUMER ?? 0)).toBeGreaterThanOrEqual(SIZE.slowReads);
    expect((causes['4403'] ?? 0) + (causes.UNAUTHENTICATED ?? 0)).toBeGreaterThan(0);
    expect(otherEnds).toBeGreaterThan(SIZE.active + SIZE.idle);
    expect(outagesWithEvent).toBeGreaterThanOrEqual(0.9);

    // The memory is measured with the same number of followers as at the quarter.
    expect([memory.quarter, memory.end, isFlat(memory.quarter, memory.end, INSTANCES)]).toEqual([
      ...[memory.quarter, memory.end, true],
    ]);
    expect([memory.quarter, memory.restarted, isFlat(memory.quarter, memory.restarted, INSTANCES)]).toEqual([
      ...[memory.quarter, memory.restarted, true],
    ]);
  },
  LIMIT_MS,
);
