import { expect, test } from 'vitest';
import { DAY_MS, plusMs } from '../../../server/src/kernel/clock.ts';
import type { ListRange } from '../../../server/src/kernel/list-range.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import type {
  CreateSubscriptionInput,
  SubscriptionStatus,
} from '../../../server/src/money-in/subscriptions/model.ts';
import type { PortFixture, StartPortFixture } from '../../support/port-fixture.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
/** A time beyond the life of a response that a facade caches for a merchant. */
const KEPT = 2 * SECOND;
const AMOUNT = 4990;

/** The contract of reading subscriptions, for every implementation of their port. They are created at the service. */
export function describePort(start: StartPortFixture): void {
  test('A subscription is found as it was created, with its code, by its merchant alone', async () => {
    const [merchant, other] = [await start(), await start()];
    const { subscriptions, tenant } = merchant;
    const details = { description: 'Clube 🎸', metadata: ' {"plano": "\\u0000 1"} ', endsAfterCycles: 12 };
    const { subscriptionId, brCode, createdAt, expiresAt } = await create(merchant, details);
    expect(subscriptionId).toMatch(/^psa_sub_[0-9a-f]{32}$/);
    const found = await subscriptions.find(tenant, subscriptionId);
    expect(found).toMatchObject({
      ...details,
      subscriptionId,
      brCode,
      createdAt,
      expiresAt,
      status: 'pending',
      interval: 'weekly',
      amountCents: AMOUNT,
      nextDueAt: null,
      cancelReason: null,
      canceledAt: null,
      returnedCredits: [],
    });
    expect(found?.txid ?? txidOf(subscriptionId)).toBe(txidOf(subscriptionId));
    expect((await subscriptions.findWithVersion(tenant, subscriptionId))?.resource).toEqual(found);
    expect(await statusesSeen(merchant, subscriptionId)).toEqual(['pending']);
    expect(await cyclesOf(merchant, subscriptionId)).toEqual([]);

    for (const each of [other, merchant.inSandbox()]) {
      expect(await each.subscriptions.find(each.tenant, subscriptionId)).toBeNull();
      expect(await each.subscriptions.findWithVersion(each.tenant, subscriptionId)).toBeNull();
    }
  });

  test('Subscriptions are found in the order of the ids, and none under a text that is no id', async () => {
    const merchant = await start();
    const { subscriptions, tenant } = merchant;
    const [first, second] = [await create(merchant), await create(merchant)].map(
      (each) => each.subscriptionId,
    );
    const none = ['', 'psa_sub_', 'with \u0000', `psa_sub_${'0'.repeat(32)}`, `psa_${txidOf(first!)}`];
    const found = await subscriptions.findMany(tenant, [second!, ...none, first!, second!]);
    expect(found.map((each) => each?.subscriptionId ?? null)).toEqual([
      ...[second, ...none.map(() => null), first, second],
    ]);
    expect(() => subscriptions.assertId(first!)).not.toThrow();
    for (const text of ['', 'psa_1', 'psa_sub_', 'psa_sub_ 1'])
      expect(() => subscriptions.assertId(text)).toThrow();
  });

  test('An authorised subscription is active, with a paid cycle, its payment, and the next cycle', async () => {
    const merchant = await start();
    const { subscriptions, tenant } = merchant;
    const { subscriptionId } = await create(merchant);
    await find(merchant, subscriptionId);
    await authorise(merchant, subscriptionId);
    const active = await find(merchant, subscriptionId);
    expect(active).toMatchObject({ status: 'active', amountCents: AMOUNT, cancelReason: null });
    const [second, first] = await cyclesOf(merchant, subscriptionId);
    expect(second).toMatchObject({ number: 2, status: 'scheduled', attempts: 0, paymentId: null });
    expect(first).toMatchObject({ number: 1, status: 'paid', attempts: 1, nextAttemptAt: null });
    expect(active!.nextDueAt).toEqual(second!.dueAt);
    expect(await merchant.payments.find(tenant, first!.paymentId!)).toMatchObject({
      status: 'paid',
      amountCents: AMOUNT,
      paidAt: first!.paidAt,
      subscriptionId,
    });

    const page = async (range: ListRange) => {
      const { items, more } = await subscriptions.cycles(tenant, subscriptionId, range);
      return [items.map(({ number }) => number), more];
    };
    expect(await page({ end: 'first', limit: 1 })).toEqual([[2], true]);
    expect(await page({ end: 'last', limit: 1 })).toEqual([[1], true]);
    expect(await page({ end: 'first', limit: 1, after: 2 })).toEqual([[1], false]);
    expect(await page({ end: 'last', limit: 9, before: 1 })).toEqual([[2], false]);
    expect(await subscriptions.countCycles(tenant, subscriptionId)).toBe(2);
    expect(await subscriptions.newestCycles(tenant, [subscriptionId], 1)).toMatchObject([[{ number: 2 }]]);
    expect(merchant.faults).toEqual([]);
  });

  test('A cycle whose debit fails makes it past due, until a later attempt is paid', async () => {
    const merchant = await start();
    const { subscriptionId } = await create(merchant, { customer: { email: 'nega-uma@psa.example' } });
    await find(merchant, subscriptionId);
    await authorise(merchant, subscriptionId);
    const due = (await find(merchant, subscriptionId))!.nextDueAt!;
    await merchant.pass(due.getTime() - merchant.clock.ms() + 21 * HOUR);
    expect(await find(merchant, subscriptionId)).toMatchObject({ status: 'past_due' });
    expect((await cyclesOf(merchant, subscriptionId))[0]).toMatchObject({
      number: 2,
      status: 'retrying',
      attempts: 1,
      failureReason: 'Saldo insuficiente',
      nextAttemptAt: plusMs(due, DAY_MS),
    });
    await merchant.pass(DAY_MS);
    expect(await find(merchant, subscriptionId)).toMatchObject({ status: 'active' });
    expect((await cyclesOf(merchant, subscriptionId))[1]).toMatchObject({
      number: 2,
      status: 'paid',
      attempts: 2,
      failureReason: null,
    });
    expect(await statusesSeen(merchant, subscriptionId)).toEqual(['pending', 'active', 'past_due', 'active']);
    expect(merchant.faults).toEqual([]);
  });

  test('One that is canceled at the service shows by whom, and has no next cycle', async () => {
    const merchant = await start();
    const { service } = merchant;
    const { subscriptionId } = await create(merchant);
    await find(merchant, subscriptionId);
    await authorise(merchant, subscriptionId);
    await find(merchant, subscriptionId);
    await service.subscriptions.cancel(service.tenant, subscriptionId);
    await merchant.pass(KEPT);
    expect(await find(merchant, subscriptionId)).toMatchObject({
      status: 'canceled',
      cancelReason: 'merchant',
      canceledAt: expect.any(Date),
      nextDueAt: null,
    });
    expect((await cyclesOf(merchant, subscriptionId)).map(({ status }) => status)).toEqual([
      'canceled',
      'paid',
    ]);
    expect(await statusesSeen(merchant, subscriptionId)).toEqual(['pending', 'active', 'canceled']);
  });

  test('Subscriptions are listed newest first, in both directions, and by status', async () => {
    const merchant = await start();
    const { subscriptions, tenant } = merchant;
    const made: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      made.unshift((await create(merchant)).subscriptionId);
      await find(merchant, made[0]!);
      await merchant.pass(KEPT);
    }
    const [fourth, third, second, first] = made;
    await authorise(merchant, third!);
    await find(merchant, third!);
    const page = async (range: ListRange & { status?: SubscriptionStatus[] }) => {
      const { items, more } = await subscriptions.list(tenant, range);
      return [items.map(({ resource: subscription }) => subscription.subscriptionId), more] as const;
    };
    const listed = async (status?: SubscriptionStatus[]) => {
      const filter = status ? { status } : {};
      const [found] = await page({ end: 'first', limit: 10, ...filter });
      expect(await page({ end: 'last', limit: 10, ...filter })).toEqual([found, false]);
      expect(await subscriptions.count(tenant, filter)).toBe(found.length);
      return found;
    };
    expect(await listed()).toEqual([fourth, third, second, first]);
    expect(await listed(['active'])).toEqual([third]);
    expect(await listed(['pending', 'canceled'])).toEqual([fourth, second, first]);
    expect(await listed([])).toEqual([]);
    expect(await page({ end: 'first', limit: 2 })).toEqual([[fourth, third], true]);
    expect(await page({ end: 'last', limit: 2 })).toEqual([[second, first], true]);
    const { items } = await subscriptions.list(tenant, { end: 'first', limit: 2 });
    const after = items.at(-1)!.position;
    expect(await page({ end: 'first', limit: 1, after })).toEqual([[second], true]);
    expect(await page({ end: 'last', limit: 9, before: after })).toEqual([[fourth], false]);
    const { items: window, total } = await subscriptions.listPage(tenant, { limit: 2, offset: 1 });
    expect([window.map(({ subscriptionId }) => subscriptionId), total]).toEqual([[third, second], 4]);
  });
}

async function create({ service }: PortFixture, input: Partial<CreateSubscriptionInput> = {}) {
  const { subscription } = await service.subscriptions.create(service.tenant, {
    valueCents: AMOUNT,
    interval: 'weekly',
    ...input,
  });
  return subscription;
}

function find({ subscriptions, tenant }: PortFixture, subscriptionId: string) {
  return subscriptions.find(tenant, subscriptionId);
}

async function authorise(merchant: PortFixture, subscriptionId: string): Promise<void> {
  await merchant.service.pix.pay({ txid: txidOf(subscriptionId) });
  await merchant.settled();
  await merchant.pass(KEPT);
}

/** The cycles, newest first. */
async function cyclesOf({ subscriptions, tenant }: PortFixture, subscriptionId: string) {
  return (await subscriptions.cycles(tenant, subscriptionId, { end: 'first', limit: 50 })).items;
}

/** The statuses that subscribers have seen, in order, each once in a row. */
async function statusesSeen(merchant: PortFixture, subscriptionId: string): Promise<string[]> {
  return (await merchant.events('subscription'))
    .filter(({ resourceId }) => resourceId === subscriptionId)
    .map(({ snapshot }) => snapshot.status)
    .filter((status, index, all) => status !== all[index - 1]);
}
