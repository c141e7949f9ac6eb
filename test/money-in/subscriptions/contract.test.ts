import { beforeAll, expect, test } from 'vitest';
import { DAY_MS, plusMs } from '../../../server/src/kernel/clock.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import type {
  CreateSubscriptionInput,
  StoredSubscription,
} from '../../../server/src/money-in/subscriptions/model.ts';
import type { DebitReport, PixRail } from '../../../server/src/rails/pix.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';
import { type Core, startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { readAfter } from '../../support/events.ts';
import { embedded } from '../../support/port-fixture.ts';
import { describePort } from './port.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const AMOUNT = 4990;

describeOnDatabase('Subscriptions', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });
  describePort(embedded(() => database));

  test('One code authorises a subscription, pays its first cycle, and announces both', async () => {
    const core = await startCore({ database });
    const created = await create(core, { description: 'Clube do café' });
    expect(created).toMatchObject({ status: 'pending', cycle: null, nextDueAt: null, version: 2 });
    await authorise(core, created);
    const active = await find(core, created);
    const now = core.clock.now();
    expect(active).toMatchObject({ status: 'active', authorisedAt: now, version: 4 });
    const [second, first] = await cyclesOf(core, created);
    expect(first).toMatchObject({ number: 1, status: 'paid', attempts: 1, paidAt: now, nextAttemptAt: null });
    expect(second).toMatchObject({ number: 2, status: 'scheduled', attempts: 0, paymentId: null });
    expect(active.nextDueAt).toEqual(second!.dueAt);
    expect(await core.payments.find(core.tenant, first!.paymentId!)).toMatchObject({
      status: 'paid',
      amountCents: AMOUNT,
      paidAt: now,
      description: 'Clube do café',
      subscriptionId: created.subscriptionId,
      paidLate: false,
    });
    expect(await core.balances()).toEqual({
      ...NO_BALANCES,
      merchant_balance: AMOUNT,
      pix_received: -AMOUNT,
    });
    expect(await kindsOf(core)).toEqual([
      ['subscription.changed', null, 2],
      ['subscription.activated', 'pending', 3],
      ['subscription.paid', 'active', 4],
    ]);
    // A repeated report of the bank changes nothing.
    await core.subscriptions.receive(core.tenant, created.subscriptionId);
    expect(await find(core, created)).toEqual(active);
    expect(core.faults).toEqual([]);
  });

  test('The bank of a payer claims the first cycle back, and its amount is held', async () => {
    const core = await startCore({ database });
    const created = await create(core, { customer: { email: 'contesta-perde@psa.example' } });
    await authorise(core, created);
    const [, first] = await cyclesOf(core, created);
    await core.pass(61 * SECOND);
    const disputes = await core.controls.listDisputes(core.tenant, { limit: 9 });
    expect(disputes).toMatchObject([
      { status: 'open', amountCents: AMOUNT, resource: { type: 'payment', id: first!.paymentId } },
    ]);
    expect((await core.balances()).dispute_hold).toBe(AMOUNT);
  });

  test('Cycles are debited when they are due, month after month, and each makes a payment', async () => {
    const core = await startCore({ database });
    const created = await create(core, {});
    await authorise(core, created);
    const due = (await find(core, created)).nextDueAt!;
    await core.pass(due.getTime() - core.clock.ms() - 3 * DAY_MS);
    expect((await cyclesOf(core, created))[0]).toMatchObject({ number: 2, sent: true });
    await core.pass(3 * DAY_MS + 21 * HOUR);
    expect((await cyclesOf(core, created)).map(({ number, status }) => [number, status])).toEqual([
      ...[
        [3, 'scheduled'],
        [2, 'paid'],
        [1, 'paid'],
      ],
    ]);
    await core.pass(31 * DAY_MS);
    const cycles = await cyclesOf(core, created);
    expect(cycles.map(({ status }) => status)).toEqual(['scheduled', 'paid', 'paid', 'paid']);
    expect(new Set(cycles.map(({ paymentId }) => paymentId)).size).toBe(4);
    expect(await core.payments.count(core.tenant, {})).toBe(3);
    expect(await core.balances()).toMatchObject({ merchant_balance: 3 * AMOUNT });
    expect(core.faults).toEqual([]);
  });

  test('A cycle that fails at first is retried on later days, and makes the subscription active again', async () => {
    const core = await startCore({ database });
    const created = await create(core, { customer: { email: 'nega-uma@psa.example' } });
    await authorise(core, created);
    const due = (await find(core, created)).nextDueAt!;
    await core.pass(due.getTime() - core.clock.ms() + 21 * HOUR);
    expect(await find(core, created)).toMatchObject({ status: 'past_due' });
    expect((await cyclesOf(core, created))[0]).toMatchObject({
      number: 2,
      status: 'retrying',
      attempts: 1,
      failureReason: 'Saldo insuficiente',
      nextAttemptAt: new Date(due.getTime() + DAY_MS),
    });
    await core.pass(DAY_MS);
    expect(await find(core, created)).toMatchObject({ status: 'active', failedInRow: 0 });
    expect((await cyclesOf(core, created))[1]).toMatchObject({
      number: 2,
      status: 'paid',
      attempts: 2,
      failureReason: null,
    });
    expect((await kindsOf(core)).slice(3).map(([kind]) => kind)).toEqual([
      ...['subscription.payment_failed', 'subscription.past_due', 'subscription.paid'],
    ]);
  });

  test('Three cycles that fail in a row end the subscription, also at the bank', async () => {
    const ended: string[] = [];
    const core = await startCore({
      database,
      pix: (rail) => ({
        ...rail,
        cancelRecurrence(txid) {
          ended.push(txid);
          return rail.cancelRecurrence(txid);
        },
      }),
    });
    const created = await create(core, { interval: 'weekly', customer: { email: 'nega@psa.example' } });
    await authorise(core, created);
    await core.pass(14 * DAY_MS);
    expect(await find(core, created)).toMatchObject({ status: 'past_due' });
    await core.pass(14 * DAY_MS);
    expect(await find(core, created)).toMatchObject({
      status: 'canceled',
      cancelReason: 'unpaid',
      nextDueAt: null,
      failedInRow: 3,
    });
    const cycles = await cyclesOf(core, created);
    expect(cycles.map(({ status, attempts }) => [status, attempts])).toEqual([
      ...[
        ['failed', 3],
        ['failed', 3],
        ['failed', 3],
        ['paid', 1],
      ],
    ]);
    expect(ended).toEqual([txidOf(created.subscriptionId)]);
    expect(await core.balances()).toMatchObject({ merchant_balance: AMOUNT });
  });

  test('A subscription is completed with its last cycle', async () => {
    const core = await startCore({ database });
    const once = await create(core, { endsAfterCycles: 1 });
    await authorise(core, once);
    expect(await find(core, once)).toMatchObject({ status: 'completed', nextDueAt: null });
    const twice = await create(core, { endsAfterCycles: 2, interval: 'weekly' });
    await authorise(core, twice);
    await core.pass(8 * DAY_MS);
    expect(await find(core, twice)).toMatchObject({ status: 'completed' });
    expect(await core.subscriptions.countCycles(core.tenant, twice.subscriptionId)).toBe(2);
    await core.pass(30 * DAY_MS);
    expect(await core.balances()).toMatchObject({ merchant_balance: 3 * AMOUNT });
  });

  test('A subscription that nobody authorises expires, and a late authorisation is sent back', async () => {
    const core = await startCore({ database });
    const created = await create(core, {});
    await core.pass(DAY_MS);
    expect(await find(core, created)).toMatchObject({ status: 'expired', cycle: null });
    await authorise(core, created);
    await core.work.settled();
    expect(await find(core, created)).toMatchObject({
      status: 'expired',
      returnedCredits: [{ cause: 'not_payable', returnedAt: core.clock.now() }],
    });
    expect(await core.balances()).toEqual(NO_BALANCES);
    expect(await core.payments.count(core.tenant, {})).toBe(0);
  });

  test('A merchant cancels: the open cycle ends with it, and canceling again is a success', async () => {
    const core = await startCore({ database });
    const created = await create(core, {});
    await authorise(core, created);
    const due = (await find(core, created)).nextDueAt!;
    await core.pass(due.getTime() - core.clock.ms() - DAY_MS);
    const { subscription, replayed } = await core.subscriptions.cancel(core.tenant, created.subscriptionId);
    expect([subscription.status, subscription.cancelReason, replayed]).toEqual([
      'canceled',
      'merchant',
      false,
    ]);
    expect(await core.subscriptions.cancel(core.tenant, created.subscriptionId)).toMatchObject({
      replayed: true,
      subscription: { version: subscription.version },
    });
    await core.pass(20 * DAY_MS);
    expect((await cyclesOf(core, created)).map(({ status }) => status)).toEqual(['canceled', 'paid']);
    expect(await core.balances()).toMatchObject({ merchant_balance: AMOUNT });
  });

  test('An attempt that the bank can no longer recall is paid behind a cancellation', async () => {
    const core = await startCore({ database });
    const created = await create(core, {});
    await authorise(core, created);
    const due = (await find(core, created)).nextDueAt!;
    await core.pass(due.getTime() - core.clock.ms() - HOUR);
    await core.subscriptions.cancel(core.tenant, created.subscriptionId);
    expect((await cyclesOf(core, created))[0]).toMatchObject({ number: 2, status: 'scheduled' });
    await core.pass(2 * DAY_MS);
    expect(await find(core, created)).toMatchObject({ status: 'canceled', nextDueAt: null });
    expect((await cyclesOf(core, created)).map(({ status }) => status)).toEqual(['paid', 'paid']);
    expect(await core.balances()).toMatchObject({ merchant_balance: 2 * AMOUNT });
  });

  test('A payer rejects a subscription before it is authorised, and cancels one after', async () => {
    const core = await startCore({ database });
    const rejected = await create(core, {});
    await core.pix.endByPayer(txidOf(rejected.subscriptionId));
    await core.work.settled();
    expect(await find(core, rejected)).toMatchObject({
      status: 'canceled',
      cancelReason: 'payer',
      cycle: null,
    });
    const canceled = await create(core, {});
    await authorise(core, canceled);
    await core.pix.endByPayer(txidOf(canceled.subscriptionId));
    await core.work.settled();
    expect(await find(core, canceled)).toMatchObject({ status: 'canceled', cancelReason: 'payer' });
    expect((await cyclesOf(core, canceled)).map(({ status }) => status)).toEqual(['canceled', 'paid']);
  });

  test('A cycle whose payer has ended the subscription in time ends with it, though the service learns it late', async () => {
    const core = await startCore({ database });
    const created = await create(core, {});
    await authorise(core, created);
    const due = (await find(core, created)).nextDueAt!;
    await core.pass(due.getTime() - core.clock.ms() - 3 * HOUR);
    // The clock stands one minute before 22:00 in São Paulo; the notification arrives one minute after 22:00.
    core.clock.jumpTo(plusMs(due, -2 * HOUR - 60_000));
    await core.pix.endByPayer(txidOf(created.subscriptionId));
    core.clock.jumpTo(plusMs(due, -2 * HOUR + 60_000));
    await core.pass(3 * DAY_MS);
    expect((await cyclesOf(core, created)).map(({ status }) => status)).toEqual(['canceled', 'paid']);
    expect(await core.balances()).toMatchObject({ merchant_balance: AMOUNT });
  });

  test('A subscription that has ended at the bank, and not by its payer, ends before its next debit', async () => {
    const core = await startCore({ database });
    const created = await create(core, {});
    await authorise(core, created);
    await core.pix.cancelRecurrence(txidOf(created.subscriptionId));
    await core.pass(70 * DAY_MS);
    expect(await find(core, created)).toMatchObject({ status: 'canceled', nextDueAt: null });
    expect((await cyclesOf(core, created)).map(({ status }) => status)).toEqual(['canceled', 'paid']);
    expect(
      await core.database.sql
        .selectFrom('task')
        .select('kind')
        .where('account_id', '=', core.tenant.accountId)
        .execute(),
    ).toEqual([]);
  });

  test('The payment of a cycle is refunded as any', async () => {
    const core = await startCore({ database });
    const created = await create(core, { endsAfterCycles: 2, interval: 'weekly' });
    await authorise(core, created);
    await core.pass(8 * DAY_MS);
    for (const { paymentId } of await cyclesOf(core, created)) {
      await core.refunds.request(core.tenant, { type: 'payment', id: paymentId! }, {});
      await core.work.settled();
      expect(await core.payments.find(core.tenant, paymentId!)).toMatchObject({ status: 'refunded' });
    }
    expect(await core.balances()).toEqual(NO_BALANCES);
    expect(core.faults).toEqual([]);
  });

  test('A crash between the instruction and its record debits nothing twice', async () => {
    let fails = false;
    const scheduled: string[] = [];
    const core = await startCore({
      database,
      pix: (rail: PixRail) => ({
        ...rail,
        async schedule(debit) {
          scheduled.push(debit.id);
          const answer = await rail.schedule(debit);
          if (fails) throw new Error('the answer is lost');
          return answer;
        },
      }),
    });
    const created = await create(core, { interval: 'weekly' });
    await authorise(core, created);
    const before = scheduled.length;
    fails = true;
    while (scheduled.length < before + 3) await core.pass(HOUR);
    fails = false;
    await core.pass(8 * DAY_MS);
    expect((await cyclesOf(core, created)).map(({ status }) => status)).toEqual([
      'scheduled',
      'paid',
      'paid',
    ]);
    expect(new Set(scheduled.filter((id) => id.startsWith(scheduled[0]!.slice(0, 32)))).size).toBe(1);
    expect(scheduled.length).toBeGreaterThan(1);
    expect(await core.balances()).toMatchObject({ merchant_balance: 2 * AMOUNT });
  });

  test('An attempt behind one that the bank has called failed and then paid is recalled, over crashes too', async () => {
    let isCorrected = false;
    const recalled: string[] = [];
    const core = await startCore({
      database,
      pix: (rail: PixRail) => ({
        ...rail,
        async recurrenceOf(txid) {
          const state = await rail.recurrenceOf(txid);
          const corrected = (report: DebitReport): DebitReport => {
            const { id, at } = report;
            return { id, at, status: 'paid', endToEndId: `E${id.slice(0, 31)}`, amountCents: AMOUNT };
          };
          return isCorrected ? { ...state, debits: state.debits.map(corrected) } : state;
        },
        async cancelSchedule(debit) {
          recalled.push(debit.id);
          if (recalled.length === 1) throw new Error('the request is lost');
          await rail.cancelSchedule(debit);
          if (recalled.length === 2) throw new Error('the answer is lost');
        },
      }),
    });
    const created = await create(core, {
      interval: 'weekly',
      endsAfterCycles: 2,
      customer: { email: 'nega-uma@psa.example' },
    });
    await authorise(core, created);
    const due = (await find(core, created)).nextDueAt!;
    await core.pass(due.getTime() - core.clock.ms() + 21 * HOUR + SECOND);
    expect((await cyclesOf(core, created))[0]).toMatchObject({ status: 'retrying', attempts: 1, sent: true });
    isCorrected = true;
    await core.subscriptions.receive(core.tenant, created.subscriptionId);
    await core.pass(HOUR / 2);
    expect(new Set(recalled)).toEqual(new Set([recalled[0]!.replace(/\.\d+$/, '.2')]));
    expect(recalled).toHaveLength(3);
    isCorrected = false;
    await core.pass(10 * DAY_MS);
    // The bank itself has debited nothing after its first report.
    const { debits } = await core.pix.recurrenceOf(txidOf(created.subscriptionId));
    expect(debits.map(({ status }) => status)).toEqual(['failed']);
    expect((await cyclesOf(core, created)).map(({ status }) => status)).toEqual(['paid', 'paid']);
    expect(await find(core, created)).toMatchObject({ status: 'completed', returnedCredits: [] });
    expect(await core.balances()).toEqual({
      ...NO_BALANCES,
      merchant_balance: 2 * AMOUNT,
      pix_received: -2 * AMOUNT,
    });
  });

  test('An attempt whose notification is lost is looked up on the next day', async () => {
    const core = await startCore({ database });
    const created = await create(core, { interval: 'weekly' });
    await authorise(core, created);
    await core.pass(5 * DAY_MS);
    await database.sql
      .deleteFrom('task')
      .where('kind', '=', 'subscription.look_up')
      .where('key', 'like', `${created.subscriptionId} %`)
      .execute();
    await core.pass(3 * DAY_MS + 12 * HOUR);
    expect((await cyclesOf(core, created))[1]).toMatchObject({ number: 2, status: 'paid' });
  });

  test.each([1, 7])(
    'A debit that the service never knew of is sent back, where the bank shows it on morning %d behind a canceled cycle',
    async (morning) => {
      let isLost = false;
      let lost = 0;
      let isSilent = false;
      const core = await startCore({
        database,
        pix: (rail: PixRail) => ({
          ...rail,
          async schedule(debit) {
            const answer = await rail.schedule(debit);
            if (!isLost) return answer;
            lost += 1;
            throw new Error('the answer is lost');
          },
          async recurrenceOf(txid) {
            const found = await rail.recurrenceOf(txid);
            return isSilent ? { ...found, debits: [] } : found;
          },
        }),
      });
      const created = await create(core, { interval: 'weekly' });
      await authorise(core, created);
      const due = (await find(core, created)).nextDueAt!;
      isLost = true;
      while (lost === 0) await core.pass(HOUR);
      // After that evening the bank recalls nothing: it will debit, and its notification is lost, too.
      core.clock.jumpTo(plusMs(due, -HOUR));
      await core.pass(0);
      await core.subscriptions.cancel(core.tenant, created.subscriptionId);
      expect((await cyclesOf(core, created))[0]).toMatchObject({ number: 2, status: 'canceled' });
      await database.sql
        .deleteFrom('task')
        .where('kind', '=', 'subscription.look_up')
        .where('key', 'like', `${created.subscriptionId} %`)
        .execute();
      // The bank debits at 21:00 of the day, and the service asks at 6:00 of the next.
      isSilent = true;
      await core.pass(25 * HOUR);
      await core.pass((morning - 1) * DAY_MS);
      isSilent = false;
      expect(await find(core, created)).toMatchObject({ returnedCredits: [] });
      expect((await core.pix.recurrenceOf(txidOf(created.subscriptionId))).debits).toMatchObject([
        { status: 'paid', amountCents: AMOUNT },
      ]);
      await core.pass(6 * HOUR);
      expect(await find(core, created)).toMatchObject({
        status: 'canceled',
        cancelReason: 'merchant',
        returnedCredits: [{ cause: 'not_payable', amountCents: AMOUNT }],
      });
      expect((await cyclesOf(core, created)).map(({ status }) => status)).toEqual(['canceled', 'paid']);
      expect(await core.balances()).toEqual({
        ...NO_BALANCES,
        merchant_balance: AMOUNT,
        pix_received: -AMOUNT,
      });
    },
  );

  test('A service that was away for weeks goes on with the cycles that can still be debited', async () => {
    const core = await startCore({ database });
    const created = await create(core, { interval: 'weekly' });
    await authorise(core, created);
    await core.close();
    core.clock.advance(30 * DAY_MS);
    const later = await startCore({ database, clock: core.clock, tenant: core.tenant });
    await later.pass(3 * DAY_MS);
    const cycles = await cyclesOf(core, created);
    expect(cycles.map(({ number, status, attempts }) => [number, status, attempts])).toEqual([
      ...[
        [6, 'scheduled', 0],
        [5, 'paid', 1],
        [4, 'failed', 0],
        [3, 'failed', 0],
        [2, 'failed', 0],
      ],
      [1, 'paid', 1],
    ]);
    expect(await find(core, created)).toMatchObject({ status: 'active' });
  });

  test('The same key and input give the same subscription, and another input is refused', async () => {
    const core = await startCore({ database });
    const input = { ...INPUT, idempotencyKey: 'one' };
    const [first, second] = [
      await core.subscriptions.create(core.tenant, input),
      await core.subscriptions.create(core.tenant, input),
    ];
    expect([first.replayed, second.replayed]).toEqual([false, true]);
    expect(second.subscription).toEqual(first.subscription);
    await expect(
      core.subscriptions.create(core.tenant, { ...input, interval: 'yearly' }),
    ).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  test('A creation without a code names the subscription, which gets its code later or never', async () => {
    const core = await startCore({ database });
    const refused = core.subscriptions.create(core.tenant, {
      ...INPUT,
      customer: { email: 'sem-codigo@psa.example' },
    });
    await expect(refused).rejects.toMatchObject({ code: 'BANK_REFUSED', retryable: false });
    const key = { ...INPUT, customer: { email: 'demora-codigo@psa.example' }, idempotencyKey: 'late' };
    const late = await core.subscriptions.create(core.tenant, key).catch((error: unknown) => error);
    expect(late).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', retryable: true });
    await core.pass(20 * SECOND);
    const { subscription } = await core.subscriptions.create(core.tenant, key);
    expect(subscription).toMatchObject({ status: 'pending', brCode: expect.any(String) });
    const { lookupReference } = late as { lookupReference: string };
    expect(subscription.subscriptionId).toBe(lookupReference);
  });

  test('Lists have both directions, by status, and no other tenant’s', async () => {
    const core = await startCore({ database });
    const made = [await create(core, {}), await create(core, {}), await create(core, {})];
    await authorise(core, made[1]!);
    const ids = made.map(({ subscriptionId }) => subscriptionId);
    const list = async (range: Parameters<typeof core.subscriptions.list>[1]) => {
      const { items, more } = await core.subscriptions.list(core.tenant, range);
      return [items.map(({ resource: subscription }) => ids.indexOf(subscription.subscriptionId)), more];
    };
    expect(await list({ end: 'first', limit: 2 })).toEqual([[2, 1], true]);
    expect(await list({ end: 'last', limit: 2 })).toEqual([[1, 0], true]);
    expect(await list({ end: 'first', limit: 5, status: ['active'] })).toEqual([[1], false]);
    expect(await core.subscriptions.count(core.tenant, {})).toBe(3);
    expect(await core.subscriptions.count(core.tenant, { status: ['pending'] })).toBe(2);
    const { items, total } = await core.subscriptions.listPage(core.tenant, { limit: 1, offset: 1 });
    expect([items.map(({ subscriptionId }) => ids.indexOf(subscriptionId)), total]).toEqual([[1], 3]);
    const other = await startCore({ database });
    expect(await other.subscriptions.count(other.tenant, {})).toBe(0);
    expect(await other.subscriptions.findMany(other.tenant, [...ids, 'x\u0000'])).toEqual([
      ...[null, null, null, null],
    ]);
    const cycles = await core.subscriptions.cycles(core.tenant, ids[1]!, { end: 'last', limit: 1 });
    expect([cycles.items.map(({ number }) => number), cycles.more]).toEqual([[1], true]);
    await expect(other.subscriptions.cancel(other.tenant, ids[0]!)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

const INPUT: CreateSubscriptionInput = { valueCents: AMOUNT, interval: 'monthly' };

async function create(core: Core, more: Partial<CreateSubscriptionInput>): Promise<StoredSubscription> {
  const { subscription } = await core.subscriptions.create(core.tenant, { ...INPUT, ...more });
  return subscription;
}

async function authorise(core: Core, { subscriptionId }: StoredSubscription): Promise<void> {
  await core.pix.pay({ txid: txidOf(subscriptionId) });
  await core.work.settled();
}

async function find(core: Core, { subscriptionId }: StoredSubscription): Promise<StoredSubscription> {
  return (await core.subscriptions.find(core.tenant, subscriptionId))!;
}

async function cyclesOf(core: Core, { subscriptionId }: StoredSubscription) {
  const { items } = await core.subscriptions.cycles(core.tenant, subscriptionId, { end: 'first', limit: 50 });
  return items;
}

async function kindsOf(core: Core) {
  const { events } = await readAfter(core.database.sql, core.tenant, { after: 0, limit: 200 });
  return events.flatMap((event) =>
    event.resource === 'subscription'
      ? [[event.kind, event.previousStatus, event.snapshot.version] as const]
      : [],
  );
}
