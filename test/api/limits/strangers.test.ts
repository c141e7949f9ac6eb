import { beforeAll, expect, test } from 'vitest';
import { createStrangerLimits } from '../../../server/src/api/limits/strangers.ts';
import { RateLimitError } from '../../../server/src/kernel/errors.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { createManualClock } from '../../support/clock.ts';
import { describeOnDatabase } from '../../support/database.ts';

describeOnDatabase('limits on requests without a credential', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  const attempt = async (take: () => void | Promise<void>) => {
    try {
      await take();
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(RateLimitError);
      return false;
    }
  };

  test('a network has 300 requests and 120 forms a minute, over all instances', async () => {
    const clock = createManualClock();
    const instances = [1, 2].map(() => createStrangerLimits({ sql: database.sql, clock }));
    const count = async (what: 'take' | 'takeForm', address: string) => {
      let admitted = 0;
      for (let time = 0; time < 400; time += 1)
        admitted += Number(await attempt(() => instances[time % 2]![what](address)));
      return admitted;
    };
    expect(await count('take', '198.51.100.1')).toBe(300);
    expect(await count('takeForm', '198.51.100.1')).toBe(120);
    expect(await count('take', '2001:db8:5:5::1')).toBe(300);
    expect(await attempt(() => instances[0]!.take('2001:db8:5:5::2'))).toBe(false);
    expect(await attempt(() => instances[0]!.take('198.51.100.2'))).toBe(true);
    await expect((async () => instances[0]!.take('198.51.100.1'))()).rejects.toMatchObject({
      message: 'Rate limit exceeded: 300 requests without a known credential a minute',
      retryAfterSeconds: 60,
    });
    clock.advance(60_000);
    expect(await attempt(() => instances[0]!.take('198.51.100.1'))).toBe(true);
  });

  test('requests with a known credential do not count against a network', async () => {
    const limits = createStrangerLimits({ sql: database.sql, clock: createManualClock(), perMinute: 10 });
    for (let time = 0; time < 50; time += 1) {
      expect(await attempt(() => limits.take('198.51.100.9'))).toBe(true);
      limits.putBack('198.51.100.9');
    }
    let admitted = 0;
    for (let time = 0; time < 20; time += 1)
      admitted += Number(await attempt(() => limits.take('198.51.100.9')));
    expect(admitted).toBe(10);
  });
});
