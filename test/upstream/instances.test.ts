import { expect, onTestFinished, test } from 'vitest';
import { createBudget } from '../../server/src/upstream/budget/budget.ts';
import { createUpstream } from '../../server/src/upstream/client.ts';
import { createManualClock } from '../support/clock.ts';
import { describeOnDatabase } from '../support/database.ts';
import { startReceiver } from '../support/receiver.ts';

const WINDOW_MS = 60_000;

describeOnDatabase('two instances in front of one service', (open) => {
  test('two instances send no more in any window than the limit, by the count of the service, and use all of it', async () => {
    const database = await open();
    const clock = createManualClock();
    const arrivals: number[] = [];
    let most = 0;
    const service = await startReceiver((response) => {
      arrivals.push(clock.now().getTime());
      response.end('{}');
    });
    const faults: unknown[] = [];
    const onFault = (fault: unknown) => faults.push(fault);
    const both = [1, 2].map(() => {
      const budget = createBudget({ database, clock, limit: 30, skewMs: 0, accountKey: 'both', onFault });
      const keys = { live: 'ps_live_a', sandbox: 'ps_test_b' };
      const upstream = createUpstream({ url: new URL(service.url).origin, keys, budget, clock, onFault });
      onTestFinished(() => upstream.close());
      return { budget, upstream };
    });

    let refused = 0;
    for (let second = 0; second < 180; second += 1) {
      const sent = both.flatMap(({ upstream }, index) =>
        (['money', 'poll'] as const).map((each) =>
          upstream
            .send({
              environment: index === 0 ? 'live' : 'sandbox',
              method: 'GET',
              path: '/v1/wallet',
              requestOptions: { priority: each, waitMs: 0 },
            })
            .catch(() => {
              refused += 1;
            }),
        ),
      );
      await Promise.all(sent);
      await Promise.all(both.map(({ budget }) => budget.idle()));
      clock.advance(1_000);
    }

    for (const arrival of arrivals) {
      const inWindow = arrivals.filter((each) => each > arrival - WINDOW_MS && each <= arrival).length;
      most = Math.max(most, inWindow);
    }
    expect(most).toBe(30);
    expect(arrivals.length).toBe(90);
    expect(arrivals.length + refused).toBe(720);
    expect(faults).toEqual([]);
  });
});
