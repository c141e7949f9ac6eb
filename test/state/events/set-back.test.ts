import { sql } from 'kysely';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createCursors } from '../../../server/src/kernel/cursor.ts';
import { CursorExpiredError } from '../../../server/src/kernel/errors.ts';
import { snapshots } from '../../../server/src/programs/modes/parts.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import type { StoredEvent } from '../../../server/src/state/events/event.ts';
import type { Topic } from '../../../server/src/state/events/log.ts';
import { createLogTailer } from '../../../server/src/state/events/log-tailer.ts';
import { subscribe } from '../../../server/src/state/events/subscribe.ts';
import { createManualClock } from '../../support/clock.ts';
import { type Core, revocationOf, startCore, startTwoCores } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { firstInSample, sampled } from '../../support/scale.ts';
import { setBackLog } from '../../support/set-back.ts';
import { interceptStatements } from '../../support/statements.ts';

const POLL_MS = 5_000;
const cursorsFor = createCursors(Buffer.alloc(16, 'key'));
const TOPIC: Topic = { resource: 'credential' };
/** The length of the log before it is set back, and the length after. */
const HEAD = 10;
const KEPT = 6;

/**
 * The number of other events that are then written: the log ends before the lost position, exactly there, or after
 * it.
 */
const GOES_ON = [
  ['not at all', 0],
  ['to a place below', 2],
  ['exactly to the place', HEAD - KEPT],
  ['beyond the place', HEAD - KEPT + 2],
] as const;

describeOnDatabase('a log that is set back under a server', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test.each(sampled(GOES_ON, 2))(
    'A log that is set back and continues %s ends its subscribers with CURSOR_EXPIRED, once',
    async (_, count) => {
      const { core, tailer, others } = await startTwo(database);
      await emit(core, HEAD);
      const ends: unknown[] = [];
      const everything = await watch(core, { tailer, onEnd: (failure) => ends.push(failure) });
      const one = await watch(core, { tailer, topic: { ...TOPIC, resourceId: 'key_1' } });
      const newest = await watch(core, { tailer, coalesce: () => false });
      const next = [everything, one, newest].map((each) => failureOf(each.updates.next()));
      for (const each of [everything, one, newest]) await each.joined;

      await setBackLog(database, core.tenant, KEPT);
      await emit(others, count);
      core.clock.advance(POLL_MS);
      for (const each of next) expect(await each).toBeInstanceOf(CursorExpiredError);
      expect(await everything.updates.next()).toEqual({ done: true, value: undefined });
      expect(ends).toEqual([expect.any(CursorExpiredError)]);
      expect(core.faults).toEqual([]);

      // The next subscription begins at once, and misses nothing more.
      const again = await watch(core, { tailer });
      const first = again.updates.next();
      await again.joined;
      await emit(core, 1);
      expect((await first).value.version).toBe(KEPT + count + 1);
    },
  );

  test.each(sampled(GOES_ON, 2))(
    'A log that is set back and continues %s refuses a lost cursor, and accepts a kept one',
    async (_, count) => {
      const { core } = await startTwo(database);
      await emit(core, HEAD);
      const cursors = await cursorsOf(core);
      await setBackLog(database, core.tenant, KEPT);
      await emit(core, count);
      for (const lost of cursors.slice(KEPT))
        await expect(watch(core, { after: lost })).rejects.toBeInstanceOf(CursorExpiredError);
      const expected = Array.from({ length: count }, (__, index) => KEPT + 1 + index);
      for (const [index, kept] of cursors.slice(0, KEPT).entries()) {
        const between = Array.from({ length: KEPT - index - 1 }, (__, at) => index + 2 + at);
        expect(await take(core, kept, between.length + count)).toEqual([...between, ...expected]);
      }
    },
  );

  test('A log that is set back gives no lost event to a subscriber that has not read it yet', async () => {
    const { core, tailer } = await startTwo(database);
    await emit(core, 1);
    const { updates, joined } = await watch(core, { tailer });
    const first = updates.next();
    await joined;
    await emit(core, HEAD - 1);
    expect((await first).value.version).toBe(2);
    await setBackLog(database, core.tenant, KEPT);
    await emit(core, 1);
    await expect.poll(() => tailer.listenerCount(core.tenant)).toBe(0);
    await expect(updates.next()).rejects.toBeInstanceOf(CursorExpiredError);
  });

  test('A server does not take its own commit for the next event where others have used the versions between', async () => {
    const { core, tailer, others } = await startTwo(database);
    await emit(core, HEAD);
    const { updates, joined } = await watch(core, { tailer });
    const next = failureOf(updates.next());
    await joined;
    await setBackLog(database, core.tenant, KEPT);
    // The notification of the other instance is lost.
    await emit(others, HEAD - KEPT);
    await emit(core, 1);
    expect(await next).toBeInstanceOf(CursorExpiredError);
  });

  test('A subscriber that joins during the set-back is ended or begins in the new log, at any point of its start', async () => {
    const { core, others } = await startTwo(database);
    for (const after of firstInSample([HEAD - 2, KEPT - 1, null]))
      for (let at = 0, reached = true; reached; at += 1) {
        await setBackLog(database, core.tenant, 0);
        await emit(others, HEAD);
        const lost = await logOf(database, core);
        const cursor = after === null ? null : (await cursorsOf(core))[after - 1]!;
        let point = 0;
        const happen = async () => {
          await setBackLog(database, core.tenant, KEPT);
          await emit(others, HEAD - KEPT + 1);
        };
        let happened: Promise<void> | undefined;
        const slow = interceptStatements(database, () => {
          if (point++ !== at || happened) return;
          happened = happen();
          return happened;
        });
        const tailer = freshFollower(core, slow);
        const seen: number[] = [];
        let isOver = false;
        const reading = (async () => {
          const { updates } = await watch({ ...core, database: slow }, { tailer, after: cursor });
          for await (const { mark, version } of updates) {
            seen.push(mark);
            if (version === HEAD + 2) return null;
          }
        })()
          .catch((error: unknown) => error)
          .finally(() => {
            isOver = true;
          });
        while (!happened && tailer.listenerCount(core.tenant) === 0 && !isOver) await turn();
        reached = happened !== undefined;
        happened ??= happen();
        await happened;
        await emit(core, 1);
        // A poll may come before the subscriber has joined, so the test polls again.
        while (!isOver) {
          core.clock.advance(POLL_MS);
          await turn();
        }
        const failure = await reading;
        if (failure) expect(failure, `statement ${at}`).toBeInstanceOf(CursorExpiredError);
        // A subscriber with a lost event got none of the log that replaced it.
        const now = await logOf(database, core);
        const wasLost = seen.findLastIndex((mark) => lost.slice(KEPT).includes(mark));
        const isNew = seen.findIndex((mark) => now.slice(KEPT).includes(mark));
        expect(wasLost >= 0 && isNew >= 0, `statement ${at} behind ${after}: ${seen}`).toBe(false);
        if (!failure) expect(now.slice(now.indexOf(seen[0]!))).toEqual(seen);
      }
  });

  test('A subscription accepts a cursor of the release before, which is not compared', async () => {
    const { core } = await startTwo(database);
    await emit(core, 3);
    const before = cursorsFor(core.tenant, 'updates').encode(1);
    expect(await take(core, before, 2)).toEqual([2, 3]);
    // From that cursor on the events are sent.
    const { updates, joined } = await watch(core, { after: cursorsFor(core.tenant, 'updates').encode(3) });
    const next = failureOf(updates.next());
    await joined;
    await setBackLog(database, core.tenant, 1);
    await emit(core, 2);
    expect(await next).toBeInstanceOf(CursorExpiredError);
  });

  test('A subscription follows events of the release before, which have no mark', async () => {
    const { core, tailer } = await startTwo(database);
    await emit(core, 1);
    const { updates, joined } = await watch(core, { tailer, after: (await cursorsOf(core))[0]! });
    const next = updates.next();
    await joined;
    await appendUnmarked(database, core, 2);
    await emit(core, 1);
    expect((await next).value).toMatchObject({ version: 2, mark: 0 });
    expect((await updates.next()).value.version).toBe(3);
    const [, unmarked] = await cursorsOf(core);
    expect(await take(core, unmarked!, 1)).toEqual([3]);
    await updates.return!();
  });
});

describe('two instances on one PostgreSQL whose log is set back', () => {
  test.each(sampled(GOES_ON, 3))(
    'A log that is set back and continues %s ends the subscribers of both instances',
    async (_, count) => {
      const [one, two] = await startTwoCores();
      await emit(one, HEAD);
      const followed = await Promise.all([one, two].map((core) => watch(core, {})));
      const next = followed.map(({ updates }) => failureOf(updates.next()));
      for (const { joined } of followed) await joined;
      await setBackLog(one.database, one.tenant, KEPT);
      await emit(two, count);
      one.clock.advance(POLL_MS);
      for (const each of next) expect(await each).toBeInstanceOf(CursorExpiredError);
      for (const core of [one, two]) {
        const again = await watch(core, {});
        const fresh = again.updates.next();
        await again.joined;
        await emit(one, 1);
        expect((await fresh).value.version).toBeGreaterThan(KEPT + count);
        expect(core.faults).toEqual([]);
      }
    },
  );
});

/** A server, and another on the same log whose notifications are lost. Only the first one's clock is advanced. */
async function startTwo(database: Database) {
  const core = await startCore({ database });
  const others = await startCore({
    database,
    tenant: core.tenant,
    clock: createManualClock(),
    announces: false,
  });
  return { core, others, tailer: core.tailer };
}

/** Follows changes only, without an end; `joined` resolves when it waits at the live end. */
async function watch(
  { database, tailer: own, tenant }: Pick<Core, 'database' | 'tailer' | 'tenant'>,
  {
    tailer = own,
    topic = TOPIC,
    after = null,
    ...options
  }: {
    tailer?: Core['tailer'];
    topic?: Topic;
    after?: string | null;
    coalesce?: () => boolean;
    onEnd?: (failure: unknown) => void;
  },
) {
  const { promise, resolve } = deferred();
  const updates: AsyncIterableIterator<StoredEvent> = await subscribe<StoredEvent>({
    database,
    cursorsFor,
    tenant,
    topic,
    after,
    ...options,
    tailer: {
      ...tailer,
      join(...of) {
        const leave = tailer.join(...of);
        if (leave) resolve();
        return leave;
      },
    },
    toItem: (event) => event,
    isLast: () => false,
    signal: new AbortController().signal,
  });
  return { updates, joined: promise };
}

/** The error with which the promise rejects; null if it does not. */
function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}

/** The versions of the next events after a cursor. */
async function take(core: Core, after: string, count: number): Promise<number[]> {
  const { updates } = await watch(core, { after });
  const versions: number[] = [];
  while (versions.length < count) versions.push((await updates.next()).value.version);
  await updates.return!();
  return versions;
}

/** The cursor of each event that the log holds. */
async function cursorsOf(core: Core): Promise<string[]> {
  const { encode } = cursorsFor(core.tenant, 'updates');
  return (await logOf(core.database, core)).map((mark, index) => encode(index + 1, mark));
}

/** The marks of the events that the log holds. */
async function logOf({ sql: db }: Database, { tenant }: Core): Promise<number[]> {
  const rows = await db
    .selectFrom('event')
    .select('mark')
    .where('account_id', '=', tenant.accountId)
    .orderBy('version')
    .execute();
  return rows.map(({ mark }) => mark);
}

/** Writes an event as a server of the previous release does. */
async function appendUnmarked({ sql: db }: Database, { tenant }: Core, version: number): Promise<void> {
  await sql`
    insert into event (account_id, environment, version, kind, resource, resource_id, occurred_at, snapshot)
    values (${tenant.accountId}, 'live', ${version}, 'credential.revoked', 'credential', 'key_1', '2026-03-02T12:00:00Z', '{}')
  `.execute(db);
  await sql`update stream set version = ${version} where account_id = ${tenant.accountId}`.execute(db);
}

/** Writes a number of events, each in a commit of its own. */
async function emit({ committer, tenant }: Core, count: number): Promise<void> {
  for (let each = 0; each < count; each += 1)
    await committer.change({
      tenant,
      read: async () => undefined,
      decide: () => ({
        outcome: undefined,
        writes: {
          events: [revocationOf('key_1')],
        },
      }),
    });
}

function freshFollower({ clock, faults }: Core, database: Database) {
  const tailer = createLogTailer({ database, snapshots, clock, onError: (error) => faults.push(error) });
  const started = tailer.start();
  onTestFinished(async () => {
    await started;
    await tailer.close();
  });
  return tailer;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
