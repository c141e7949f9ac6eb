import { sql } from 'kysely';
import { afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Clock, createOffsetClock, plusMs } from '../../../server/src/kernel/clock.ts';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import {
  type Database,
  INSTANCE_LOCK,
  type Sql,
  StatementInterrupted,
} from '../../../server/src/state/db/database.ts';
import { createWorkQueue, type TaskHandler } from '../../../server/src/state/work/queue.ts';
import { RetryLater } from '../../../server/src/state/work/retry-later.ts';
import {
  claimTasks,
  completeTask,
  dropTasks,
  endTasks,
  type NewTask,
  reclaimTasksNotUnderWay,
  reclaimTasksOfDead,
  renewLeases,
  scheduleTasks,
  type Task,
} from '../../../server/src/state/work/store.ts';
import { createManualClock, type ManualClock } from '../../support/clock.ts';
import { connectTo, describeOnBothEngines, takePostgresDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { interceptStatements, recordStatements, wrapStatements } from '../../support/statements.ts';

const TENANT: Tenant = { accountId: 'acc_work', environment: 'live' };
const SECOND = 1_000;
const LEASE_MS = 30_000;

describeOnBothEngines('work that waits', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });
  afterEach(() => database.sql.deleteFrom('task').execute());

  test('A task is done at its instant, not before, and once', async () => {
    const { clock, done, queue } = worker(database);
    await schedule(at(clock, 10 * SECOND, 'later'), at(clock, 5 * SECOND, 'sooner'));
    await queue.settled();
    clock.advance(5 * SECOND - 1);
    await queue.settled();
    expect(done).toEqual([]);
    clock.advance(1);
    await queue.settled();
    expect(done).toEqual(['sooner']);
    clock.advance(5 * SECOND);
    await queue.settled();
    clock.advance(3_600 * SECOND);
    await queue.settled();
    expect(done).toEqual(['sooner', 'later']);
    expect(await tasks()).toEqual([]);
  });

  test('A wake runs the queue at the very instant of a task', async () => {
    const { clock, done, queue, didOne } = worker(database);
    await queue.settled();
    for (const ms of [300, 100, 200]) {
      const task = at(clock, ms, `after ${ms}`);
      await schedule(task);
      queue.wake(task);
    }
    // Two tasks fall due at the same moment, and one in the past.
    const one = didOne();
    clock.advance(100);
    await one;
    expect(done).toEqual(['after 100']);
    const overdue = at(clock, -SECOND, 'overdue');
    await schedule(overdue);
    queue.wake(overdue);
    await queue.settled();
    expect(done).toEqual(['after 100', 'overdue']);
    clock.advance(200);
    await queue.settled();
    expect(done).toEqual(['after 100', 'overdue', 'after 200', 'after 300']);
  });

  test('A task that fell due while no server ran is done when one starts', async () => {
    const clock = createManualClock();
    await schedule(at(clock, SECOND, 'slept through'), at(clock, 90_000 * SECOND, 'far'));
    clock.advance(86_400 * SECOND);
    const { done, queue, didOne } = worker(database, { clock });
    const one = didOne();
    queue.start();
    await one;
    await queue.settled();
    expect(done).toEqual(['slept through']);
  });

  test('A task that another instance has scheduled is found within a second', async () => {
    const { clock, done, queue } = worker(database);
    await queue.settled();
    await schedule(at(clock, 0, 'unannounced'));
    clock.advance(SECOND);
    await queue.settled();
    expect(done).toEqual(['unannounced']);
  });

  test('A failed task is retried, later each time, and delays no other', async () => {
    const { clock, done, faults, queue } = worker(database, {
      handler: (task) => {
        if (task.key === 'failing' && task.attempts <= 6) throw new Error(`attempt ${task.attempts}`);
      },
    });
    await schedule(at(clock, 0, 'failing'), at(clock, 0, 'sound'));
    await queue.settled();
    expect(done).toEqual(['sound']);
    const waits = [1, 5, 30, 120, 600, 600];
    for (const [index, seconds] of waits.entries()) {
      expect(faults.map(({ message }) => message)).toEqual(
        waits.slice(0, index + 1).map((_, n) => `attempt ${n + 1}`),
      );
      clock.advance(seconds * SECOND - 1);
      await queue.settled();
      expect(faults).toHaveLength(index + 1);
      clock.advance(1);
      await queue.settled();
    }
    expect(done).toEqual(['sound', 'failing']);
    expect(await tasks()).toEqual([]);
  });

  test('A dropped task is not done, and one under way is completed', async () => {
    const clock = createManualClock();
    await schedule(at(clock, 0, 'under way'), at(clock, SECOND, 'waiting'), at(clock, SECOND, 'kept'));
    const [underWay] = await claim(clock);
    const other = { ...TENANT, environment: 'sandbox' as const };
    await scheduleTasks(database.sql, other, [at(clock, SECOND, 'waiting')]);
    const drop = ['under way', 'waiting', 'unknown'].map((key) => ({ kind: 'test', key }));
    await dropTasks(database.sql, [{ tenant: TENANT, tasks: drop }]);
    const left = (await tasks()).map(({ environment, key }) => `${environment} ${key}`);
    expect(left).toEqual(['live kept', 'live under way', 'sandbox waiting']);
    await completeTask(database.sql, underWay!);
    expect((await tasks()).map(({ key }) => key)).toEqual(['kept', 'waiting']);
  });

  test('A task of a kind that this version does not know waits for a version that does', async () => {
    const { clock, faults, done, queue } = worker(database);
    await scheduleTasks(database.sql, TENANT, [{ kind: 'unheard_of', key: 'x', at: clock.now() }]);
    await schedule(at(clock, SECOND, 'known'));
    clock.advance(SECOND);
    await queue.settled();
    expect([faults, done]).toEqual([[], ['known']]);
    expect(await tasks()).toMatchObject([{ key: 'x', lease: null, attempts: 0 }]);
  });

  test('A task of a dead instance is taken over when its lease ends, not before', async () => {
    const clock = createManualClock();
    await schedule(at(clock, 0, 'orphan'));
    const [orphan] = await claim(clock);
    const { done, queue } = worker(database, { clock });
    clock.advance(LEASE_MS - 1);
    await queue.settled();
    expect(done).toEqual([]);
    clock.advance(1);
    await queue.settled();
    expect(done).toEqual(['orphan']);

    // The dead worker wakes up: its tasks are no longer its own.
    await schedule(at(clock, SECOND, 'orphan'));
    await completeTask(database.sql, orphan!);
    expect(await tasks()).toMatchObject([{ key: 'orphan' }]);
  });

  test('A task of a dead instance whose clock was hours ahead is taken over at once', async () => {
    const clock = createManualClock();
    const ahead = plusMs(clock.now(), 3 * 3_600 * SECOND);
    await schedule(at(clock, 0, 'orphan'), { kind: 'test', key: 'made by the same clock', at: ahead });
    const leasedUntil = plusMs(ahead, LEASE_MS);
    await claimTasks(database.sql, { now: ahead, leasedUntil, holder: database.instance + 1, limit: 2 });
    const { done, queue } = worker(database, { clock });
    await queue.settled();
    expect(done.sort()).toEqual(['made by the same clock', 'orphan']);
  });

  test('A task that a clock hours ahead has postponed is tried again when the clock is right, and one for later waits', async () => {
    const base = createManualClock();
    const clock = createOffsetClock(base);
    clock.setOffset(3 * 3_600 * SECOND);
    const { done, didOne, queue } = worker(database, {
      clock,
      handler: ({ attempts }) => {
        if (attempts === 1) throw new RetryLater('not yet');
      },
    });
    await schedule({ kind: 'test', key: 'postponed', at: clock.now() });
    await schedule({ kind: 'test', key: 'for later', at: plusMs(clock.now(), 3_600 * SECOND) });
    await queue.settled();
    expect(done).toEqual([]);
    clock.setOffset(0);
    const tried = didOne();
    // The poll of the next second is not postponed by the hours either.
    base.advance(SECOND);
    await tried;
    await queue.settled();
    expect(done).toEqual(['postponed']);
    expect(await tasks()).toMatchObject([{ key: 'for later' }]);
  });

  test('A task that takes longer than a lease stays with its instance', async () => {
    const [begun, finish] = [deferred(), deferred()];
    const { clock, done, queue } = worker(database, {
      handler() {
        begun.resolve();
        return finish.promise;
      },
    });
    const { queue: other, done: doneByOther } = worker(database, { clock });
    await schedule(at(clock, 0, 'long'));
    queue.start();
    await begun.promise;
    for (let seconds = 0; seconds < 120; seconds += 5) {
      const renewed = seconds % 10 === 5 ? (await tasks())[0]!.leased_until : null;
      clock.advance(5 * SECOND);
      // The renewal reaches the table before the other worker looks.
      while (renewed && (await tasks())[0]!.leased_until?.getTime() === renewed.getTime());
      await other.settled();
    }
    expect(doneByOther).toEqual([]);
    finish.resolve();
    await queue.settled();
    expect(done).toEqual(['long']);
    expect(await tasks()).toEqual([]);
  });

  test('A task under way is not begun again where its lease ended during a suspension', async () => {
    const base = createManualClock();
    let suspendedMs = 0;
    const now = () => plusMs(base.now(), suspendedMs);
    // The timers of the renewal have not run yet.
    const clock = { ...base, now, ms: () => now().getTime() };
    const [begun, finish] = [deferred(), deferred()];
    const names: string[] = [];
    const { queue, didOne, done } = worker(database, {
      clock,
      handler({ key }) {
        names.push(key);
        if (key !== 'long') return;
        begun.resolve();
        return finish.promise;
      },
    });
    await schedule(at(clock, 0, 'long'));
    queue.start();
    await begun.promise;
    suspendedMs = 3_600 * SECOND;
    const short = at(clock, 0, 'short');
    await schedule(short);
    const one = didOne();
    queue.wake(short);
    await one;
    finish.resolve();
    await queue.settled();
    expect(names).toEqual(['long', 'short']);
    expect(done).toEqual(['short', 'long']);
    expect(await tasks()).toEqual([]);
  });

  test('A task that takes long delays no other', async () => {
    const [begun, finish] = [deferred(), deferred()];
    const { clock, queue, didOne, done } = worker(database, {
      handler(task) {
        if (task.key !== 'long') return;
        begun.resolve();
        return finish.promise;
      },
    });
    await schedule(at(clock, 0, 'long'));
    await schedule(at(clock, 1, 'short'));
    queue.start();
    const one = didOne();
    await begun.promise;
    clock.advance(SECOND);
    await one;
    expect(done).toEqual(['short']);
    finish.resolve();
    await queue.settled();
    expect(done).toEqual(['short', 'long']);
  });

  test('More tasks may wait than are done at once', async () => {
    let [under, most] = [0, 0];
    const { clock, done, queue } = worker(database, {
      async handler() {
        under += 1;
        most = Math.max(most, under);
        await sql`select 1`.execute(database.sql);
        under -= 1;
      },
    });
    await schedule(...Array.from({ length: 120 }, (_, index) => at(clock, -index, `t${index}`)));
    await queue.settled();
    expect(new Set(done).size).toBe(120);
    expect(done).toHaveLength(120);
    expect(most).toBeLessThanOrEqual(50);
    expect(await tasks()).toEqual([]);
  });

  test('Tasks of a separate kind take no slot of the others, and one tenant takes only some of their slots', async () => {
    const others: Tenant[] = ['acc_a', 'acc_b'].map((accountId) => ({ ...TENANT, accountId }));
    const [finish, othersServed] = [deferred(), deferred()];
    const begun: Task[] = [];
    const done: string[] = [];
    const clock = createManualClock();
    const served = () => {
      const isOther = ({ accountId }: Task) => accountId !== TENANT.accountId;
      if (done.length >= 60 && begun.filter(isOther).length === 4) othersServed.resolve();
    };
    const queue = createWorkQueue({
      database,
      clock,
      handlers: {
        async test(task) {
          done.push(task.key);
          served();
        },
        async slow(task) {
          begun.push(task);
          served();
          await finish.promise;
          done.push(`slow ${task.key}`);
        },
      },
      pool: { kinds: ['slow'], slots: 12, slotsPerTenant: 4, slotsWhileFree: 4 },
      onError: (error) => expect.unreachable(String(error)),
    });
    onTestFinished(() => queue.close());
    const slow = (key: string, ms: number) => ({ ...at(clock, ms, key), kind: 'slow' });
    // The dead worker's tasks have been due for the longest time.
    await schedule(...Array.from({ length: 100 }, (_, index) => slow(`s${index}`, -SECOND)));
    await schedule(...Array.from({ length: 60 }, (_, index) => at(clock, 0, `t${index}`)));
    for (const tenant of others) await scheduleTasks(database.sql, tenant, [slow('x', 0), slow('y', 0)]);

    queue.start();
    await othersServed.promise;
    expect(done).toHaveLength(60);
    const ofDead = begun.filter(({ accountId }) => accountId === TENANT.accountId);
    expect(ofDead.length).toBeGreaterThanOrEqual(4);
    expect(ofDead.length).toBeLessThan(8);

    finish.resolve();
    await queue.settled();
    expect(done).toHaveLength(164);
    expect(await tasks()).toEqual([]);
  });

  test('A group of tasks that take long delays no other of its tenant while most slots are free, and no other tenant ever', async () => {
    const other: Tenant = { ...TENANT, accountId: 'acc_other' };
    const finish = deferred();
    const begun: Task[] = [];
    const clock = createManualClock();
    const queue = createWorkQueue({
      database,
      clock,
      handlers: {
        async slow(task) {
          begun.push(task);
          if (task.group.startsWith('dead')) await finish.promise;
        },
      },
      pool: { kinds: ['slow'], slots: 24, slotsPerTenant: 4, slotsWhileFree: 10 },
      onError: (error) => expect.unreachable(String(error)),
    });
    onTestFinished(() => queue.close());
    const slow = (group: string, index: number) => ({
      ...{ ...at(clock, -SECOND, `${group} ${index}`), kind: 'slow', group },
    });
    const of = (group: string) => begun.filter((task) => task.group === group).length;
    // The tasks of the dead group have been due for the longest time.
    await schedule(...Array.from({ length: 60 }, (_, index) => slow('dead', index)));
    await schedule({ ...at(clock, 0, 'alive'), kind: 'slow', group: 'alive' });
    queue.start();
    await expect.poll(() => of('alive')).toBe(1);
    expect(of('dead')).toBeGreaterThanOrEqual(4);
    expect(of('dead')).toBeLessThan(8);
    // A tenant with many such groups takes less than half of the slots.
    await schedule(...Array.from({ length: 60 }, (_, index) => slow(`dead ${index}`, index)));
    await schedule({ ...at(clock, 0, 'waiting'), kind: 'slow', group: 'waiting' });
    clock.advance(SECOND);
    await scheduleTasks(database.sql, other, [{ ...at(clock, 0, 'theirs'), kind: 'slow' }]);
    clock.advance(SECOND);
    await expect.poll(() => begun.filter(({ accountId }) => accountId === other.accountId)).toHaveLength(1);
    expect(of('waiting')).toBe(0);
    expect(begun.length).toBeLessThanOrEqual(2 + 10 + 3 + 1);
    finish.resolve();
    await queue.settled();
    expect(of('waiting')).toBe(1);
    expect(await tasks()).toEqual([]);
  });

  test('A tenant without a free slot is searched once a second, and not for each task of the others', async () => {
    const { database: recorded, statements } = recordStatements(database);
    const wholeLooks = () =>
      statements.filter((text) => text.includes('update task') && !text.includes('due_at >')).length;
    const clock = createManualClock();
    const finish = deferred();
    const done: string[] = [];
    const dead = deferred();
    let next = deferred();
    const queue = createWorkQueue({
      database: recorded,
      clock,
      handlers: {
        async slow({ accountId, key }) {
          if (accountId === TENANT.accountId) {
            dead.resolve();
            await finish.promise;
          }
          done.push(key);
        },
      },
      // The slot of the task is free again.
      onTask: () => next.resolve(),
      pool: { kinds: ['slow'], slots: 12, slotsPerTenant: 1, slotsWhileFree: 1 },
      onError: (error) => expect.unreachable(String(error)),
    });
    onTestFinished(() => queue.close());
    const slow = (key: string) => ({ ...at(clock, 0, key), kind: 'slow' });
    await schedule(...Array.from({ length: 100 }, (_, index) => slow(`s${index}`)));
    queue.start();
    await dead.promise;
    // It has seen that its own task is due and that none of the others is, and the instant of the next one.
    await expect
      .poll(() => statements.filter((text) => text.includes('select least(')).length)
      .toBeGreaterThan(1);

    const other: Tenant = { ...TENANT, accountId: 'acc_alive' };
    const serve = async (key: string) => {
      next = deferred();
      await scheduleTasks(database.sql, other, [slow(key)]);
      queue.wake(slow(key));
      await next.promise;
    };
    await serve('a');
    const before = wholeLooks();
    for (const key of ['b', 'c', 'd', 'e']) await serve(key);
    expect(wholeLooks()).toBe(before);
    clock.advance(SECOND);
    await serve('f');
    expect(wholeLooks()).toBeGreaterThan(before);
    expect(done).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);

    finish.resolve();
    await queue.settled();
    expect(await tasks()).toEqual([]);
  });

  test('A task that is due at once costs a claim in its own lane and its end, and no search for the next', async () => {
    const { database: recorded, statements } = recordStatements(database);
    const clock = createManualClock();
    let ended = deferred();
    const queue = createWorkQueue({
      database: recorded,
      clock,
      handlers: { test: () => Promise.resolve(), slow: () => Promise.resolve() },
      onTask: () => ended.resolve(),
      pool: { kinds: ['slow'], slots: 12, slotsPerTenant: 6, slotsWhileFree: 6 },
      onError: (error) => expect.unreachable(String(error)),
    });
    onTestFinished(() => queue.close());
    await queue.settled();
    for (const kind of ['test', 'slow']) {
      const task = { ...at(clock, 0, 'now'), kind };
      await schedule(task);
      statements.length = 0;
      ended = deferred();
      queue.wake(task);
      await ended.promise;
      // Everything that its end causes has been sent by now.
      expect(await tasks()).toEqual([]);
      expect(statements.map((text) => /update|delete|select least/.exec(text)?.[0])).toEqual([
        'update',
        'delete',
      ]);
    }
    // A task for later runs at its instant, even if a task of another kind is due at the same moment.
    const later = { ...at(clock, 500, 'later'), kind: 'slow' };
    await schedule(later);
    queue.wake(later);
    const [before, beside] = [at(clock, 0, 'before'), at(clock, 500, 'beside')];
    await schedule(before, beside);
    queue.wake(before);
    clock.advance(500);
    queue.wake(beside);
    await expect.poll(() => tasks()).toEqual([]);
  });

  test('A task that a commit has ended costs its claim alone, and is done again if it was scheduled meanwhile', async () => {
    const { database: recorded, statements } = recordStatements(database);
    const clock = createManualClock();
    const done: string[] = [];
    const queue = createWorkQueue({
      database: recorded,
      clock,
      handlers: {
        async test(task) {
          // Another instance schedules it again while it is done for the first time.
          if (done.length === 1) await schedule(at(clock, 0, task.key));
          done.push(task.key);
          for (const ended of await endTasks(database.sql, [task])) queue.ended(ended);
        },
      },
      onError: (error) => expect.unreachable(String(error)),
    });
    onTestFinished(() => queue.close());
    await queue.settled();
    await schedule(at(clock, 0, 'once'));
    statements.length = 0;
    queue.wake(at(clock, 0, 'once'));
    await expect.poll(() => tasks()).toEqual([]);
    expect(statements.filter((text) => !/select least/.test(text))).toHaveLength(1);
    await schedule(at(clock, 0, 'again'));
    await queue.settled();
    expect(done).toEqual(['once', 'again', 'again']);
    expect(await tasks()).toEqual([]);
  });

  test('A claim does not wait for the disk, and every other commit of its connection does', async () => {
    const { clock } = worker(database);
    await schedule(at(clock, 0, 'claimed'));
    const setting = async (db: Sql) =>
      (await sql<{ value: string }>`select current_setting('synchronous_commit') as value`.execute(db))
        .rows[0]!.value;
    const before = await setting(database.sql);
    const claimed = await database.transaction(async (trx) => {
      // The server of the tests flushes nothing.
      await sql`set local synchronous_commit to on`.execute(trx);
      const found = await claimTasks(trx, { now: clock.now(), leasedUntil: clock.now(), limit: 5 });
      expect(await setting(trx)).toBe('off');
      return found;
    });
    expect(claimed).toMatchObject([{ key: 'claimed' }]);
    expect(await setting(database.sql)).toBe(before);
  });

  test('A task that its own handler schedules again is done again after itself', async () => {
    let together = 0;
    const { clock, done, queue } = worker(database, {
      async handler(task) {
        together += 1;
        expect(together).toBe(1);
        // The first task is for this instant, and the second for later.
        if (done.length === 0) await schedule(at(clock, 0, task.key));
        if (done.length === 1) await schedule(at(clock, 60 * SECOND, task.key));
        queue.wake(at(clock, 0, task.key));
        await sql`select 1`.execute(database.sql);
        together -= 1;
      },
    });
    await schedule(at(clock, 0, 'again'));
    await queue.settled();
    expect(done).toEqual(['again', 'again']);
    expect(await tasks()).toMatchObject([{ key: 'again', lease: null, attempts: 0 }]);
    clock.advance(60 * SECOND);
    await queue.settled();
    expect(done).toEqual(['again', 'again', 'again']);
    expect(await tasks()).toEqual([]);
  });

  test('A task that is scheduled again and then fails is due when it was scheduled for', async () => {
    const { clock, queue, faults } = worker(database, {
      async handler(task) {
        await schedule(at(clock, 20 * SECOND, task.key));
        throw new Error('after all');
      },
    });
    await schedule(at(clock, 0, 'moved'));
    await queue.settled();
    expect(faults).toHaveLength(1);
    expect((await tasks())[0]).toMatchObject({ lease: null, due_at: plusMs(clock.now(), 20 * SECOND) });
  });

  test.each([
    ['is then done', 0, () => undefined],
    ['is then done', 1_500, () => undefined],
    ['is then put off', 0, () => Promise.reject(new RetryLater())],
    ['is then put off', 1_500, () => Promise.reject(new RetryLater())],
  ])(
    'A task that is scheduled again while it is under way and %s is found at its new instant: %i ms',
    async (_, ms, end) => {
      const { database: recorded, statements } = recordStatements(database);
      const begun: string[] = [];
      const { clock, queue } = worker(recorded, {
        async handler({ key }) {
          begun.push(key);
          if (begun.length > 1) return;
          const again = at(clock, ms, key);
          await schedule(again);
          const before = statements.length;
          queue.wake(again);
          clock.advance(Math.min(ms, SECOND));
          // The lease of the first run hides the task from this query.
          await expect.poll(() => statements.length).toBeGreaterThan(before);
          await tasks();
          await end();
        },
      });
      const first = at(clock, 0, 'again');
      await schedule(first);
      queue.wake(first);
      await expect.poll(() => tasks()).toMatchObject(ms > 0 ? [{ lease: null, revision: 1 }] : []);
      clock.advance(Math.max(0, ms - SECOND));
      await expect.poll(() => tasks()).toEqual([]);
      expect(begun).toEqual(['again', 'again']);
    },
  );

  test('A task for later is done at its instant beside those of a tenant without a free slot', async () => {
    const clock = createManualClock();
    const finish = deferred();
    const done: string[] = [];
    const queue = createWorkQueue({
      database,
      clock,
      handlers: {
        async slow() {
          await finish.promise;
        },
        async test({ key }) {
          done.push(key);
          await Promise.resolve();
        },
      },
      pool: { kinds: ['slow'], slots: 2, slotsPerTenant: 1, slotsWhileFree: 1 },
      onError: (error) => expect.unreachable(String(error)),
    });
    onTestFinished(() => queue.close());
    await schedule(...['s1', 's2', 's3'].map((key) => ({ ...at(clock, 0, key), kind: 'slow' })));
    await schedule(at(clock, 300, 'of another process'));
    queue.start();
    await expect.poll(async () => (await tasks()).filter(({ lease }) => lease !== null)).toHaveLength(1);
    await expect.poll(() => clock.nextAt()?.getTime()).toBe(clock.ms() + 300);
    clock.advance(300);
    await expect.poll(() => done).toEqual(['of another process']);
    finish.resolve();
    await queue.settled();
    expect(await tasks()).toEqual([]);
  });

  test('A task that is scheduled twice is one task, due as it was scheduled last', async () => {
    const { clock, done, queue } = worker(database);
    await schedule(at(clock, SECOND, 'one'), at(clock, 3 * SECOND, 'one'));
    await schedule(at(clock, 2 * SECOND, 'one'));
    clock.advance(2 * SECOND);
    await queue.settled();
    expect(done).toEqual(['one']);
  });

  test('A task survives an outage of the database', async () => {
    let away = false;
    const { clock, done, faults, queue } = worker(
      interceptStatements(database, () => {
        if (away) throw new Error('the database is away');
      }),
      {
        handler: (task) => {
          if (task.key === 'interrupted' && task.attempts === 1) {
            away = true;
            throw new Error('and so it cannot be postponed');
          }
        },
      },
    );
    await schedule(at(clock, 0, 'interrupted'));
    await queue.settled();
    expect(done).toEqual([]);
    expect(faults.length).toBeGreaterThan(1);
    clock.advance(SECOND);
    await queue.settled();
    away = false;
    clock.advance(SECOND);
    await queue.settled();
    expect(done).toEqual(['interrupted']);
  });

  test('A task whose claim lost its answer is done a second later, and not when its lease ends', async () => {
    let statements = 0;
    const { clock, done, faults, queue } = worker(
      wrapStatements(database, async (run) => {
        const answer = await run();
        statements += 1;
        // The other statements look for dead workers' tasks, for postponed tasks, and for the next instant.
        if (statements === 4) throw new StatementInterrupted('no answer');
        return answer;
      }),
    );
    await schedule(at(clock, 0, 'unheard'));
    await queue.settled();
    expect(faults.map(({ message }) => message)).toEqual(['no answer']);
    expect(await tasks()).toMatchObject([{ key: 'unheard', leased_until: plusMs(clock.now(), LEASE_MS) }]);
    clock.advance(SECOND);
    await queue.settled();
    expect(done).toEqual(['unheard']);
  });

  test('A task that an outage has interrupted is done a second later, however often it has failed before', async () => {
    const outcomes: string[] = [];
    const { clock, done, queue } = worker(database, {
      handler: (task) => {
        if (task.attempts === 4) throw new StatementInterrupted('no answer');
        if (task.attempts < 4) throw new RetryLater('not yet');
      },
      onTask: (_, outcome) => outcomes.push(outcome),
    });
    await schedule(at(clock, 0, 'unlucky'));
    for (const seconds of [0, 1, 5, 30]) {
      clock.advance(seconds * SECOND);
      await queue.settled();
    }
    expect(done).toEqual([]);
    clock.advance(SECOND);
    await queue.settled();
    expect(done).toEqual(['unlucky']);
    // An outage of the database is no fault of a task, and raises no alert about tasks.
    expect(outcomes).toEqual(['not_yet', 'not_yet', 'not_yet', 'not_yet', 'done']);
  });

  test('A closed queue begins no task, and its close waits for what is under way', async () => {
    const finish = deferred();
    const begun = deferred();
    const { clock, done, queue } = worker(database, {
      handler() {
        begun.resolve();
        return finish.promise;
      },
    });
    await schedule(at(clock, 0, 'under way'), at(clock, SECOND, 'late'));
    queue.start();
    await begun.promise;
    let closed = false;
    const closing = queue.close().then(() => {
      closed = true;
    });
    await tasks();
    expect(closed).toBe(false);
    finish.resolve();
    await closing;
    expect(done).toEqual(['under way']);
    clock.advance(3_600 * SECOND);
    queue.wake(at(clock, 0, 'too late'));
    await queue.settled();
    expect(done).toEqual(['under way']);
  });

  // ── Builders ──────────────────────────────────────────────────────────────────────────────────

  function schedule(...due: NewTask[]): Promise<void> {
    return scheduleTasks(database.sql, TENANT, due);
  }

  function claim(clock: ManualClock): Promise<Task[]> {
    const now = clock.now();
    return claimTasks(database.sql, { now, leasedUntil: plusMs(now, LEASE_MS), limit: 10 });
  }

  function tasks() {
    return database.sql.selectFrom('task').selectAll().orderBy('key').execute();
  }
});

describe('two instances on one PostgreSQL', () => {
  test('An instance inherits tasks of a dead one within seconds, and of a slow one when their leases end', async () => {
    const databaseUrl = await takePostgresDatabase();
    const clock = createManualClock();
    const open = () => connectTo(databaseUrl, clock);
    const [gone, slow, heir] = await Promise.all([open(), open(), open()]);
    onTestFinished(async () => {
      await Promise.all([slow, heir].map((database) => database.close()));
    });
    const { done, queue } = worker(heir, { clock });
    const lookOn = async (ms: number) => {
      clock.advance(ms);
      await queue.settled();
    };
    for (const each of [gone, slow]) {
      await each.listen('anything', () => undefined);
      await scheduleTasks(each.sql, TENANT, [at(clock, 0, each === gone ? 'gone' : 'slow')]);
      const leasedUntil = plusMs(clock.now(), LEASE_MS);
      await claimTasks(each.sql, { now: clock.now(), leasedUntil, holder: each.instance, limit: 10 });
    }

    await lookOn(10 * SECOND);
    expect(done).toEqual([]);
    await gone.close();
    // The worker's session ends a moment after its connection.
    const locks = sql`
      select from pg_locks where locktype = 'advisory' and classid = ${INSTANCE_LOCK}
        and database = (select oid from pg_database where datname = current_database())`;
    await expect.poll(async () => (await locks.execute(heir.sql)).rows.length).toBe(1);
    await lookOn(SECOND);
    expect(done).toEqual(['gone']);
    await lookOn(LEASE_MS - 12 * SECOND);
    expect(done).toEqual(['gone']);
    await lookOn(SECOND);
    expect(done).toEqual(['gone', 'slow']);
  });

  test('An instance without its lock connection keeps a task while it renews the lease', async () => {
    const databaseUrl = await takePostgresDatabase();
    const clock = createManualClock();
    const open = () => connectTo(databaseUrl, clock);
    const [alone, heir] = await Promise.all([open(), open()]);
    onTestFinished(async () => {
      await Promise.all([alone, heir].map((database) => database.close()));
    });
    const { done, queue } = worker(heir, { clock });
    await scheduleTasks(alone.sql, TENANT, [at(clock, 0, 'kept')]);
    const lease = () => plusMs(clock.now(), LEASE_MS);
    const claim = { now: clock.now(), leasedUntil: lease(), holder: alone.instance, limit: 1 };
    const [kept] = await claimTasks(alone.sql, claim);
    for (let seconds = 0; seconds < 20; seconds += 4) {
      clock.advance(4 * SECOND);
      await queue.settled();
      expect(done).toEqual([]);
      await renewLeases(alone.sql, [kept!.lease], lease());
    }
    clock.advance(5 * SECOND);
    await queue.settled();
    expect(done).toEqual(['kept']);
  });

  test('A renewal does not wait for a task that is being changed, which would be a deadlock', async () => {
    const clock = createManualClock();
    const databaseUrl = await takePostgresDatabase();
    const database = await connectTo(databaseUrl, clock);
    onTestFinished(() => database.close());
    await scheduleTasks(database.sql, TENANT, [at(clock, 0, 'changing'), at(clock, 0, 'still')]);
    const leasedUntil = plusMs(clock.now(), LEASE_MS);
    const held = await claimTasks(database.sql, { now: clock.now(), leasedUntil, limit: 2 });
    const later = plusMs(leasedUntil, LEASE_MS);
    await database.transaction(async (within) => {
      await scheduleTasks(within, TENANT, [at(clock, 0, 'changing')]);
      const leases = held.map(({ lease }) => lease);
      await renewLeases(database.sql, leases, later);
    });
    const rows = await database.sql
      .selectFrom('task')
      .select(['key', 'leased_until'])
      .orderBy('key')
      .execute();
    expect(rows).toEqual([
      { key: 'changing', leased_until: leasedUntil },
      { key: 'still', leased_until: later },
    ]);
  });

  test('A claim passes over the tasks that another open transaction has claimed', async () => {
    const clock = createManualClock();
    const database = await connectTo(await takePostgresDatabase(), clock);
    onTestFinished(() => database.close());
    await scheduleTasks(database.sql, TENANT, [at(clock, -2, 'first'), at(clock, -1, 'second')]);
    const claim = { now: clock.now(), leasedUntil: plusMs(clock.now(), LEASE_MS) };
    await database.transaction(async (within) => {
      const first = await claimTasks(within, { ...claim, limit: 1 });
      const others = await claimTasks(database.sql, { ...claim, limit: 2 });
      expect([first, others].map((tasks) => tasks.map(({ key }) => key))).toEqual([['first'], ['second']]);
    });
  });

  test('An instance releases tasks without waiting for one that is being changed', async () => {
    const clock = createManualClock();
    const database = await connectTo(await takePostgresDatabase(), clock);
    onTestFinished(() => database.close());
    const now = clock.now();
    const leasedUntil = plusMs(now, LEASE_MS);
    const own = 1;
    const dead = 2;
    for (const holder of [own, dead]) {
      const tasks = ['changing', 'held'].map((name) => at(clock, 0, `${name} by ${holder}`));
      await scheduleTasks(database.sql, TENANT, tasks);
      await claimTasks(database.sql, { now, leasedUntil, holder, limit: 2 });
    }
    await database.transaction(async (within) => {
      const changing = [own, dead].map((holder) => at(clock, 0, `changing by ${holder}`));
      await scheduleTasks(within, TENANT, changing);
      await reclaimTasksNotUnderWay(database.sql, { holder: own, now, underWay: [] });
      const ofDead = { holder: own, now, endingBy: leasedUntil, neverAfter: leasedUntil };
      await reclaimTasksOfDead(database.sql, ofDead);
    });
    const rows = await database.sql.selectFrom('task').select(['key', 'holder']).orderBy('key').execute();
    expect(rows).toEqual([
      { key: `changing by ${own}`, holder: own },
      { key: `changing by ${dead}`, holder: dead },
      { key: `held by ${own}`, holder: null },
      { key: `held by ${dead}`, holder: null },
    ]);
  });

  test('Two instances share the tasks, and do none twice', async () => {
    const databaseUrl = await takePostgresDatabase();
    const clock = createManualClock();
    const databases = await Promise.all([0, 1].map(() => connectTo(databaseUrl, clock)));
    onTestFinished(async () => {
      await Promise.all(databases.map((database) => database.close()));
    });
    const begun = new Map<string, number>();
    const workers = databases.map((database) =>
      worker(database, {
        clock,
        async handler(task) {
          begun.set(task.key, (begun.get(task.key) ?? 0) + 1);
          await sql`select pg_sleep(0)`.execute(database.sql);
          // Some tasks are scheduled again while they run, like a charge that is settled later.
          if (task.key.endsWith('0') && begun.get(task.key) === 1)
            await scheduleTasks(database.sql, TENANT, [at(clock, 0, task.key)]);
        },
      }),
    );
    const all = Array.from({ length: 400 }, (_, index) => at(clock, -1, `t${index}`));
    await scheduleTasks(databases[0]!.sql, TENANT, all);
    await Promise.all(workers.map(({ queue }) => queue.settled()));
    await Promise.all(workers.map(({ queue }) => queue.settled()));

    for (const { key } of all) expect([key, begun.get(key)]).toEqual([key, key.endsWith('0') ? 2 : 1]);
    for (const { done, faults } of workers) {
      expect(done.length).toBeGreaterThan(0);
      expect(faults).toEqual([]);
    }
    expect(await databases[0]!.sql.selectFrom('task').selectAll().execute()).toEqual([]);
  });
});

function at(clock: ManualClock, ms: number, key: string): NewTask {
  return { kind: 'test', key, at: plusMs(clock.now(), ms) };
}

/** A queue that records its work, and is closed with the test. */
function worker<Own extends Clock = ManualClock>(
  database: Database,
  {
    clock = createManualClock() as Clock as Own,
    handler = () => undefined,
    onTask,
  }: {
    clock?: Own;
    handler?: (task: Task) => Promise<void> | void;
    onTask?: (kind: string, outcome: string) => void;
  } = {},
) {
  const done: string[] = [];
  const faults: Error[] = [];
  let next = deferred();
  const test: TaskHandler = async (task) => {
    await handler(task);
    done.push(task.key);
    next.resolve();
  };
  const queue = createWorkQueue({
    database,
    clock,
    handlers: { test },
    ...(onTask && { onTask }),
    onError: (error) => faults.push(error as Error),
  });
  onTestFinished(() => queue.close());
  return {
    clock,
    done,
    faults,
    queue,
    /** Resolves when the next task is done. */
    didOne(): Promise<void> {
      next = deferred();
      return next.promise;
    },
  };
}
