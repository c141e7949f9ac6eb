import { expect, onTestFinished, test } from 'vitest';
import { createShiftableClock } from '../../server/src/kernel/clock.ts';
import { resumeSimulatedClock } from '../../server/src/rails/simulated/clock.ts';
import { createManualClock } from '../support/clock.ts';
import { connectTo, createPostgresDatabase } from '../support/database.ts';
import { deferred } from '../support/deferred.ts';

test('The simulated clock advances on every instance, and due tasks run there', async () => {
  const databaseUrl = await createPostgresDatabase();
  const base = createManualClock();
  const [one, other] = await Promise.all([open(), open()]);
  const rang = deferred();
  other.clock.schedule(new Date(base.now().getTime() + 3_600_000), rang.resolve);
  await one.simulated.advance(3_600_000);
  await rang.promise;
  expect(other.simulated.now()).toEqual(one.simulated.now());
  // A restart stands where they stand.
  expect((await open()).simulated.offsetMs()).toBe(3_600_000);

  async function open() {
    const database = await connectTo(databaseUrl, base);
    onTestFinished(() => database.close());
    const clock = createShiftableClock(base);
    const onFault = (fault: unknown) => expect.unreachable(String(fault));
    return { clock, simulated: await resumeSimulatedClock({ database, clock, onFault }) };
  }
});
