import { afterAll, beforeAll, expect, test } from 'vitest';
import { selectCursorKey } from '../../server/src/access/store.ts';
import { createCursors } from '../../server/src/kernel/cursor.ts';
import { addAccount, addKey } from '../support/accounts.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { scale } from '../support/scale.ts';
import { CLIENTS } from './clients.ts';
import { conform, conforms, type Dose, type Findings } from './kit.ts';

// All clients follow through the same cuts, outages and ends of tokens; the updates of each are checked in a test of
// its own.

let app: TestApp;
let dose: Dose;
let findings: Findings[];
const errors: [client: string, error: unknown][] = [];

beforeAll(async () => {
  app = await startApp();
  const accountId = await addAccount(app);
  const cursorsFor = createCursors((await selectCursorKey(app.database.sql))!);
  const { encode } = cursorsFor({ accountId, environment: 'live' }, 'updates');
  dose = {
    endpoint: `${app.url}/graphql`,
    key: await addKey(app, { accountId }),
    otherKey: await addKey(app, { accountId: await addAccount(app) }),
    clients: Object.keys(CLIENTS),
    payments: scale('RESUMED'),
    followers: 1,
    // The first cursor is beyond the log, and the second of another log.
    expiredCursors: [encode(1_000_000), encode(1, 1)],
    onError: (client, error) => errors.push([client, error]),
  };
  findings = await conform(dose);
});
afterAll(async () => {
  await app.close();
  expect(app.faults).toEqual([]);
});

test.each(Object.keys(CLIENTS))(
  '%s misses nothing and gets nothing twice, over cuts, outages and the end of its token',
  (client) => {
    expect(errors.filter(([name]) => name === client)).toEqual([]);
    const [found] = findings.filter((each) => each.client === client);
    expect(found).toEqual({
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
    });
    expect(conforms([found!], { ...dose, clients: [client] })).toBe(true);
    expect(found!.cuts).toBeGreaterThan(scale('RESUMED') / 2);
  },
);
