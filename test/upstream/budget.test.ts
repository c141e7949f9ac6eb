import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createOffsetClock } from '../../server/src/kernel/clock.ts';
import { RateLimitError } from '../../server/src/kernel/errors.ts';
import type { BudgetSubject } from '../../server/src/kernel/requester.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { type Budget, createBudget, type Slot } from '../../server/src/upstream/budget/budget.ts';
import { UPSTREAM_PRIORITIES, type UpstreamPriority } from '../../server/src/upstream/upstream.ts';
import { createManualClock, type ManualClock } from '../support/clock.ts';
import { describeOnDatabase } from '../support/database.ts';
import { firstInSample } from '../support/scale.ts';
import { failStatements } from '../support/statements.ts';

type Options = Partial<Parameters<typeof createBudget>[0]>;

describeOnDatabase('the budget', (open) => {
  let database: Database;
  let accounts = 0;
  beforeAll(async () => {
    database = await open();
  });

  /** Starts `count` instances of one account, each on the same clock. */
  function instances(count: number, options: Options & { clock?: ManualClock } = {}) {
    const { clock = createManualClock() } = options;
    const accountKey = `account ${accounts++}`;
    const faults: unknown[] = [];
    const create = (own: Options = {}) => {
      const budget = createBudget({
        database,
        clock,
        accountKey,
        skewMs: 0,
        onFault: (fault) => faults.push(fault),
        ...options,
        ...own,
      });
      onTestFinished(() => budget.close());
      return budget;
    };
    return { clock, faults, create, budgets: Array.from({ length: count }, () => create()) };
  }
  const one = (options?: Options) => {
    const { budgets, ...rest } = instances(1, options as never);
    return { budget: budgets[0]!, ...rest };
  };
  const take = (budget: Budget, of: UpstreamPriority, waitMs = 0, subject: BudgetSubject | null = null) =>
    budget.take({ priority: of, waitMs, subject });
  /** Takes slots for payers until one is refused. Returns the number of slots. */
  async function takeAll(
    budget: Budget,
    subject: BudgetSubject,
    of: UpstreamPriority = 'payer',
  ): Promise<number> {
    for (let count = 0; ; count += 1)
      if ((await refusedFor(take(budget, of, 0, subject))) !== null) return count;
  }
  async function takeMany(budget: Budget, count: number, of: UpstreamPriority): Promise<Slot[]> {
    return Promise.all(Array.from({ length: count }, () => take(budget, of)));
  }
  const refusedFor = (taken: Promise<Slot>) =>
    taken.then(
      () => null,
      (error: unknown) => (error as RateLimitError).retryAfterSeconds,
    );

  test('the budget gives out its limit, and then says at once for how long nothing is left', async () => {
    const { budget, clock } = one();
    await takeMany(budget, 120, 'money');
    clock.advance(1_000);
    expect(await refusedFor(take(budget, 'money', 10_000))).toBe(60);
  });

  test('a slot is held from its grant until a window after its end', async () => {
    const { budgets, clock } = instances(2, { limit: 2 });
    const [budget, other] = budgets as [Budget, Budget];
    const [first, second] = await takeMany(budget, 2, 'money');
    clock.advance(3_000);
    first!.end('answered');
    clock.advance(4_000);
    second!.end('answered');
    await idle(budget);
    expect(await refusedFor(take(other, 'money'))).toBe(56);
    clock.advance(55_999);
    expect(await refusedFor(take(other, 'money'))).toBe(1);
    clock.advance(1);
    (await take(other, 'money')).end('answered');
    expect(await refusedFor(take(budget, 'money'))).toBe(4);
    clock.advance(4_000);
    await take(budget, 'money');
  });

  test('the slot of a broken-off request is held two seconds longer, and that of one that was never sent is free at once', async () => {
    const { budget, clock } = one({ limit: 1 });
    (await take(budget, 'money')).end('not_sent');
    await idle(budget);
    (await take(budget, 'money')).end('broken_off');
    await idle(budget);
    clock.advance(61_999);
    expect(await refusedFor(take(budget, 'money'))).toBe(1);
    clock.advance(1);
    await take(budget, 'money');
  });

  test('the slot of an instance that died is held for as long as its request may yet arrive, and a window', async () => {
    const { create, clock } = instances(0, { limit: 1, longestMs: 20_000 });
    await take(create(), 'money');
    const survivor = create();
    clock.advance(20_000 + 2_000 + 60_000 - 1);
    expect(await refusedFor(take(survivor, 'money'))).not.toBeNull();
    clock.advance(1);
    await take(survivor, 'money');
  });

  test('a slot whose end cannot be written stays held, and the fault is reported', async () => {
    const broken = failStatements(database, (statement) => statement.includes('update upstream_slot'));
    const { budget, clock, faults } = one({ limit: 1, database: broken });
    (await take(budget, 'money')).end('answered');
    await idle(budget);
    expect(faults).toHaveLength(1);
    clock.advance(60_000);
    expect(await refusedFor(take(budget, 'money'))).not.toBeNull();
    clock.advance(22_000);
    await take(budget, 'money');
  });

  test('the clock that is ahead counts: a slow one frees nothing early', async () => {
    const { create, clock } = instances(0, { limit: 1, skewMs: 500 });
    const slow = { ...clock, now: () => new Date(clock.ms() - 500), ms: () => clock.ms() - 500 };
    const [ahead, behind] = [create(), create({ clock: slow })];
    (await take(behind, 'money')).end('answered');
    await idle(behind);
    clock.advance(59_999);
    expect(await refusedFor(take(ahead, 'money'))).toBe(1);
    clock.advance(1);
    await take(ahead, 'money');
    // By the slow clock its window has ended already; by the clocks of the others it has not.
    expect(await refusedFor(take(behind, 'money'))).not.toBeNull();
  });

  test('a clock that is set back by an hour blocks nothing, and no slot is given out that may be held', async () => {
    const late = createManualClock(new Date('2026-03-02T13:00:00.000Z'));
    const clock = createManualClock(new Date('2026-03-02T12:00:00.000Z'));
    const { create } = instances(0, { limit: 2, longestMs: 20_000 });
    const before = create({ clock: late });
    await take(before, 'money');
    await before.block(60_000);
    const after = create({ clock });
    await take(after, 'money');
    expect(await refusedFor(take(after, 'money'))).not.toBeNull();
    clock.advance(82_000);
    await takeMany(after, 2, 'money');
  });

  test('a block counts from now, also where an earlier one was set before the clock was set back by an hour', async () => {
    const late = createManualClock(new Date('2026-03-02T13:00:00.000Z'));
    const clock = createManualClock(new Date('2026-03-02T12:00:00.000Z'));
    const { create } = instances(0, { limit: 2 });
    await create({ clock: late }).block(30_000);
    const after = create({ clock });
    await after.block(20_000);
    expect(after.state().blockedUntil).toEqual(new Date('2026-03-02T12:00:20.000Z'));
    expect(await refusedFor(take(after, 'money'))).toBe(20);
    clock.advance(20_000);
    await take(after, 'money');
  });

  test('a clock that is set back by an hour while nothing is left keeps nobody waiting for that hour', async () => {
    const manual = createManualClock();
    const clock = createOffsetClock(manual);
    clock.setOffset(60 * 60_000);
    const { budget } = one({ clock: clock as never, limit: 2 });
    for (const slot of await takeMany(budget, 2, 'money')) slot.end('answered');
    await budget.idle();
    expect(await refusedFor(take(budget, 'money'))).toBe(60);
    clock.setOffset(0);
    expect(await refusedFor(take(budget, 'money'))).not.toBeNull();
    manual.advance(82_000);
    await takeMany(budget, 2, 'money');
  });

  test('the budget keeps room for the more important: each class fills its share, counting the slots of all', async () => {
    const { budget } = one();
    const shares: [UpstreamPriority, number][] = [
      ['poll', 48],
      ['payer_read', 60],
      ['payer', 84],
      ['lookup', 96],
      ['query', 108],
      ['money', 120],
    ];
    let held = 0;
    for (const [of, share] of shares) {
      const taken = Array.from({ length: 130 }, (_, index) =>
        take(budget, of, 0, { token: `token ${index}`, network: `network ${index}` }).then(
          () => 1,
          () => 0,
        ),
      );
      held += (await Promise.all(taken)).reduce((sum, each) => sum + each, 0 as number);
      expect(held, of).toBe(share);
    }
    expect(budget.state()).toMatchObject({
      limit: 120,
      windowMs: 60_000,
      used: { money: 12, query: 12, money_read: 0, lookup: 12, payer: 24, payer_read: 12, poll: 48 },
      blockedUntil: null,
    });
  });

  test('the payers of one token behind one network have half of the payers’ room, over all instances', async () => {
    const { budgets, clock } = instances(2);
    const stranger = { token: 'token', network: 'network' };
    const slots: Slot[] = [];
    for (let count = 0; count < 42; count += 1) {
      slots.push(await take(budgets[count % 2]!, 'payer', 0, stranger));
      clock.advance(1_000);
      slots.at(-1)!.end('answered');
    }
    await Promise.all(budgets.map(idle));
    expect(await refusedFor(take(budgets[0]!, 'payer', 0, stranger))).toBe(19);
    expect(await refusedFor(take(budgets[0]!, 'payer_read', 0, stranger))).toBe(31);
    await take(budgets[0]!, 'query', 0, stranger);
    clock.advance(19_000);
    await take(budgets[1]!, 'payer', 0, stranger);
  });

  test.each([
    ['tokens', (count: number) => ({ token: `token ${count}`, network: 'network' })],
    ['networks', (count: number) => ({ token: 'token', network: `network ${count}` })],
    [
      'tokens and networks of one block',
      (count: number) => ({ token: `token ${count}`, network: `block/network ${count}` }),
    ],
  ])('a stranger with ever more %s leaves room for the purchases of others', async (_, subjectOf) => {
    const { budget } = one();
    expect(await takeAll(budget, subjectOf(0))).toBe(42);
    for (let count = 1; count < 40; count += 1) await takeAll(budget, subjectOf(count));
    expect(budget.state().used.payer).toBe(72);
    for (let count = 0; count < 12; count += 1)
      await take(budget, 'payer', 0, { token: 'shop', network: `payer ${count}` });
  });

  test('thirty buyers behind three networks, with one token, each have two slots', async () => {
    const { budget } = one();
    for (let buyer = 0; buyer < 30; buyer += 1)
      for (let count = 0; count < 2; count += 1)
        await take(budget, 'payer', 0, { token: 'token', network: `network ${buyer % 3}` });
  });

  test('what this server reads of the merchant’s money gets a slot every three seconds, whatever payers do', async () => {
    const { budget, clock } = one();
    const payers = Array.from({ length: 84 }, (_, index) =>
      take(budget, 'payer', 0, { token: `token ${index}`, network: `network ${index}` }),
    );
    for (const slot of await Promise.all(payers)) slot.end('answered');
    await idle(budget);
    let last = clock.ms();
    for (let step = 0; step < 60; step += 1) {
      clock.advance(1_000);
      const slot = await take(budget, 'money_read').catch(() => null);
      slot?.end('answered');
      await idle(budget);
      if (slot) last = clock.ms();
      expect(clock.ms() - last).toBeLessThan(10_000);
    }
  });

  test('requests wait in the order of their classes, then of their arrival, and are served as slots become free', async () => {
    const { budget, clock } = one({ limit: 10 });
    for (const slot of await takeMany(budget, 10, 'money')) {
      slot.end('answered');
      clock.advance(1_000);
    }
    await idle(budget);
    clock.advance(49_999);
    const served: string[] = [];
    const wait = (name: string, of: UpstreamPriority, waitMs: number) =>
      take(budget, of, waitMs).then(
        () => served.push(name),
        (error: unknown) => served.push(`${name} refused for ${(error as RateLimitError).retryAfterSeconds}`),
      );
    const waits = [
      wait('query', 'query', 5_000),
      wait('poll', 'poll', 5_000),
      wait('money 1', 'money', 5_000),
      wait('money 2', 'money', 5_000),
      wait('hasty money', 'money', 2_000),
    ];
    await waits[1];
    await waits[4];
    // The third request for money waits for the third slot to end. A poll waits for six, because three are reserved.
    expect(served).toEqual(['hasty money refused for 3', 'poll refused for 10']);
    clock.advance(1);
    await waits[2];
    expect(served.slice(2)).toEqual(['money 1']);
    clock.advance(1_000);
    await waits[3];
    clock.advance(2_000);
    await waits[0];
    expect(served.slice(2)).toEqual(['money 1', 'money 2', 'query']);
  });

  test('a request that may not wait is granted a free slot, however long the round before it took', async () => {
    const clock = createManualClock();
    let queued: Promise<Slot> | null = null;
    const slow: Pick<Database, 'sql' | 'transaction'> = {
      sql: database.sql,
      async transaction(work) {
        const result = await database.transaction(work);
        if (queued) return result;
        queued = take(budget, 'lookup');
        clock.advance(5);
        return result;
      },
    };
    const { budget } = one({ clock, database: slow });
    await take(budget, 'money');
    expect(await refusedFor(queued!)).toBeNull();
  });

  test('a waiting request is served as soon as a slot comes back unused', async () => {
    const { budget } = one({ limit: 1, windowMs: 1_000 });
    const slot = await take(budget, 'money');
    const waiting = take(budget, 'money', 5_000);
    slot.end('not_sent');
    await waiting;
  });

  test('in a short window a request waits for others that are still under way', async () => {
    const { budget, clock } = one({ limit: 1, windowMs: 1_000 });
    const slot = await take(budget, 'money');
    const waiting = take(budget, 'money', 5_000);
    clock.advance(500);
    slot.end('answered');
    await idle(budget);
    clock.advance(1_000);
    (await waiting).end('answered');
    await idle(budget);
    expect(await refusedFor(take(budget, 'money', 999))).toBe(1);
  });

  test('no instance sends anything while the service blocks, at most for a window', async () => {
    const { budgets, clock } = instances(2);
    const [budget, other] = budgets as [Budget, Budget];
    await take(other, 'money');
    await budget.block(30_000);
    await budget.block(5_000);
    expect(budget.state().blockedUntil).toEqual(new Date(clock.now().getTime() + 30_000));
    clock.advance(1_000);
    expect(await refusedFor(take(other, 'money', 10_000))).toBe(29);
    expect(await refusedFor(take(budget, 'money', 10_000))).toBe(29);
    clock.advance(29_000);
    await take(other, 'poll');
    await budget.block(3_600_000);
    clock.advance(59_999);
    expect(await refusedFor(take(other, 'money'))).toBe(1);
    clock.advance(1);
    await take(other, 'money');
    expect(budget.state().blockedUntil).toBeNull();
  });

  test('an instance refuses from memory for a second, and asks the database again after that', async () => {
    const statements: string[] = [];
    const counted: Pick<Database, 'sql' | 'transaction'> = {
      sql: database.sql,
      transaction: (work) => {
        statements.push('grant');
        return database.transaction(work);
      },
    };
    const { budget, clock } = one({ limit: 1, database: counted });
    await take(budget, 'money');
    for (let count = 0; count < 100; count += 1) await refusedFor(take(budget, 'query'));
    expect(statements).toHaveLength(1);
    clock.advance(1_000);
    await refusedFor(take(budget, 'query'));
    expect(statements).toHaveLength(2);
  });

  test('a refusal names the limit', async () => {
    const { budget } = one({ limit: 1 });
    await take(budget, 'money');
    const refused = await take(budget, 'money').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RateLimitError);
    expect(refused).toMatchObject({ limit: '1 requests a minute to the payments service' });
  });

  test('a budget that is switched off counts nothing, and still stops while the service blocks', async () => {
    const { budget, clock } = one({ limit: 0, database: null as never });
    await takeMany(budget, 1_000, 'poll');
    await budget.block(5_000);
    expect(await refusedFor(take(budget, 'money', 4_000))).toBe(5);
    const waiting = take(budget, 'money', 5_000);
    clock.advance(5_000);
    await waiting;
    expect(budget.state()).toMatchObject({ limit: null, blockedUntil: null });
  });

  test('a budget that is closed refuses the waiting requests, and leaves no slot without an owner', async () => {
    const { budget, create } = one({ limit: 1, windowMs: 1_000 });
    const taken = take(budget, 'money').catch((error: unknown) => error);
    await budget.close();
    expect(await taken).toMatchObject({ kind: 'unreachable', reached: 'no' });
    await take(create(), 'money');
  });

  test('a failing database fails the waiting requests, and later ones are served', async () => {
    let fails = true;
    const flaky: Pick<Database, 'sql' | 'transaction'> = {
      sql: database.sql,
      transaction: (work) => (fails ? Promise.reject(new Error('lost')) : database.transaction(work)),
    };
    const { budget } = one({ database: flaky });
    await expect(take(budget, 'money', 5_000)).rejects.toThrow('lost');
    fails = false;
    await take(budget, 'money');
  });

  describe.each(firstInSample([1, 2, 3]))('with random traffic (seed %i)', (seed) => {
    test('random traffic never exceeds the limit in any window, nor a class its share', async () => {
      const random = seeded(seed);
      const limit = 20;
      const windowMs = 2_000;
      const { create, clock } = instances(0, { limit, windowMs, longestMs: 4_000 });
      const budgets = [create(), create(), create()];
      const arrivals: { at: number; of: UpstreamPriority; subject: BudgetSubject }[] = [];
      const outcomes = { served: 0, refused: 0 };
      const under: Promise<unknown>[] = [];

      const request = async () => {
        const of = UPSTREAM_PRIORITIES[Math.floor(random() * UPSTREAM_PRIORITIES.length)]!;
        const subject = {
          token: `token ${Math.floor(random() * 2)}`,
          network: `network ${Math.floor(random() * 2)}`,
        };
        const waitMs = Math.floor(random() * 3_000);
        const [arrives, ends, fate] = [random() * 600, random() * 900, random()];
        try {
          const slot = await budgets[Math.floor(random() * 3)]!.take({ priority: of, subject, waitMs });
          outcomes.served += 1;
          if (fate < 0.1) return slot.end('not_sent');
          const arrival = clock.now().getTime() + Math.floor(arrives);
          clock.schedule(new Date(arrival), () => arrivals.push({ at: arrival, of, subject }));
          // One in ten crashes, and never ends its slot.
          if (fate < 0.2) return;
          const end = arrival + Math.floor(ends);
          clock.schedule(new Date(end), () => slot.end(fate < 0.5 ? 'broken_off' : 'answered'));
        } catch (error) {
          expect(error).toBeInstanceOf(RateLimitError);
          outcomes.refused += 1;
        }
      };
      for (let step = 0; step < 150; step += 1) {
        for (let count = Math.floor(random() * 12); count > 0; count -= 1) under.push(request());
        await Promise.all(budgets.map(idle));
        clock.advance(Math.floor(random() * 300));
      }
      for (let step = 0; step < 30; step += 1) {
        await Promise.all(budgets.map(idle));
        clock.advance(500);
      }
      await Promise.all(under);

      expect(outcomes.served).toBeGreaterThan(50);
      expect(outcomes.refused).toBeGreaterThan(50);
      expect(fullest(arrivals, windowMs)).toBeLessThanOrEqual(limit);
      const polls = arrivals.filter(({ of }) => of === 'poll');
      expect(fullest(polls, windowMs)).toBeLessThanOrEqual(limit * 0.4);
      const payers = arrivals.filter(({ of }) => of === 'payer' || of === 'payer_read');
      expect(fullest(payers, windowMs)).toBeLessThanOrEqual(limit * 0.7);
      for (const token of ['token 0', 'token 1']) {
        const ofToken = payers.filter(({ subject }) => subject.token === token);
        // Payers get three quarters of their share, and those of one network get half of it.
        expect(fullest(ofToken, windowMs)).toBeLessThanOrEqual(11);
        const ofBoth = ofToken.filter(({ subject }) => subject.network === 'network 0');
        expect(fullest(ofBoth, windowMs)).toBeLessThanOrEqual(7);
      }
      expect(arrivals.filter(({ of }) => of === 'money').length).toBeGreaterThan(polls.length);
    });
  });

  test('the limit is exact when several instances take slots at once', async () => {
    const { budgets } = instances(4, { limit: 50 });
    const takes = Array.from({ length: 200 }, (_, index) =>
      take(budgets[index % 4]!, 'money').then(
        () => 1,
        () => 0,
      ),
    );
    const served = (await Promise.all(takes)).reduce((sum, each) => sum + each, 0 as number);
    expect(served).toBe(50);
  });
});

/** Resolves when the budget has written and decided everything. */
async function idle(budget: Budget): Promise<void> {
  await budget.idle();
}

/** The most arrivals in any window that includes its beginning. */
function fullest(arrivals: readonly { at: number }[], windowMs: number): number {
  const times = arrivals.map(({ at }) => at).sort((left, right) => left - right);
  let first = 0;
  return times.reduce((most, time, index) => {
    while (times[first]! <= time - windowMs) first += 1;
    return Math.max(most, index - first + 1);
  }, 0);
}

/** A seeded generator (Mulberry32): the same traffic for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
