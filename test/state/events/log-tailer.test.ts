import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { snapshots } from '../../../server/src/programs/modes/parts.ts';
import { createCommitter } from '../../../server/src/state/commit/committer.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { announcement, STREAM_CHANNEL } from '../../../server/src/state/events/announcement.ts';
import { createAnnouncer } from '../../../server/src/state/events/announcer.ts';
import type { StoredEvent } from '../../../server/src/state/events/event.ts';
import type { Appended } from '../../../server/src/state/events/log.ts';
import { readAfter } from '../../../server/src/state/events/log.ts';
import {
  createLogTailer,
  type Listener,
  type LogTailer,
} from '../../../server/src/state/events/log-tailer.ts';
import { createManualClock } from '../../support/clock.ts';
import { openAccount, revocationOf } from '../../support/core.ts';
import { openFreshPglite } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { sliceAfter } from '../../support/slice-clock.ts';
import { interceptStatements } from '../../support/statements.ts';

const clock = createManualClock();
let database: Database;
beforeAll(async () => {
  database = await openFreshPglite(clock);
});
afterAll(() => database?.close());

test('what continues the live end is delivered as it was committed, and nothing is read', async () => {
  const { tenant, tailer, heard, reads } = await listening();
  tailer.wake(tenant, await commit(tenant, 2));
  tailer.wake(tenant, await commit(tenant, 1));
  expect(heard()).toEqual([1, 2, 3]);
  expect(reads()).toBe(0);
});

test('A commit that does not continue the live end is read from the log, with what lies between', async () => {
  const { tenant, tailer, heard, reads, idle } = await listening();
  await commit(tenant, 1);
  tailer.wake(tenant, await commit(tenant, 1));
  // The event is already being read: its notification follows the read.
  tailer.wake(tenant, await commit(tenant, 1));
  await idle();
  expect(heard()).toEqual([1, 2, 3]);
  expect(reads()).toBeGreaterThan(0);
  tailer.wake(tenant, await commit(tenant, 1));
  expect(heard()).toEqual([1, 2, 3, 4]);
});

test('An announcement of events that are there already causes no read, and any other causes one', async () => {
  const { tenant, tailer, heard, reads, idle } = await listening();
  await tailer.start();
  tailer.wake(tenant, await commit(tenant, 2));
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

test('Events that another instance announces arrive once and in order, as the log has them, and nothing is read', async () => {
  const { tenant, tailer, heard, events, reads, idle } = await listening();
  await tailer.start();
  const [first, second] = [await commit(tenant, 2), await commit(tenant, 1)];
  await announceEvents(tenant, first);
  await announceEvents(tenant, first);
  expect(heard()).toEqual([1, 2]);
  // Of an announcement that covers both commits the second is new.
  await announceEvents(tenant, { ...first, events: [...first.events, ...second.events] });
  await idle();
  expect(heard()).toEqual([1, 2, 3]);
  expect(reads()).toBe(0);
  const inLog = await readAfter(database.sql, tenant, { snapshots, after: 0, limit: 10 });
  expect(events).toEqual(inLog.events);
});

test('Announced events behind a gap are read from the log, with what lies between', async () => {
  const { tenant, tailer, heard, reads, idle } = await listening();
  await tailer.start();
  await commit(tenant, 1);
  const later = await commit(tenant, 1);
  await announceEvents(tenant, later);
  await idle();
  expect(heard()).toEqual([1, 2]);
  expect(reads()).toBe(1);
});

test('Announced events of a log that was set back are not delivered', async () => {
  const { tenant, tailer, heard, events, reads, idle } = await listening();
  await tailer.start();
  tailer.wake(tenant, await commit(tenant, 1));
  const { events: real } = await commit(tenant, 1);
  const lost = { ...real[0]!, mark: real[0]!.mark + 1 };
  await announceEvents(tenant, { events: [lost], previousMark: events[0]!.mark + 1 });
  await idle();
  expect(heard()).toEqual([1, 2]);
  expect(events.at(-1)).toMatchObject({ mark: real[0]!.mark });
  expect(reads()).toBe(1);
});

test('Events that do not fit into a notification, or that cannot be read, are read from the log', async () => {
  const { tenant, tailer, heard, reads } = await listening();
  await tailer.start();
  const many = await commit(tenant, 150);
  expect(announcement(tenant, 150, many)).toBe(announcement(tenant, 150));
  await announceEvents(tenant, many);
  // A long page is delivered in several turns.
  await expect.poll(heard).toHaveLength(150);
  expect(reads()).toBe(1);
  await commit(tenant, 1);
  await database.notify(STREAM_CHANNEL, `${announcement(tenant, 151)} {"of": "another release"}`);
  await expect.poll(heard).toHaveLength(151);
});

test('An announcer sends one notification at a time, with the events of all commits since that are few and whole', async () => {
  const sent: string[][] = [];
  let answer = deferred();
  const announcer = createAnnouncer({
    database: {
      engine: 'postgres',
      notify: async (_, ...payloads) => {
        sent.push(payloads);
        await answer.promise;
      },
    },
    clock,
    onError: unexpected,
  });
  const tenant = await openAccount(database);
  const commits: Appended[] = [];
  for (let count = 0; count < 5; count += 1) commits.push(await commit(tenant, count === 4 ? 20 : 1));
  const announced = (appended: Appended) => announcer.announce([{ tenant, ...appended }]);
  const [first, second, third, fourth, large] = commits as [Appended, Appended, Appended, Appended, Appended];
  const whole = ({ previousMark }: Appended, ...all: Appended[]) => {
    const events = all.flatMap((each) => each.events);
    return announcement(tenant, events.at(-1)!.version, { events, previousMark });
  };
  announced(first);
  announced(second);
  announced(third);
  expect(sent).toEqual([[whole(first, first)]]);
  answer.resolve();
  answer = deferred();
  while (sent.length < 2) await turn();
  expect(sent[1]).toEqual([whole(second, second, third)]);
  announced(fourth);
  announced(large);
  answer.resolve();
  await announcer.idle();
  expect(sent[2]).toEqual([announcement(tenant, 24)]);
});

test('A notification that is late holds back no other', async () => {
  const sent: string[][] = [];
  const silent = deferred();
  const own = createManualClock();
  const announcer = createAnnouncer({
    database: {
      engine: 'pglite',
      async notify(_, ...payloads) {
        sent.push(payloads);
        if (sent.length === 1) await silent.promise;
      },
    },
    clock: own,
    onError: unexpected,
  });
  const tenants = [await openAccount(database), await openAccount(database)];
  for (const tenant of tenants) announcer.announce([{ tenant, ...(await commit(tenant, 1)) }]);
  own.advance(249);
  expect(sent).toHaveLength(1);
  own.advance(1);
  expect(sent).toEqual(tenants.map((tenant) => [announcement(tenant, 1)]));
  silent.resolve();
  await announcer.idle();
});

test('thousands hear of a change in slices, between which others have their turn, and all hear all in order', async () => {
  const { tenant, tailer, idle } = await listening();
  const versions: number[][] = [];
  const SLICE = 20;
  const served = sliceAfter(SLICE);
  const listener = (after: number, mark = 0): Listener => {
    const own: number[] = [];
    versions.push(own);
    const heard = ({ version }: StoredEvent) => {
      own.push(version);
      served();
    };
    return {
      after,
      mark,
      topic: { resource: 'credential' },
      onEvent: heard,
      onSetBack: unexpected,
      onDropped: unexpected,
    };
  };
  const heard = () => versions.filter((own) => own.length > 0).length;
  for (let count = 0; count < 3 * SLICE; count += 1) tailer.join(tenant, listener(0));
  await idle();

  const [first, second] = [await commit(tenant, 1), await commit(tenant, 1)];
  tailer.wake(tenant, first);
  expect(heard()).toBe(SLICE);
  tailer.wake(tenant, second);
  // The event that it lacks is being delivered, so it has to read the log.
  expect(tailer.join(tenant, listener(0))).toBeNull();
  versions.pop();
  // With that event it is the last listener that hears the next one.
  const heardNext = deferred();
  const late = { ...listener(1, first.events[0]!.mark), onEvent: () => heardNext.resolve() };
  expect(tailer.join(tenant, late)).not.toBeNull();
  versions.pop();
  await turn();
  expect(heard()).toBe(2 * SLICE);
  await heardNext.promise;
  expect(late.after).toBe(2);
  for (const own of versions) expect(own).toEqual([1, 2]);
});

/** A listener at the live end of a new tenant, before its first event. */
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
  const tailer: LogTailer = createLogTailer({
    snapshots,
    database: counted,
    clock,
    onError: (error) => expect.unreachable(String(error)),
  });
  onTestFinished(() => tailer.close());
  const events: StoredEvent[] = [];
  await tailer.listen(tenant, { resource: 'credential' }, (event) => events.push(event), unexpected);
  const idle = async () => {
    do await turn();
    while (begun > ended);
    await turn();
  };
  await idle();
  const before = begun;
  return {
    tenant,
    tailer,
    idle,
    events,
    heard: () => events.map(({ version }) => version),
    reads: () => begun - before,
  };
}

/** Commits as another instance does: this instance's tailer gets no notification. */
async function commit(tenant: Tenant, count: number): Promise<Appended> {
  let appended: Appended = { events: [], previousMark: 0 };
  const committer = createCommitter({
    database,
    clock,
    onCommit: ([committed]) => {
      appended = committed!;
    },
  });
  await committer.change({
    tenant,
    read: async () => undefined,
    decide: () => ({
      outcome: undefined,
      writes: {
        events: Array.from({ length: count }, () => revocationOf('key_1')),
      },
    }),
  });
  await committer.idle();
  return appended;
}

function unexpected(): never {
  return expect.unreachable('the log was set back');
}

async function announce(tenant: Tenant, version?: number): Promise<void> {
  await database.notify(STREAM_CHANNEL, announcement(tenant, version));
  await turn();
}

async function announceEvents(tenant: Tenant, appended: Appended): Promise<void> {
  await database.notify(STREAM_CHANNEL, announcement(tenant, appended.events.at(-1)!.version, appended));
  await turn();
}

/** Waits until a notification has been heard. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
