import { expect, onTestFinished, test } from 'vitest';
import { createShiftableClock } from '../../../server/src/kernel/clock.ts';
import { resumeSimulatedClock } from '../../../server/src/rails/simulated/clock.ts';
import { createManualClock } from '../../support/clock.ts';
import { connectTo, takePostgresDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';

test('The simulated clock advances on every instance, and due tasks run there', async () => {
  const { base, open } = await startClocks();
  const [one, other] = await Promise.all([open(), open()]);
  const rang = deferred();
  other.clock.schedule(new Date(base.now().getTime() + 3_600_000), rang.resolve);
  await one.simulated.advance(3_600_000);
  await rang.promise;
  expect(other.simulated.now()).toEqual(one.simulated.now());
  // A restarted clock has the stored offset.
  expect((await open()).simulated.offsetMs()).toBe(3_600_000);
});

test('A simulated clock that two requests advance to one instant stands there', async () => {
  const { base, open } = await startClocks();
  const [one, other] = await Promise.all([open(), open()]);
  const instant = new Date(base.now().getTime() + 3_600_000);
  await Promise.all([one, one, other].map(({ simulated }) => simulated.advanceTo(instant)));
  expect(one.simulated.now()).toEqual(instant);
  // An instant that has passed changes nothing.
  await one.simulated.advanceTo(base.now());
  expect(one.simulated.now()).toEqual(instant);
});

/** Creates a database, and opens simulated clocks on it. */
async function startClocks() {
  const databaseUrl = await takePostgresDatabase();
  const base = createManualClock();
  return { base, open };

  async function open() {
    const database = await connectTo(databaseUrl, base);
    onTestFinished(() => database.close());
    const clock = createShiftableClock(base);
    const onFault = (fault: unknown) => expect.unreachable(String(fault));
    return { clock, simulated: await resumeSimulatedClock({ database, clock, onFault }) };
  }
}
