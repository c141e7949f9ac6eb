import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createCommitter } from '../../server/src/commit/commit.ts';
import type { Database } from '../../server/src/db/database.ts';
import type { StoredEvent } from '../../server/src/events/event.ts';
import {
  announcement,
  createFollower,
  type Follower,
  STREAM_CHANNEL,
} from '../../server/src/events/follow.ts';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import { createManualClock } from '../support/clock.ts';
import { openAccount } from '../support/core.ts';
import { openFreshPglite } from '../support/database.ts';
import { interceptStatements } from '../support/statements.ts';

const clock = createManualClock();
let database: Database;
beforeAll(async () => {
  database = await openFreshPglite(clock);
});
afterAll(() => database?.close());

test('what continues the live end is delivered as it was committed, and nothing is read', async () => {
  const { tenant, follower, heard, reads } = await listening();
  follower.wake(tenant, await commit(tenant, 2));
  follower.wake(tenant, await commit(tenant, 1));
  expect(heard()).toEqual([1, 2, 3]);
  expect(reads()).toBe(0);
});

test('what does not continue it is read, with what lies between', async () => {
  const { tenant, follower, heard, reads, idle } = await listening();
  await commit(tenant, 1);
  follower.wake(tenant, await commit(tenant, 1));
  // It is being read already: this is not told before.
  follower.wake(tenant, await commit(tenant, 1));
  await idle();
  expect(heard()).toEqual([1, 2, 3]);
  expect(reads()).toBeGreaterThan(0);
  follower.wake(tenant, await commit(tenant, 1));
  expect(heard()).toEqual([1, 2, 3, 4]);
});

test('an announcement of what is there already is none to look for; any other is', async () => {
  const { tenant, follower, heard, reads, idle } = await listening();
  await follower.start();
  follower.wake(tenant, await commit(tenant, 2));
  await announce(tenant, 2);
  expect(reads()).toBe(0);
  await commit(tenant, 1);
  await announce(tenant, 3);
  await idle();
  expect(heard()).toEqual([1, 2, 3]);
  const before = reads();
  await announce(tenant);
  await idle();
  expect(reads()).toBeGreaterThan(before);
  expect(heard()).toEqual([1, 2, 3]);
});

/** Somebody at the live end of a new tenant, before anything has happened to it. */
async function listening() {
  const tenant = await openAccount(database);
  let [begun, ended] = [0, 0];
  const counted = interceptStatements(
    database,
    () => {
      begun += 1;
    },
    () => {
      ended += 1;
    },
  );
  const follower: Follower = createFollower({
    database: counted,
    clock,
    onError: (error) => expect.unreachable(String(error)),
  });
  onTestFinished(() => follower.close());
  const events: StoredEvent[] = [];
  await follower.listen(tenant, { resource: 'credential' }, (event) => events.push(event));
  const idle = async () => {
    do await turn();
    while (begun > ended);
    await turn();
  };
  await idle();
  const before = begun;
  return {
    tenant,
    follower,
    idle,
    heard: () => events.map(({ version }) => version),
    reads: () => begun - before,
  };
}

/** As another instance does, whose own follower is told nothing. */
async function commit(tenant: Tenant, count: number): Promise<readonly StoredEvent[]> {
  let events: readonly StoredEvent[] = [];
  const committer = createCommitter({
    database,
    clock,
    onCommit: (_, committed) => {
      events = committed.events;
    },
  });
  await committer.change({
    tenant,
    read: async () => undefined,
    decide: () => ({
      outcome: undefined,
      writes: {
        events: Array.from({ length: count }, () => ({
          kind: 'credential.revoked',
          resource: 'credential',
          resourceId: 'key_1',
          previousStatus: null,
          snapshot: {},
        })),
      },
    }),
  });
  await committer.idle();
  return events;
}

async function announce(tenant: Tenant, version?: number): Promise<void> {
  await database.notify(STREAM_CHANNEL, announcement(tenant, version));
  await turn();
}

/** By then a notification has been heard. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
