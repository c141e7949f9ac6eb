import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDayCounts } from '../../../server/src/api/limits/day-counts.ts';
import { createRequestLimit } from '../../../server/src/api/limits/requests.ts';
import { createRootFieldLimits } from '../../../server/src/api/limits/root-fields.ts';
import { addToCounts, takeFromCounts } from '../../../server/src/api/limits/store.ts';
import { createWindows } from '../../../server/src/api/limits/windows.ts';
import type { Caller, Credential } from '../../../server/src/kernel/caller.ts';
import { RateLimitError } from '../../../server/src/kernel/errors.ts';
import { type Database, ReadOnlyDatabase, type Sql } from '../../../server/src/state/db/database.ts';
import { createManualClock } from '../../support/clock.ts';
import {
  connectTo,
  createPostgresDatabase,
  describeOnDatabase,
  hasLockWaiter,
} from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { generated } from '../../support/scale.ts';
import { failStatements, interceptStatements, recordStatements } from '../../support/statements.ts';

const HOUR = 3_600_000;
const NOW = createManualClock().now();

describeOnDatabase('windows', (open) => {
  let database: Database;
  let names = 0;
  beforeAll(async () => {
    database = await open();
  });
  /** Each server has windows of its own; two with one name are two instances. */
  const windowsOf = ({
    limit,
    chunk = 1,
    clock = createManualClock(),
    sql = database.sql,
    name = `test${names++}`,
  }: Partial<Parameters<typeof createWindows>[0]> & { limit: number }) =>
    createWindows({ sql, clock, name, limit, chunk });
  const admitted = async (takes: (boolean | Promise<boolean>)[]) =>
    (await Promise.all(takes)).filter(Boolean).length;

  test('windows admit the limit for each key, and begin again a minute after the first', async () => {
    const clock = createManualClock();
    const windows = windowsOf({ limit: 3, clock });
    const start = clock.now().getTime();
    expect(windows.peek('a')).toEqual({ limit: 3, remaining: 3, resetAt: new Date(start + 60_000) });
    expect(await windows.take('a')).toBe(true);
    clock.advance(59_999);
    expect(await admitted([1, 2, 3].map(() => windows.take('a')))).toBe(2);
    expect(windows.peek('a')).toEqual({ limit: 3, remaining: 0, resetAt: new Date(start + 60_000) });
    expect(await windows.take('b')).toBe(true);
    clock.advance(1);
    expect(await windows.take('a')).toBe(true);
    expect(windows.peek('a')).toEqual({ limit: 3, remaining: 2, resetAt: new Date(start + 120_000) });
  });

  test('an admission that is put back during a reservation is not lost', async () => {
    const windows = windowsOf({ limit: 300, chunk: 15 });
    const taken = await admitted(Array.from({ length: 15 }, () => windows.take('a')));
    const next = windows.take('a');
    expect(next).toBeInstanceOf(Promise);
    for (let nth = 0; nth < taken; nth++) windows.putBack('a');
    expect(await next).toBe(true);
    expect(windows.peek('a').remaining).toBe(299);
  });

  test('keys that wait share a reservation; one that is late holds back no other key', async () => {
    const clock = createManualClock();
    const held = [deferred(), deferred()];
    let statements = 0;
    const { sql } = interceptStatements(
      database,
      () => held[statements++]?.promise,
      () => undefined,
    );
    const windows = windowsOf({ limit: 10, clock, sql });
    const silent = windows.take('a');
    const others = ['b', 'c', 'c', 'd'].map((key) => windows.take(key));
    clock.advance(249);
    others.push(windows.take('e'));
    expect(statements).toBe(1);
    clock.advance(1);
    others.push(windows.take('a'), windows.take('f'));
    expect(statements).toBe(2);
    held[1]!.resolve();
    const again = others.splice(5, 1);
    expect(await admitted(others)).toBe(6);
    held[0]!.resolve();
    expect(await admitted([silent, ...again])).toBe(2);
    expect(statements).toBeLessThanOrEqual(4);
  });

  test('each instance counts windows for itself while the database is read-only', async () => {
    const clock = createManualClock();
    let isReadOnly = false;
    const { sql } = interceptStatements(database, () => {
      if (isReadOnly) throw new ReadOnlyDatabase('cannot execute INSERT in a read-only transaction');
    });
    const windows = windowsOf({ limit: 10, chunk: 4, clock, sql });
    expect(await windows.take('key')).toBe(true);
    isReadOnly = true;
    expect(await admitted(Array.from({ length: 20 }, () => windows.take('key')))).toBe(9);
    expect(windows.peek('key').remaining).toBe(0);
    clock.advance(60_000);
    expect(await admitted(Array.from({ length: 20 }, () => windows.take('key')))).toBe(10);
    expect(await windows.take('other')).toBe(true);
  });

  test('windows admit no more over concurrent instances, and exactly the limit with a chunk of one', async () => {
    const name = 'shared';
    const clock = createManualClock();
    const instances = [1, 2, 3].map(() => windowsOf({ limit: 50, name, clock }));
    for (const minute of ['first', 'second']) {
      const takes = Array.from({ length: 120 }, (_, index) => instances[index % 3]!.take('key'));
      expect(await admitted(takes), minute).toBe(50);
      for (const instance of instances) {
        expect(await instance.take('key')).toBe(false);
        expect(instance.peek('key').remaining).toBe(0);
      }
      clock.advance(60_000);
    }
  });

  test('windows reserve a chunk, count it in memory, and together admit the limit once all of it is taken', async () => {
    const { database: recorded, statements } = recordStatements(database);
    const [name, clock] = ['chunks', createManualClock()];
    const one = windowsOf({ limit: 100, chunk: 20, name, clock, sql: recorded.sql });
    const other = windowsOf({ limit: 100, chunk: 20, name, clock });
    expect(await one.take('key')).toBe(true);
    for (let taken = 1; taken < 20; taken += 1) expect(one.take('key')).toBe(true);
    expect(statements).toHaveLength(1);
    expect(one.peek('key').remaining).toBe(80);
    expect(await other.take('key')).toBe(true);
    // An instance does not use what another has reserved. Its `remaining` is right after the next read of the
    // database.
    expect(await one.take('key')).toBe(true);
    expect(one.peek('key').remaining).toBe(59);
    let sum = 22;
    for (const instance of [one, other]) while (await instance.take('key')) sum += 1;
    expect(sum).toBe(100);
    // The window is known to be used up, so the database is not asked.
    const asked = statements.length;
    expect(one.take('key')).toBe(false);
    expect(statements).toHaveLength(asked);
  });

  test('an instance that ends returns its reservations once, and not to a later minute', async () => {
    const [name, clock] = ['given back', createManualClock()];
    const restarted = () => windowsOf({ limit: 100, chunk: 20, name, clock });
    let last = restarted();
    for (let start = 0; start < 50; start += 1) {
      last = restarted();
      expect(await last.take('key')).toBe(true);
      await last.release();
    }
    await last.release();
    const next = restarted();
    let sum = 50;
    while (await next.take('key')) sum += 1;
    expect(sum).toBe(100);

    clock.advance(60_000);
    const late = restarted();
    expect(await late.take('key')).toBe(true);
    clock.advance(60_000);
    expect(await restarted().take('key')).toBe(true);
    await late.release();
    const { used } = await database.sql
      .selectFrom('rate_window')
      .select('used')
      .where('key', '=', `${name} key`)
      .executeTakeFirstOrThrow();
    expect(Number(used)).toBe(20);
  });

  test('one statement answers many waiting requests', async () => {
    const { database: recorded, statements } = recordStatements(database);
    const windows = windowsOf({ limit: 50, sql: recorded.sql });
    expect(await admitted(Array.from({ length: 64 }, () => windows.take('key')))).toBe(50);
    expect(statements.length).toBeLessThanOrEqual(2);
  });

  test('windows begin again where the clock was set back, but not for a clock that is a little behind', async () => {
    const [name, clock, behind] = ['clock', createManualClock(), createManualClock()];
    const windows = windowsOf({ limit: 1, name, clock });
    expect(await windows.take('key')).toBe(true);
    expect(await windows.take('key')).toBe(false);
    const later = createManualClock(new Date(behind.now().getTime() - 30_000));
    expect(await windowsOf({ limit: 1, name, clock: later }).take('key')).toBe(false);
    const hourBefore = createManualClock(new Date(behind.now().getTime() - HOUR));
    expect(await windowsOf({ limit: 1, name, clock: hourBefore }).take('key')).toBe(true);
  });

  test('windows fail with the database, admit nothing then, and continue with it', async () => {
    let broken = true;
    const { sql } = interceptStatements(database, () => {
      if (broken) throw new Error('the database is gone');
    });
    const windows = windowsOf({ limit: 2, sql });
    const failed = await Promise.allSettled([1, 2, 3].map(() => windows.take('key')));
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    broken = false;
    expect(await admitted([1, 2, 3].map(() => windows.take('key')))).toBe(2);
  });

  test('new windows delete those that have ended', async () => {
    const clock = createManualClock();
    const windows = windowsOf({ limit: 1, clock, name: 'old' });
    for (let key = 0; key < 15; key += 1) await windows.take(`key${key}`);
    const left = async () =>
      (await database.sql.selectFrom('rate_window').select('key').where('key', 'like', 'old %').execute())
        .length;
    expect(await left()).toBe(15);
    clock.advance(HOUR);
    for (let key = 0; key < 6; key += 1) await windows.take(`new${key}`);
    expect(await left()).toBe(6);
  });

  test('an account has 120 requests a minute, over both environments and all instances', async () => {
    const clock = createManualClock();
    const instances = [1, 2].map(() => createRequestLimit({ sql: database.sql, clock }));
    const resetAt = new Date(clock.now().getTime() + 60_000);
    expect(await instances[0]!('acc_1')).toEqual({ admitted: true, limit: 120, remaining: 119, resetAt });
    const answers = await Promise.all(
      Array.from({ length: 130 }, (_, index) => instances[index % 2]!('acc_1')),
    );
    expect(answers.filter((answer) => answer.admitted)).toHaveLength(119);
    expect(await instances[1]!('acc_1')).toEqual({ admitted: false, limit: 120, remaining: 0, resetAt });
    expect((await instances[1]!('acc_2')).admitted).toBe(true);
  });

  test('a day in São Paulo is counted over all instances, and a database that is away loses nothing', async () => {
    // It is 23:59:30 in São Paulo.
    const clock = createManualClock(new Date('2026-03-03T02:59:30Z'));
    let isAway = false;
    const failing = failStatements(database, (text) => isAway && text.includes('insert into rate_window'));
    const [one, other] = [database, failing].map(({ sql }) => createDayCounts({ sql, clock })) as [
      ReturnType<typeof createDayCounts>,
      ReturnType<typeof createDayCounts>,
    ];
    for (const counts of [one, one, other]) counts.count('acc_day');
    expect(await one.today('acc_day')).toBe(2);
    clock.advance(10_000);
    await expect.poll(() => one.today('acc_day'), { timeout: 60_000 }).toBe(3);
    isAway = true;
    other.count('acc_day');
    expect([await other.today('acc_day'), await one.today('acc_day')]).toEqual([4, 3]);
    isAway = false;
    await other.release();
    expect([await one.today('acc_day'), await one.today('acc_other')]).toEqual([4, 0]);
    clock.advance(20_000);
    expect(await one.today('acc_day')).toBe(0);
    one.count('acc_day');
    expect(await other.today('acc_day')).toBe(0);
    expect(await one.today('acc_day')).toBe(1);
  });

  test('the request limit of an account can be set by a test', async () => {
    const clock = createManualClock();
    const take = createRequestLimit({ sql: database.sql, clock, limit: 2 });
    expect(await take('acc_few')).toMatchObject({ admitted: true, limit: 2, remaining: 1 });
    expect(await take('acc_few')).toMatchObject({ admitted: true, remaining: 0 });
    expect(await take('acc_few')).toMatchObject({ admitted: false, limit: 2 });
  });

  test('an address has 600 root fields a minute over all browser tokens of a tenant', async () => {
    const limits = createRootFieldLimits({ perKey: 10_000, sql: database.sql, clock: createManualClock() });
    const take = async (credential: Credential, address: string, accountId = 'acc_a') => {
      try {
        await limits.take(callerWith(credential, accountId), address);
        return true;
      } catch (error) {
        expect(error).toBeInstanceOf(RateLimitError);
        return false;
      }
    };
    let sum = 0;
    for (let token = 0; token < 12; token += 1)
      for (let field = 0; field < 60; field += 1)
        sum += Number(await take({ kind: 'payment_token', id: `tok_${token}`, orderCode: 'x' }, '192.0.2.1'));
    expect(sum).toBe(600);
    const fresh: Credential = { kind: 'payment_token', id: 'tok_new', orderCode: 'x' };
    expect(await take(fresh, '192.0.2.1')).toBe(false);
    expect(limits.peek(callerWith(fresh, 'acc_a'), '192.0.2.1')).toMatchObject({ limit: 600, remaining: 0 });
    expect(await take(fresh, '192.0.2.2')).toBe(true);
    expect(await take(fresh, '192.0.2.1', 'acc_b')).toBe(true);
    expect(await take({ kind: 'api_key', id: 'key_1', permissions: [] }, '192.0.2.1')).toBe(true);
  });
});

function callerWith(credential: Credential, accountId: string): Caller {
  return {
    tenant: { accountId, environment: 'live' },
    credential,
    allowedOrigins: [],
    expiresAt: null,
    trustedDocumentsOnly: false,
    endsWith: [],
  };
}

describe('windows on one PostgreSQL with a pool each', () => {
  let databases: Database[];
  beforeAll(async () => {
    const databaseUrl = await createPostgresDatabase();
    const clock = createManualClock();
    databases = await Promise.all([1, 2, 3].map(() => connectTo(databaseUrl, clock)));
  });
  afterAll(() => Promise.all(databases.map((database) => database.close())));

  test('instances that end at once return their reservations, in whatever order they were taken', async () => {
    const clock = createManualClock();
    const keys = Array.from({ length: generated(2_000) }, (_, index) => `back${index}`);
    const instances = databases.map(({ sql }) =>
      createWindows({ sql, clock, name: 'b', limit: 100, chunk: 20 }),
    );
    const orders = [keys, keys.toReversed(), keys.toSorted()];
    for (const [index, instance] of instances.entries())
      await Promise.all(orders[index]!.map((key) => instance.take(key)));
    await Promise.all(instances.map((instance) => instance.release()));
    const { rows } = await sql<{ used: number }>`
      select distinct used from rate_window where starts_with(key, 'b back')`.execute(databases[0]!.sql);
    expect(rows).toEqual([{ used: 3 }]);
  });

  test.each([
    ['added to', (sql: Sql, keys: string[]) => addToCounts(sql, keys, { now: NOW, quietMs: HOUR, most: 9 })],
    [
      'taken from',
      (sql: Sql, keys: string[]) =>
        takeFromCounts(
          sql,
          keys.map((key) => ({ key, by: 1 })),
        ),
    ],
  ])('Counts that are %s together are locked in the order of their keys', async (_, change) => {
    const [holder, changer, reader] = databases;
    // Both the table and the list have the later key first; only the order in the statement puts it last.
    for (const key of ['count 2', 'count 1'])
      await addToCounts(reader!.sql, [key], { now: NOW, quietMs: HOUR, most: 9 });
    let changed: Promise<unknown> | undefined;
    const free = await holder!.transaction(async (held) => {
      await sql`select from rate_window where key = 'count 1' for update`.execute(held);
      changed = change(changer!.sql, ['count 2', 'count 1']);
      await expect.poll(() => hasLockWaiter(reader!)).toBe(true);
      const { rows } = await sql`
        select from rate_window where key = 'count 2' for update skip locked`.execute(reader!.sql);
      return rows.length;
    });
    await changed;
    expect(free).toBe(1);
  });

  test('windows of concurrent instances admit exactly the limit', async () => {
    const clock = createManualClock();
    const instances = databases.map(({ sql }) =>
      createWindows({ sql, clock, name: 'w', limit: 200, chunk: 7 }),
    );
    const takes = Array.from({ length: 900 }, (_, index) => instances[index % 3]!.take(`k${index % 2}`));
    expect((await Promise.all(takes)).filter(Boolean)).toHaveLength(400);
  });
});
