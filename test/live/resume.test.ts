import { afterAll, beforeAll, expect, test } from 'vitest';
import { selectCursorKey } from '../../server/src/access/store.ts';
import { createCursors } from '../../server/src/kernel/cursor.ts';
import { addAccount, addKey } from '../support/accounts.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { scale } from '../support/scale.ts';
import { CLIENTS } from './clients.ts';
import { conform, conforms, type Dose } from './kit.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

test('each client misses nothing and gets nothing twice, over cuts, outages and the end of its token', async () => {
  const accountId = await addAccount(app);
  const cursorsFor = createCursors((await selectCursorKey(app.database.sql))!);
  const { encode } = cursorsFor({ accountId, environment: 'live' }, 'updates');
  const errors: unknown[] = [];
  const dose: Dose = {
    endpoint: `${app.url}/graphql`,
    key: await addKey(app, { accountId }),
    otherKey: await addKey(app, { accountId: await addAccount(app) }),
    clients: Object.keys(CLIENTS),
    payments: scale('RESUMED'),
    followers: 1,
    // Beyond the log, and of another log.
    expiredCursors: [encode(1_000_000), encode(1, 1)],
    onError: (client, error) => errors.push([client, error]),
  };
  const findings = await conform(dose);
  expect(errors).toEqual([]);
  expect(findings).toEqual(
    Object.keys(CLIENTS).map((client) => ({
      client,
      updates: scale('RESUMED'),
      renewals: expect.any(Number),
      cuts: expect.any(Number),
      missed: 0,
      doubled: 0,
      misplaced: 0,
      foreign: 0,
      errors: 0,
      silentGaps: 0,
    })),
  );
  expect(conforms(findings, dose)).toBe(true);
  for (const { cuts } of findings) expect(cuts).toBeGreaterThan(scale('RESUMED') / 2);
  expect(app.faults).toEqual([]);
});
