import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { IdempotencyError, NotFoundError } from '../../../server/src/kernel/errors.ts';
import { hashInput } from '../../../server/src/kernel/input-hash.ts';
import { type Tenant, tenantKey } from '../../../server/src/kernel/tenant.ts';
import {
  type Collection,
  type Command,
  type CommittedOfTenant,
  type Committer,
  put,
  type State,
  type Writes,
} from '../../../server/src/state/commit/commit.ts';
import { createCommitter } from '../../../server/src/state/commit/committer.ts';
import {
  idempotency,
  idempotencyKeyOf,
  remember,
  replayed,
} from '../../../server/src/state/commit/idempotency.ts';
import {
  CommitOutcomeUnknown,
  type Database,
  NoConnection,
  StatementInterrupted,
} from '../../../server/src/state/db/database.ts';
import {
  isOfWanted,
  loadOf,
  recordsOf,
  tenantArrays,
  tenantOf,
  wantedKeys,
} from '../../../server/src/state/db/each-tenant.ts';
import type { TenantTable } from '../../../server/src/state/db/tenant-table.ts';
import type { NewEvent, StoredEvent } from '../../../server/src/state/events/event.ts';
import { lockStreams, readHead } from '../../../server/src/state/events/log.ts';
import { claimTasks, LeaseLost, scheduleTasks, type Task } from '../../../server/src/state/work/store.ts';
import { createManualClock } from '../../support/clock.ts';
import { openAccount } from '../../support/core.ts';
import { connectTo, createPostgresDatabase, describeOnBothEngines } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { readAfter } from '../../support/events.ts';
import { balancesOf, ledgerTransaction } from '../../support/ledger.ts';
import { scale } from '../../support/scale.ts';

/** A counter that commands increase: each decision must see its last value. */
interface Counter {
  key: string;
  value: number;
}

const counters: Collection<Counter> = {
  name: 'counter',
  async loadEach(db, keys) {
    const { rows } = await sql<TenantTable & Counter>`
      select counter.* from ${wantedKeys(keys)} join counter on ${isOfWanted('counter')} and counter.key = wanted.key
    `.execute(db);
    return rows.map(({ key, value, ...of }) => ({ tenant: tenantOf(of), record: { key, value } }));
  },
  keyOf: (counter) => counter.key,
  async saveEach(db, rows) {
    await sql`
      insert into counter (account_id, environment, key, value)
      select * from unnest(
        ${tenantArrays(rows)}, ${rows.map(({ record }) => record.key)}::text[],
        ${rows.map(({ record }) => record.value)}::bigint[]
      )
      on conflict (account_id, environment, key) do update set value = excluded.value`.execute(db);
  },
};

describeOnBothEngines('a commit', (open) => {
  let database: Database;
  let committer: Committer;
  const committed = vi.fn();
  const clock = createManualClock();
  beforeAll(async () => {
    database = await open();
    await createCounters(database);
    committer = createCommitter({ database: watched(), clock, onCommit: committed });
  });

  /** The number of transactions, and a gate that can hold one of them. */
  let transactions = 0;
  let gate: Promise<void> = Promise.resolve();
  function watched(): Database {
    return {
      ...database,
      // Commands share a transaction, whatever their tenants.
      lanes: 1,
      async transaction(work) {
        transactions += 1;
        await gate;
        return database.transaction(work);
      },
    };
  }
  /** Sends one command alone, and then others, which share the next transaction. */
  async function grouped<T>(tenant: Tenant, start: () => Promise<T>[]): Promise<PromiseSettledResult<T>[]> {
    const opened = deferred();
    gate = opened.promise;
    const first = committer.change({
      tenant,
      read: async () => undefined,
      decide: () => ({ outcome: 'first' }),
    });
    const before = transactions;
    const all = Promise.allSettled(start());
    opened.resolve();
    await first;
    const settled = await all;
    groups = transactions - before;
    return settled;
  }
  let groups = 0;

  test('A commit of several concurrent commands is one transaction, and each caller gets its own outcome', async () => {
    const tenant = await openAccount(database);
    const results = await grouped(tenant, () =>
      [1, 2, 3].map((by) => committer.change(add(tenant, 'shared', by))),
    );
    expect(results.map((result) => result.status === 'fulfilled' && result.value)).toEqual([1, 3, 6]);
    expect(groups).toBe(1);
    expect(await counted(database, tenant, 'shared')).toBe(6);
  });

  test('A commit gives a refusal to its own caller alone and writes the other commands', async () => {
    const tenant = await openAccount(database);
    const refusal = new NotFoundError('no such thing');
    const results = await grouped(tenant, () => [
      committer.change(add(tenant, 'beside', 1)),
      committer.change<number>({ ...add(tenant, 'beside', 100), decide: () => fail(refusal) }),
      committer.change(add(tenant, 'beside', 2)),
    ]);
    expect(results).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'rejected', reason: refusal },
      { status: 'fulfilled', value: 3 },
    ]);
    expect(groups).toBe(1);
    expect(await readHead(database.sql, tenant)).toBe(2);
  });

  test('A group of commands that post reports the wallet to its subscribers once', async () => {
    const tenant = await openAccount(database);
    const sale = (id: string): Command<void> => ({
      tenant,
      read: async () => undefined,
      decide: () => ({
        outcome: undefined,
        writes: {
          transactions: [ledgerTransaction(id, [{ from: 'acquirer', to: 'merchant_pending', amount: 10 }])],
        },
      }),
    });
    await grouped(tenant, () => ['a', 'b', 'c'].map((id) => committer.change(sale(id))));
    const { events } = await readAfter(database.sql, tenant, { after: 0, limit: 10 });
    expect(events).toMatchObject([
      { kind: 'wallet.changed', snapshot: { merchant_pending: 30, acquirer: -30, merchant_balance: 0 } },
    ]);
  });

  test('A commit writes the records, tasks and events of its outbox with the events, or nothing at all', async () => {
    const tenant = await openAccount(database);
    const seen: number[] = [];
    const appended: StoredEvent[] = [];
    const posting = createCommitter({
      database,
      clock,
      outbox: async (trx, [own], now) => {
        const { events } = own!;
        seen.push(...events.map(({ version }) => version));
        await counters.saveEach(trx, recordsOf(tenant, [{ key: 'outbox', value: events.length }]));
        const tasks = [{ kind: 'outbox', key: String(events[0]!.version), at: now }];
        return [{ tenant, tasks, events: [announced(100), announced(101)] }];
      },
      onCommit: ([own]) => void appended.push(...own!.events),
    });
    await posting.change(add(tenant, 'announced', 1));
    expect(seen).toEqual([1]);
    // The events continue the version before them, in the log as for followers, under one mark.
    const { rows } = await sql<{ version: number; mark: number }>`
      select version, mark from event where account_id = ${tenant.accountId} order by version`.execute(
      database.sql,
    );
    expect(rows.map(({ version }) => version)).toEqual([1, 2, 3]);
    expect(appended.map(({ version, mark }) => ({ version, mark }))).toEqual(rows);
    expect(new Set(rows.map(({ mark }) => mark)).size).toBe(1);
    expect(await counted(database, tenant, 'outbox')).toBe(1);
    const tasks = await database.sql
      .selectFrom('task')
      .select(['kind', 'key'])
      .where('account_id', '=', tenant.accountId)
      .execute();
    expect(tasks).toEqual([{ kind: 'outbox', key: '1' }]);

    const failing = createCommitter({
      database,
      clock,
      outbox: () => Promise.reject(new Error('the outbox is full')),
      onCommit: () => undefined,
    });
    await expect(failing.change(add(tenant, 'unannounced', 1))).rejects.toThrow('the outbox is full');
    expect(await readHead(database.sql, tenant)).toBe(3);
    expect(await counted(database, tenant, 'unannounced')).toBeUndefined();
  });

  test('A failed statement is reported to its own caller, and the other commands of the group are committed', async () => {
    const tenant = await openAccount(database);
    const results = await grouped(tenant, () => [
      committer.change(add(tenant, 'alone', 1)),
      // The row of this command breaks a constraint of the table.
      committer.change(add(tenant, 'alone-wrong', -1)),
      committer.change(add(tenant, 'alone', 2)),
    ]);
    expect(results[0]).toEqual({ status: 'fulfilled', value: 1 });
    expect(results[1]).toMatchObject({ status: 'rejected', reason: { constraint: 'counter_value_check' } });
    expect(results[2]).toEqual({ status: 'fulfilled', value: 3 });
    // The groups: all three, two of them, each of these, and the third.
    expect(groups).toBe(1 + 1 + 2 + 1);
    expect(await readHead(database.sql, tenant)).toBe(2);
    expect(await counted(database, tenant, 'alone')).toBe(3);
  });

  test('A commit finds the command whose statement fails among many in a few transactions', async () => {
    const tenant = await openAccount(database);
    const results = await grouped(tenant, () =>
      Array.from({ length: 64 }, (_, place) =>
        committer.change(place === 40 ? add(tenant, 'among-wrong', -1) : add(tenant, 'among', 1)),
      ),
    );
    expect(results.flatMap(({ status }, place) => (status === 'rejected' ? [place] : []))).toEqual([40]);
    expect(await counted(database, tenant, 'among')).toBe(63);
    // Each of the six halvings takes two transactions.
    expect(groups).toBe(1 + 6 * 2);
  });

  test('A commit without a connection is tried once for all its commands and for those that wait', async () => {
    let asked = 0;
    const away = createCommitter({
      clock,
      onCommit: committed,
      database: {
        ...database,
        async transaction() {
          asked += 1;
          await new Promise((resolve) => setImmediate(resolve));
          throw new NoConnection('away');
        },
      },
    });
    const tenant = await openAccount(database);
    const alone = away.change(add(tenant, 'away', 1));
    const group = Array.from({ length: 64 }, () => away.change(add(tenant, 'away', 1)));
    for (const result of await Promise.allSettled([alone, ...group]))
      expect(result).toMatchObject({ status: 'rejected', reason: { name: 'NoConnection' } });
    expect(asked).toBe(1);
  });

  test('A commit whose connection is lost is not retried, and the commands that wait are committed', async () => {
    const sizes: number[] = [];
    const lossy = createCommitter({
      clock,
      onCommit: committed,
      onGroup: ({ commands }) => sizes.push(commands),
      database: {
        ...database,
        async transaction(work) {
          return database.transaction(async (sql) => {
            const result = await work(sql);
            if (sizes.length === 1 && !hasLost) {
              hasLost = true;
              throw new StatementInterrupted('the connection gave no answer');
            }
            return result;
          });
        },
      },
    });
    let hasLost = false;
    const tenant = await openAccount(database);
    const alone = lossy.change(add(tenant, 'lossy', 1));
    const group = Array.from({ length: 64 }, () => lossy.change(add(tenant, 'lossy', 1)));
    const behind = Array.from({ length: 3 }, () => lossy.change(add(tenant, 'lossy', 1)));
    expect(await alone).toBe(1);
    for (const result of await Promise.allSettled(group))
      expect(result).toMatchObject({ status: 'rejected', reason: { name: 'StatementInterrupted' } });
    expect(await Promise.all(behind)).toEqual([2, 3, 4]);
    expect(sizes).toEqual([1, 3]);
  });

  test('A commit takes each command alone when a decision has a fault or would break the ledger', async () => {
    const tenant = await openAccount(database);
    const results = await grouped(tenant, () => [
      committer.change(add(tenant, 'faulty', 1)),
      committer.change<number>({
        ...add(tenant, 'faulty', 1),
        decide: () => fail(new TypeError('an internal fault')),
      }),
      committer.change<number>({
        ...add(tenant, 'faulty', 1),
        decide: () => ({
          outcome: 0,
          writes: {
            transactions: [
              ledgerTransaction('overdrawn', [{ from: 'merchant_balance', to: 'acquirer', amount: 1 }]),
            ],
          },
        }),
      }),
      committer.change(add(tenant, 'faulty', 1)),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { message: 'an internal fault' } });
    expect(results[2]).toMatchObject({ reason: { message: 'overdrawn would bring merchant_balance to -1' } });
    expect(await counted(database, tenant, 'faulty')).toBe(2);
  });

  test('A commit takes each command alone when one cannot read, and no read outlives its transaction', async () => {
    const tenant = await openAccount(database);
    const late: string[] = [];
    const spied: Collection<Counter> = {
      ...counters,
      loadEach(db, keys) {
        late.push(...keys.map(({ key }) => key));
        return counters.loadEach(db, keys);
      },
    };
    const broken: Collection<Counter> = {
      ...counters,
      loadEach: (db) => sql<Counter>`select 1 / 0`.execute(db) as never,
    };
    const slow = deferred();
    const outlived = deferred<unknown>();
    const results = await grouped(tenant, () => [
      committer.change({ ...add(tenant, 'read', 1), read: (reader) => reader.load(broken, 'x') }),
      committer.change({
        ...add(tenant, 'read', 1),
        read: (reader) =>
          Promise.all([
            reader.load(broken, 'y'),
            slow.promise.then(() => reader.load(spied, 'too late')).catch(outlived.resolve),
          ]),
      }),
      committer.change(add(tenant, 'read', 1)),
    ]);
    slow.resolve();
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    expect(results[0]).toMatchObject({ reason: { code: '22012' } });
    expect(await outlived.promise).toMatchObject({ message: 'counter was read too late' });
    expect(late).toEqual([]);
  });

  test('A decision sees the balances that earlier decisions of its group have changed', async () => {
    const tenant = await openAccount(database);
    const sell: Command<number> = {
      tenant,
      read: async () => undefined,
      decide: ({ balances }) => ({
        outcome: balances.merchant_pending,
        writes: {
          transactions: [
            ledgerTransaction(`sale:${balances.merchant_pending}`, [
              { from: 'acquirer', to: 'merchant_pending', amount: 10 },
            ]),
          ],
        },
      }),
    };
    const results = await grouped(tenant, () =>
      [sell, sell, sell].map((command) => committer.change(command)),
    );
    expect(results.map((result) => result.status === 'fulfilled' && result.value)).toEqual([0, 10, 20]);
    expect(groups).toBe(1);
    expect((await balancesOf(database.sql, tenant)).merchant_pending).toBe(30);
  });

  describe('of many tenants', () => {
    let tenants: Tenant[];
    beforeAll(async () => {
      tenants = await openAccounts(database, 63);
    });
    /** A tenant whose first command is not in a group with the others. */
    const first = () => openAccount(database);

    test('Commands of many tenants share one transaction, and each tenant has its own log, balances and records', async () => {
      const [one, other] = [tenants[0]!, { ...tenants[0]!, environment: 'sandbox' as const }];
      committed.mockClear();
      const commands = [one, tenants[1]!, other, one].map((tenant, place) => ({
        ...add(tenant, 'same', 10 ** place),
        decide(state: State) {
          const { outcome, writes } = add(tenant, 'same', 10 ** place).decide(state);
          const sale = ledgerTransaction(`sale:${place}`, [
            { from: 'acquirer', to: 'merchant_pending', amount: 10 ** place },
          ]);
          return {
            outcome: [outcome, state.balances.merchant_pending],
            writes: { ...writes, transactions: [sale] },
          };
        },
      }));
      const results = await grouped(await first(), () =>
        commands.map((command) => committer.change(command)),
      );
      expect(groups).toBe(1);
      expect(results.map((result) => result.status === 'fulfilled' && result.value)).toEqual([
        [1, 0],
        [10, 0],
        [100, 0],
        [1001, 1],
      ]);
      for (const [tenant, sum, count] of [
        [one, 1001, 3],
        [tenants[1]!, 10, 2],
        [other, 100, 2],
      ] as const) {
        expect(await counted(database, tenant, 'same')).toBe(sum);
        expect((await balancesOf(database.sql, tenant)).merchant_pending).toBe(sum);
        const { events } = await readAfter(database.sql, tenant, { after: 0, limit: 10 });
        expect(events.map(({ version }) => version)).toEqual(
          Array.from({ length: count }, (_, nth) => nth + 1),
        );
        expect(events.at(-1)).toMatchObject({
          kind: 'wallet.changed',
          snapshot: { merchant_pending: sum },
        });
      }
      // The first command has written nothing: one call for the whole group.
      expect(committed.mock.calls.map(([all]) => all.length)).toEqual([3]);
    });

    test('A failed statement is reported to the tenant whose command it is, and those of 62 others are committed', async () => {
      const before = await Promise.all(tenants.map((tenant) => readHead(database.sql, tenant)));
      const results = await grouped(await first(), () =>
        tenants.map((tenant, place) => committer.change(add(tenant, 'each', place === 40 ? -1 : 1))),
      );
      expect(results.flatMap(({ status }, place) => (status === 'rejected' ? [place] : []))).toEqual([40]);
      expect(results[40]).toMatchObject({ reason: { constraint: 'counter_value_check' } });
      const after = await Promise.all(tenants.map((tenant) => readHead(database.sql, tenant)));
      expect(after.map((head, place) => head - before[place]!)).toEqual(
        tenants.map((_, place) => (place === 40 ? 0 : 1)),
      );
    });

    test('A commit with an unknown outcome is unknown to the callers of each tenant, and is done for all of them or none', async () => {
      for (const isDone of [true, false]) {
        let attempts = 0;
        const begun = deferred();
        const lost = createCommitter({
          database: {
            ...database,
            lanes: 1,
            async transaction(work) {
              await begun.promise;
              attempts += 1;
              if (attempts === 1) return database.transaction(work);
              const failure = new CommitOutcomeUnknown('The connection was lost during COMMIT');
              if (isDone) await database.transaction(work);
              else
                await database
                  .transaction(async (sql) => {
                    await work(sql);
                    throw failure;
                  })
                  .catch(() => undefined);
              throw failure;
            },
          },
          clock,
          onCommit: () => undefined,
        });
        const key = `unknown ${isDone}`;
        const head = lost.change(add(tenants[0]!, key, 1));
        const group = Promise.allSettled(
          tenants.slice(1, 4).map((tenant) => lost.change(add(tenant, key, 1))),
        );
        begun.resolve();
        expect(await head).toBe(1);
        for (const result of await group)
          expect(result).toMatchObject({ status: 'rejected', reason: expect.any(CommitOutcomeUnknown) });
        const found = await Promise.all(tenants.slice(1, 4).map((tenant) => counted(database, tenant, key)));
        expect(found).toEqual(Array.from({ length: 3 }, () => (isDone ? 1 : undefined)));
        expect(attempts).toBe(2);
      }
    });

    test('A further transaction begins only if a whole group waits or the one under way is late, and has no tenant of that', async () => {
      const release = deferred();
      const begun: number[] = [];
      const clock = createManualClock();
      const severalLanes = createCommitter({
        database: {
          ...database,
          lanes: 3,
          async transaction(work) {
            begun.push(begun.length);
            await release.promise;
            return database.transaction(work);
          },
        },
        clock,
        onCommit: () => undefined,
      });
      const [one, other] = [tenants[0]!, tenants[1]!];
      const change = (tenant: Tenant) => severalLanes.change(add(tenant, 'lanes', 1));
      // A whole group waits, but all of it is of the tenant that is under way.
      const changes = Array.from({ length: 65 }, () => change(one));
      const others = Array.from({ length: 63 }, (_, nth) => change(tenants[1 + (nth % 50)]!));
      expect(begun).toHaveLength(1);
      others.push(change(other));
      expect(begun).toHaveLength(2);
      clock.advance(249);
      const late = change(tenants[0]!);
      expect(begun).toHaveLength(2);
      clock.advance(1);
      const later = await first();
      others.push(change(later));
      expect(begun).toHaveLength(3);
      release.resolve();
      expect(await Promise.all([...changes, late])).toEqual(Array.from({ length: 66 }, (_, nth) => nth + 1));
      expect(await Promise.all(others)).toHaveLength(65);
      await severalLanes.idle();
    });

    test('A commit writes the webhooks that the outbox adds to the log of their own tenant', async () => {
      const [one, other] = [await first(), await first()];
      const posting = createCommitter({
        database: { ...database, lanes: 1 },
        clock,
        // Only one of the two has something to add.
        outbox: async (_, all, now) =>
          all
            .filter(({ tenant }) => tenant.accountId === other.accountId)
            .map(({ tenant, events }) => ({
              tenant,
              tasks: [{ kind: 'outbox', key: `${events.length}`, at: now }],
              events: [announced(7)],
            })),
        onCommit: () => undefined,
      });
      await Promise.all(
        [first(), one, other].map(async (tenant) => posting.change(add(await tenant, 'posted', 1))),
      );
      expect(await readHead(database.sql, one)).toBe(1);
      expect(await readHead(database.sql, other)).toBe(2);
      const tasks = await database.sql
        .selectFrom('task')
        .select('account_id')
        .where('kind', '=', 'outbox')
        .execute();
      expect(tasks.filter(({ account_id: id }) => id === one.accountId || id === other.accountId)).toEqual([
        { account_id: other.accountId },
      ]);
    });
  });

  describe('with a claimed task', () => {
    const until = (ms: number) => new Date(clock.ms() + ms);
    async function claimed(tenant: Tenant, key: string): Promise<Task> {
      await scheduleTasks(database.sql, tenant, [{ kind: 'ends', key, at: clock.now() }]);
      const tasks = await claimTasks(database.sql, {
        ...{ now: clock.now(), leasedUntil: until(30_000), limit: 100, kinds: ['ends'] },
      });
      return tasks.find((task) => task.key === key && task.accountId === tenant.accountId)!;
    }
    async function stored(tenant: Tenant) {
      return database.sql
        .selectFrom('task')
        .select(['key', 'lease', 'due_at'])
        .where('account_id', '=', tenant.accountId)
        .orderBy('key')
        .execute();
    }
    const ending = (task: Task, key: string, more: Writes = {}): Command<number> => {
      const command = add({ accountId: task.accountId, environment: task.environment }, key, 1);
      return {
        ...command,
        decide(state) {
          const { outcome, writes } = command.decide(state);
          return { outcome, writes: { ...writes, ...more, done: [task] } };
        },
      };
    };

    test('A claimed task ends with the change that it was for, or is due at its next instant', async () => {
      const tenant = await openAccount(database);
      const [once, again] = [await claimed(tenant, 'once'), await claimed(tenant, 'scheduled again')];
      await scheduleTasks(database.sql, tenant, [{ kind: 'ends', key: again.key, at: until(1_000) }]);
      committed.mockClear();
      expect(await committer.change(ending(once, 'ended'))).toBe(1);
      expect(await committer.change(ending(again, 'ended'))).toBe(2);
      expect(await stored(tenant)).toEqual([{ key: again.key, lease: null, due_at: until(1_000) }]);
      expect(
        committed.mock.calls.flatMap(([all]) => all.flatMap((each: CommittedOfTenant) => each.ended)),
      ).toEqual([
        { task: once, isScheduledAgain: false },
        { task: again, isScheduledAgain: true },
      ]);
    });

    test('A change that ends a task and schedules it for later keeps it, without a holder', async () => {
      const tenant = await openAccount(database);
      const task = await claimed(tenant, 'later');
      const tasks = [{ kind: 'ends', key: 'later', at: until(5_000) }];
      await committer.change(ending(task, 'later', { tasks }));
      expect(await stored(tenant)).toEqual([{ key: 'later', lease: null, due_at: until(5_000) }]);
    });

    test('A change whose lease has ended is refused as a whole, and the others of its group are done', async () => {
      const [tenant, other] = [await openAccount(database), await openAccount(database)];
      const [lost, kept] = [await claimed(tenant, 'lost'), await claimed(other, 'kept')];
      // Another instance has the task by now.
      await sql`update task set lease = gen_random_uuid() where lease = ${lost.lease}::uuid`.execute(
        database.sql,
      );
      const results = await grouped(await openAccount(database), () => [
        committer.change(add(tenant, 'beside', 1)),
        committer.change(ending(lost, 'lost')),
        committer.change(ending(kept, 'kept')),
      ]);
      expect(results).toEqual([
        { status: 'fulfilled', value: 1 },
        { status: 'rejected', reason: expect.any(LeaseLost) },
        { status: 'fulfilled', value: 1 },
      ]);
      expect(await counted(database, tenant, 'lost')).toBeUndefined();
      expect(await readHead(database.sql, tenant)).toBe(1);
      expect(await stored(tenant)).toMatchObject([{ key: 'lost', lease: expect.any(String) }]);
      expect(await stored(other)).toEqual([]);
    });
  });

  test('A refused command notifies no one', async () => {
    const tenant = await openAccount(database);
    committed.mockClear();
    await expect(
      committer.change({ tenant, read: async () => undefined, decide: () => fail(new NotFoundError('no')) }),
    ).rejects.toThrow('no');
    expect(committed).not.toHaveBeenCalled();
    await committer.change(add(tenant, 'notified', 1));
    expect(committed).toHaveBeenCalledExactlyOnceWith([
      {
        tenant,
        events: [expect.objectContaining({ version: 1, occurredAt: clock.now() })],
        previousMark: 0,
        tasks: [],
        ended: [],
      },
    ]);
  });

  test('A decision about a record that was not read is refused', async () => {
    const tenant = await openAccount(database);
    await expect(
      committer.change({ ...add(tenant, 'unread', 1), read: async () => undefined }),
    ).rejects.toThrow('counter unread was not read before the decision');
  });

  test('The committer is idle when every command has its answer', async () => {
    const tenant = await openAccount(database);
    const answered: number[] = [];
    for (const by of [1, 2, 3])
      committer.change(add(tenant, 'idle', by)).then((value) => answered.push(value), answered.push);
    await committer.idle();
    expect(answered).toEqual([1, 3, 6]);
  });

  describe('whose outcome is unknown', () => {
    test('A commit with an unknown outcome is unknown to every caller, and is not retried', async () => {
      const tenant = await openAccount(database);
      let attempts = 0;
      const first = deferred();
      const lost = createCommitter({
        database: {
          ...database,
          async transaction(work) {
            await first.promise;
            const result = await database.transaction(work);
            attempts += 1;
            if (attempts === 2) throw new CommitOutcomeUnknown('The connection was lost during COMMIT');
            return result;
          },
        },
        clock,
        onCommit: () => undefined,
      });
      const callers = Promise.allSettled([0, 1, 2, 3].map(() => lost.change(add(tenant, 'unknown', 1))));
      first.resolve();
      expect(
        (await callers).map((result) => (result.status === 'fulfilled' ? result.value : result.reason)),
      ).toEqual([
        1,
        expect.any(CommitOutcomeUnknown),
        expect.any(CommitOutcomeUnknown),
        expect.any(CommitOutcomeUnknown),
      ]);
      // The command had been committed after all, once.
      expect(await counted(database, tenant, 'unknown')).toBe(4);
      expect(await lost.change(add(tenant, 'unknown', 1))).toBe(5);
    });
  });

  describe('with an idempotency key', () => {
    test('An idempotency key has one effect, although 64 callers use it at once', async () => {
      const tenant = await openAccount(database);
      const outcomes = await Promise.all(
        Array.from({ length: 64 }, (_, caller) =>
          committer.change(addOnce(tenant, 'once', { by: 5 }, `res-${caller}`)),
        ),
      );
      expect(new Set(outcomes.map(({ resourceId }) => resourceId)).size).toBe(1);
      expect(outcomes.filter(({ replay }) => !replay)).toHaveLength(1);
      expect(await counted(database, tenant, 'once')).toBe(5);
      expect(await readHead(database.sql, tenant)).toBe(1);
    });

    test('An idempotency key with another input is a conflict', async () => {
      const tenant = await openAccount(database);
      await committer.change(addOnce(tenant, 'again', { by: 5, note: null }, 'first'));
      await expect(committer.change(addOnce(tenant, 'again', { by: 6 }, 'second'))).rejects.toBeInstanceOf(
        IdempotencyError,
      );
      expect(await committer.change(addOnce(tenant, 'again', { by: 5 }, 'third'))).toEqual({
        resourceId: 'first',
        replay: true,
      });
    });

    test('An idempotency key of a refused command is free again', async () => {
      const tenant = await openAccount(database);
      const command = addOnce(tenant, 'freed', { by: 1 }, 'kept');
      await expect(
        committer.change({
          ...command,
          decide(state) {
            command.decide(state);
            return fail(new NotFoundError('refused'));
          },
        }),
      ).rejects.toThrow('refused');
      expect(await committer.change(command)).toEqual({ resourceId: 'kept', replay: false });
    });

    test('An idempotency key is scoped to its account and environment', async () => {
      const tenant = await openAccount(database);
      const sandbox: Tenant = { ...tenant, environment: 'sandbox' };
      await committer.change(addOnce(tenant, 'scoped', { by: 1 }, 'live'));
      expect(await committer.change(addOnce(sandbox, 'scoped', { by: 2 }, 'sandbox'))).toEqual({
        resourceId: 'sandbox',
        replay: false,
      });
    });
  });
});

describe('two instances on one PostgreSQL', () => {
  test('Two instances number every event in order without a gap, and a reader that follows misses none', async () => {
    const databaseUrl = await createPostgresDatabase();
    const clock = createManualClock();
    const [one, two] = await Promise.all([0, 1].map(() => connectTo(databaseUrl, clock)));
    await createCounters(one!);
    const tenant = await openAccount(one!);
    const committers = [one!, two!].map((database) =>
      createCommitter({ database, clock, onCommit: () => undefined }),
    );
    const [writers, each] = [12, 25];

    let writing = true;
    const seen: { version: number; value: number }[] = [];
    const reader = (async () => {
      for (let last = 0, drained = false; !drained; ) {
        const finished = !writing;
        const { events, through } = await readAfter(two!.sql, tenant, { after: last, limit: 40 });
        seen.push(...events.map(({ version, resourceId }) => ({ version, value: Number(resourceId) })));
        last = through;
        drained = finished && events.length === 0;
      }
    })();
    await Promise.all(
      Array.from({ length: writers }, async (_, writer) => {
        for (let turn = 0; turn < each; turn += 1)
          await committers[writer % 2]!.change(add(tenant, 'both', 1));
      }),
    );
    writing = false;
    await reader;

    const total = Array.from({ length: writers * each }, (_, index) => index + 1);
    expect(seen).toEqual(total.map((count) => ({ version: count, value: count })));
    expect(await counted(one!, tenant, 'both')).toBe(writers * each);
    await Promise.all([one!.close(), two!.close()]);
  });

  test('A tenant that another instance has locked waits alone, and its commands keep their order', async () => {
    const databaseUrl = await createPostgresDatabase();
    const clock = createManualClock();
    const [one, two] = await Promise.all([0, 1].map(() => connectTo(databaseUrl, clock)));
    await createCounters(one!);
    const [held, free, begin] = (await openAccounts(one!, 3)) as [Tenant, Tenant, Tenant];
    const committer = createCommitter({ database: { ...one!, lanes: 1 }, clock, onCommit: () => undefined });
    await Promise.all([held, free].map((tenant) => committer.change(add(tenant, 'n', 1))));

    const [isHeld, release] = [deferred(), deferred()];
    const holding = two!.transaction(async (trx) => {
      expect(await lockStreams(trx, [held])).toEqual(new Map([[tenantKey(held), 1]]));
      isHeld.resolve();
      await release.promise;
    });
    await isHeld.promise;
    const order: string[] = [];
    const change = (tenant: Tenant, name: string) =>
      committer.change(add(tenant, 'n', 1)).then((value) => order.push(`${name} ${value}`));
    const first = change(begin, 'begin');
    // More commands than a group has of one tenant, and one whose statement fails: the group is retried by halves.
    const waiting = Array.from({ length: 20 }, (_, nth) => change(held, `held ${nth}`));
    const wrong = committer.change(add(free, 'wrong', -1)).catch(() => undefined);
    await Promise.all([first, change(free, 'free'), change(free, 'free'), wrong]);
    expect(order.sort()).toEqual(['begin 1', 'free 2', 'free 3']);
    const later = change(held, 'held 20');
    await change(free, 'free');
    expect(order).toHaveLength(4);
    release.resolve();
    await Promise.all([...waiting, later, holding]);
    expect(order.slice(4)).toEqual(Array.from({ length: 21 }, (_, nth) => `held ${nth} ${nth + 2}`));
    // The lane of its own is given up: the tenant shares transactions again.
    await committer.idle();
    expect(await committer.change(add(held, 'n', 1))).toBe(23);
    await Promise.all([one!.close(), two!.close()]);
  });

  test('Two instances with random groups over the same 64 tenants never wait for each other in a circle', async () => {
    const databaseUrl = await createPostgresDatabase();
    const clock = createManualClock();
    const [one, two] = await Promise.all([0, 1].map(() => connectTo(databaseUrl, clock)));
    await createCounters(one!);
    await sql`
      do $$ begin execute format('alter database %I set deadlock_timeout to 50', current_database()); end $$
    `.execute(one!.sql);
    // Sessions that begin now have the setting.
    const databases = await Promise.all([0, 1].map(() => connectTo(databaseUrl, clock)));
    const tenants = await openAccounts(one!, 64);
    const seed = Math.floor(Math.random() * 2 ** 31);
    const random = fc.sample(fc.shuffledSubarray(tenants, { minLength: 8 }), {
      numRuns: scale('GROUPS_OF_TENANTS'),
      seed,
    });
    const sent = new Map<string, number>();
    const committers = databases.map((database) =>
      createCommitter({ database: { ...database, lanes: 2 }, clock, onCommit: () => undefined }),
    );
    // The first commands open the logs, on both instances at once.
    const queues = [0, 1].map((which) => random.filter((_, nth) => nth % 2 === which));
    await Promise.all(
      committers.map(async (committer, which) => {
        for (const group of queues[which]!)
          await Promise.all(
            group.map((tenant) => {
              sent.set(tenantKey(tenant), (sent.get(tenantKey(tenant)) ?? 0) + 1);
              return committer.change(add(tenant, 'n', 1));
            }),
          );
      }),
    );
    await Promise.all([...databases, two!].map((database) => database.close()));
    for (const tenant of tenants)
      expect([seed, (await counted(one!, tenant, 'n')) ?? 0]).toEqual([
        seed,
        sent.get(tenantKey(tenant)) ?? 0,
      ]);
    const { rows } = await sql<{ deadlocks: number }>`
      select deadlocks from pg_stat_database where datname = current_database()`.execute(one!.sql);
    expect([seed, rows]).toEqual([seed, [{ deadlocks: 0 }]]);
    await one!.close();
  });

  test('Two instances give one effect to a key that 64 callers of both use at once', async () => {
    const databaseUrl = await createPostgresDatabase();
    const clock = createManualClock();
    const databases = await Promise.all([0, 1].map(() => connectTo(databaseUrl, clock)));
    await createCounters(databases[0]!);
    const tenant = await openAccount(databases[0]!);
    const committers = databases.map((database) =>
      createCommitter({ database, clock, onCommit: () => undefined }),
    );
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, (_, caller) =>
        committers[caller % 2]!.change(addOnce(tenant, 'key', { by: 7 }, `res-${caller}`)),
      ),
    );
    expect(new Set(outcomes.map(({ resourceId }) => resourceId)).size).toBe(1);
    expect(outcomes.filter(({ replay }) => !replay)).toHaveLength(1);
    expect(await counted(databases[0]!, tenant, 'key')).toBe(7);
    await Promise.all(databases.map((database) => database.close()));
  });
});

function openAccounts(database: Database, count: number): Promise<Tenant[]> {
  return Promise.all(Array.from({ length: count }, () => openAccount(database)));
}

async function createCounters(database: Database): Promise<void> {
  await sql`
    create table counter (
      account_id text, environment text, key text, value bigint not null check (value >= 0),
      primary key (account_id, environment, key)
    )`.execute(database.sql);
}

async function counted(database: Database, tenant: Tenant, key: string): Promise<number | undefined> {
  const [found] = await loadOf(counters.loadEach, database.sql, tenant, [key]);
  return found?.value;
}

function fail(error: Error): never {
  throw error;
}

/** Adds to a counter, announces the sum, and returns it. */
function add(tenant: Tenant, key: string, by: number): Command<number> {
  return {
    tenant,
    read: (reader) => reader.load(counters, key),
    decide: (state) => {
      const value = (state.get(counters, key)?.value ?? 0) + by;
      return {
        outcome: value,
        writes: { records: [put(counters, { key, value })], events: [announced(value)] },
      };
    },
  };
}

/** Adds to a counter once for each idempotency key. */
function addOnce(
  tenant: Tenant,
  key: string,
  input: { by: number; note?: null },
  resourceId: string,
): Command<{ resourceId: string; replay: boolean }> {
  return {
    tenant,
    read: (reader) =>
      Promise.all([reader.load(idempotency, idempotencyKeyOf('add', key)), reader.load(counters, key)]),
    decide(state: State): { outcome: { resourceId: string; replay: boolean }; writes?: Writes } {
      const inputHash = hashInput(input);
      const before = replayed(state, 'add', key, inputHash);
      if (before !== null) return { outcome: { resourceId: before, replay: true } };
      const value = (state.get(counters, key)?.value ?? 0) + input.by;
      return {
        outcome: { resourceId, replay: false },
        writes: {
          records: [
            put(counters, { key, value }),
            remember({ operation: 'add', key, inputHash, resourceId }),
          ],
          events: [announced(value)],
        },
      };
    },
  };
}

function announced(value: number): NewEvent {
  return {
    kind: 'credential.revoked',
    resource: 'credential',
    resourceId: String(value),
    previousStatus: null,
    snapshot: {},
  };
}
