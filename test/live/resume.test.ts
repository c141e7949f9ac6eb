import { afterAll, beforeAll, expect, test } from 'vitest';
import { selectCursorKey } from '../../server/src/access/store.ts';
import { createCursors } from '../../server/src/kernel/cursor.ts';
import { addAccount, addKey } from '../support/accounts.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { scale } from '../support/scale.ts';
import { CLIENTS } from './clients.ts';
import { conform } from './kit.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

test('each client misses nothing and gets nothing twice, over cuts, outages and the end of its token', async () => {
  const accountId = await addAccount(app);
  const cursorsFor = createCursors((await selectCursorKey(app.database.sql))!);
  const errors: unknown[] = [];
  const findings = await conform({
    endpoint: `${app.url}/graphql`,
    key: await addKey(app, { accountId }),
    clients: Object.keys(CLIENTS),
    payments: scale('RESUMED'),
    followers: 1,
    expiredCursor: cursorsFor({ accountId, environment: 'live' }, 'updates').encode(1_000_000),
    onError: (client, error) => errors.push([client, error]),
  });
  expect(errors).toEqual([]);
  expect(findings).toEqual(
    Object.keys(CLIENTS).map((client) => ({
      ...{ client, updates: scale('RESUMED'), renewals: expect.any(Number), cuts: expect.any(Number) },
      ...{ missed: 0, doubled: 0, misplaced: 0, foreign: 0, errors: 0, silentGaps: 0 },
    })),
  );
  for (const { renewals, cuts } of findings) {
    expect(renewals).toBeGreaterThan(0);
    expect(cuts).toBeGreaterThan(scale('RESUMED') / 2);
  }
  expect(app.faults).toEqual([]);
});
