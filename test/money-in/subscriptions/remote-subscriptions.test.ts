import { beforeAll, describe, expect, test } from 'vitest';
import { brCode } from '../../../server/src/kernel/br-code.ts';
import { createRemoteSubscriptions } from '../../../server/src/money-in/subscriptions/remote/service.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { startFacade } from '../../support/facade.ts';
import { createScriptedService, ok, refused, timeout } from '../../support/scripted-service.ts';

// Subscriptions at a facade: the service's possible answers and webhooks.

const PATH = '/v1/subscriptions';
const MINUTE = 60_000;
const NOT_OFFERED = { code: 'NOT_OFFERED' };

let database: Database;
beforeAll(async () => {
  database = await openFreshDatabase();
});

let count = 0;

/** A service that returns its subscriptions by id, with a facade in front. */
async function start() {
  const script = createScriptedService();
  const facade = await startFacade({ database, upstream: script.upstream });
  const subscriptions = createRemoteSubscriptions(facade);
  const merchant = subscriptions.serviceFor({ priority: 'merchant', subject: null, onRead: () => undefined });
  const kept = new Map<string, Record<string, unknown>>();
  function create(rest: Record<string, unknown> = {}): string {
    count += 1;
    const subscriptionId = `psa_sub_${String(count).padStart(32, '0')}`;
    kept.set(subscriptionId, {
      subscriptionId,
      status: 'active',
      amountCents: 820,
      interval: 'monthly',
      ...rest,
    });
    return subscriptionId;
  }
  script.on('GET', `${PATH}/`, ({ path }) => {
    const found = kept.get(path.slice(PATH.length + 1));
    return found ? ok(found) : refused(404, 'Subscription not found');
  });
  return {
    facade,
    subscriptions,
    merchant,
    script,
    kept,
    create,
    tenant: facade.tenant,
    clock: facade.clock,
    async webhook(payload: object) {
      const { observation } = subscriptions.readWebhook(payload)!;
      await facade.committer.change({
        tenant: facade.tenant,
        read: observation.read,
        decide: (state) => ({ outcome: null, writes: observation.decide(state).writes }),
      });
    },
    events: async () =>
      (
        await database.sql
          .selectFrom('event')
          .select(['kind', 'previous_status'])
          .where('account_id', '=', facade.tenant.accountId)
          .orderBy('version')
          .execute()
      ).map(({ kind, previous_status }) => [kind, previous_status]),
  };
}

const CYCLE = {
  number: 2,
  dueAt: '2026-04-02T03:00:00.000Z',
  status: 'scheduled',
  amountCents: 820,
  attempts: 0,
  nextAttemptAt: '2026-04-02T03:00:00.000Z',
  paymentId: null,
  paidAt: null,
  failureReason: null,
};
const PAID = {
  ...CYCLE,
  status: 'paid',
  attempts: 1,
  nextAttemptAt: null,
  paymentId: 'psa_1',
  paidAt: '2026-04-02T12:00:00.000Z',
};

describe('a subscription of another service', () => {
  test('A subscription is looked up with its cycles, and again after two seconds', async () => {
    const { merchant, tenant, create, kept, clock, events } = await start();
    const id = create({ cycles: [CYCLE], nextDueAt: CYCLE.dueAt, metadata: '{"a":1}' });
    expect(await merchant.find(tenant, id)).toMatchObject({
      status: 'active',
      amountCents: 820,
      interval: 'monthly',
      version: 1,
      metadata: '{"a":1}',
      nextDueAt: new Date(CYCLE.dueAt),
    });
    clock.advance(2_000);
    kept.set(id, { ...kept.get(id), status: 'past_due', cycles: [PAID, { number: 3, status: 'odd' }] });
    expect(await merchant.find(tenant, id)).toMatchObject({ status: 'past_due', version: 2 });
    const { items, more } = await merchant.cycles(tenant, id, { end: 'first', limit: 2 });
    expect([items.map(({ number, status }) => [number, status]), more]).toEqual([
      ...[
        [
          [3, 'unknown'],
          [2, 'paid'],
        ],
        false,
      ],
    ]);
    expect(await merchant.newestCycles(tenant, [id], 1)).toMatchObject([[{ number: 3 }]]);
    expect(await merchant.countCycles(tenant, id)).toBe(2);
    expect(await events()).toEqual([
      ['subscription.changed', null],
      ['subscription.changed', 'active'],
    ]);
  });

  test('A subscription shows that no further cycle is to come, and keeps what an answer does not show', async () => {
    const { merchant, tenant, create, kept, clock } = await start();
    const id = create({ nextDueAt: CYCLE.dueAt });
    const lookUp = async (shown: object) => {
      kept.set(id, {
        subscriptionId: id,
        status: 'past_due',
        amountCents: 820,
        interval: 'monthly',
        ...shown,
      });
      clock.advance(MINUTE);
      return (await merchant.find(tenant, id))?.nextDueAt;
    };
    await merchant.find(tenant, id);
    expect(await lookUp({})).toEqual(new Date(CYCLE.dueAt));
    expect(await lookUp({ nextDueAt: 'soon' })).toEqual(new Date(CYCLE.dueAt));
    expect(await lookUp({ nextDueAt: null })).toBeNull();
  });

  test('One whose service is away is shown as it was, and a newer answer corrects an end', async () => {
    const { merchant, tenant, create, kept, script, clock, facade } = await start();
    const failed = { ...PAID, status: 'failed', paymentId: null, paidAt: null };
    const ended = create({ status: 'canceled', cancelReason: 'payer', cycles: [failed] });
    const open = create();
    await merchant.findMany(tenant, [ended, open]);
    clock.advance(MINUTE);
    script.on('GET', `${PATH}/`, () => timeout());
    expect(await merchant.findMany(tenant, [ended, open])).toMatchObject([
      { status: 'canceled', cancelReason: 'payer' },
      { status: 'active' },
    ]);
    script.on('GET', `${PATH}/`, ({ path }) => ok(kept.get(path.slice(PATH.length + 1))));
    kept.set(ended, { ...kept.get(ended), status: 'active', cycles: [PAID] });
    clock.advance(MINUTE / 2);
    expect(await merchant.find(tenant, ended)).toMatchObject({ status: 'canceled' });
    // By now such an answer cannot be older than the cancellation.
    clock.advance(MINUTE);
    expect(await merchant.find(tenant, ended)).toMatchObject({ status: 'active', cancelReason: null });
    const { items } = await merchant.cycles(tenant, ended, { end: 'first', limit: 1 });
    expect(items[0]).toMatchObject({ status: 'paid', paymentId: PAID.paymentId });
    expect(facade.corrections).toEqual([
      { resource: 'subscription', id: ended, from: 'canceled', to: 'active' },
    ]);
  });

  test('Webhooks move it forward and never back, and its list is the mirror', async () => {
    const { merchant, tenant, webhook, events } = await start();
    const subscriptionId = 'psa_sub_seen';
    const said = { subscriptionId, amountCents: 820, cancelReason: null, metadata: null };
    await webhook({ event: 'subscription.activated', ...said, status: 'active', cycle: CYCLE });
    await webhook({ event: 'subscription.paid', ...said, status: 'active', cycle: PAID });
    await webhook({
      event: 'subscription.canceled',
      ...said,
      status: 'canceled',
      cancelReason: 'merchant',
      cycle: null,
    });
    // This webhook arrives late, and twice.
    await webhook({ event: 'subscription.activated', ...said, status: 'active', cycle: CYCLE });
    const { items, more } = await merchant.list(tenant, { end: 'first', limit: 5, status: ['canceled'] });
    expect(items.map(({ resource: subscription }) => subscription)).toMatchObject([
      { subscriptionId, status: 'canceled', cancelReason: 'merchant', nextDueAt: null },
    ]);
    expect([
      more,
      await merchant.count(tenant, {}),
      await merchant.count(tenant, { status: ['active'] }),
    ]).toEqual([...[false, 1, 0]]);
    expect(await merchant.listPage(tenant, { limit: 5, offset: 0 })).toMatchObject({ total: 1 });
    const cycles = await merchant.cycles(tenant, subscriptionId, { end: 'last', limit: 5 });
    expect(cycles.items).toMatchObject([{ number: 2, status: 'paid', paymentId: 'psa_1' }]);
    expect(await events()).toEqual([
      ['subscription.changed', null],
      ['subscription.changed', 'active'],
      ['subscription.canceled', 'active'],
    ]);
  });

  test('A webhook that arrives after a newer one moves no status back', async () => {
    const { merchant, tenant, webhook, create } = await start();
    const id = create({ cycles: [CYCLE], nextDueAt: CYCLE.dueAt });
    await merchant.find(tenant, id);
    const shown = { subscriptionId: id, amountCents: 820, cancelReason: null, metadata: null };
    const refused = { ...CYCLE, status: 'retrying', attempts: 1, failureReason: 'insufficient_funds' };
    const pastDue = { event: 'subscription.past_due', ...shown, status: 'past_due', cycle: refused };
    const paid = { event: 'subscription.paid', ...shown, status: 'active', cycle: { ...PAID, attempts: 2 } };
    const third = { ...pastDue, cycle: { ...refused, number: 3 } };
    const now = async () => (await merchant.list(tenant, { end: 'first', limit: 1 })).items[0]!.resource;
    const statuses: string[] = [];
    for (const payload of [pastDue, paid, pastDue, { ...pastDue, cycles: [refused], cycle: null }, third]) {
      await webhook(payload);
      statuses.push((await now()).status);
    }
    expect(statuses).toEqual(['past_due', 'active', 'active', 'active', 'past_due']);
    // A final status is true whenever it arrives.
    await webhook({ event: 'subscription.canceled', ...shown, status: 'canceled', cycle: refused });
    expect((await now()).status).toBe('canceled');
  });

  test('A wrong webhook stops no later one', async () => {
    const { merchant, tenant, create, webhook } = await start();
    const id = create({ status: 'active', cycles: [PAID] });
    await merchant.find(tenant, id);
    const statuses: string[] = [];
    for (const [status, cycle] of [
      ['past_due', { ...CYCLE, number: 9, status: 'retrying', attempts: 1 }],
      ['active', { ...PAID, number: 3 }],
      ['past_due', { ...CYCLE, number: 4, status: 'retrying', attempts: 1 }],
    ]) {
      await webhook({ event: 'subscription.changed', subscriptionId: id, amountCents: 820, status, cycle });
      const { items } = await merchant.list(tenant, { end: 'first', limit: 1 });
      statuses.push(items[0]!.resource.status);
    }
    expect(statuses).toEqual(['past_due', 'active', 'past_due']);
  });

  test('A response shows the present state, also where it shows an open cycle that had ended', async () => {
    const { merchant, tenant, create, kept, clock } = await start();
    const id = create({ status: 'active', cycles: [PAID] });
    await merchant.find(tenant, id);
    clock.advance(MINUTE);
    kept.set(id, { ...kept.get(id), status: 'past_due', cycles: [{ ...PAID, status: 'retrying' }] });
    expect(await merchant.find(tenant, id)).toMatchObject({ status: 'past_due' });
  });

  test('A response that a webhook overtakes moves no status back', async () => {
    const { merchant, tenant, create, kept, clock, script, webhook, events } = await start();
    const id = create({ status: 'active', cycles: [CYCLE] });
    await merchant.find(tenant, id);
    clock.advance(MINUTE);
    const refused = { ...CYCLE, status: 'retrying', attempts: 1, failureReason: 'insufficient_funds' };
    script.on('GET', `${PATH}/`, async () => {
      clock.advance(1_000);
      const subscription = { subscriptionId: id, amountCents: 820, cycle: refused };
      await webhook({ event: 'subscription.past_due', ...subscription, status: 'past_due' });
      // The answer is older than the webhook. Only its new `nextDueAt` causes a record.
      return ok({ ...kept.get(id), nextDueAt: CYCLE.dueAt });
    });
    expect(await merchant.find(tenant, id)).toMatchObject({ status: 'past_due' });
    // The one event is the webhook's; `active` is the status before it.
    expect((await events()).slice(1)).toEqual([['subscription.changed', 'active']]);
  });

  test('The end of a cycle is news, also with fewer attempts than are known', async () => {
    const { merchant, tenant, create, webhook } = await start();
    const third = { ...CYCLE, number: 3, status: 'retrying', attempts: 2 };
    const id = create({ status: 'past_due', cycles: [third, PAID] });
    await merchant.find(tenant, id);
    const paid = { ...PAID, number: 3, attempts: 1, paymentId: 'psa_3' };
    for (const [status, cycle] of [
      ['active', paid],
      ['past_due', third],
    ])
      await webhook({ event: 'subscription.changed', subscriptionId: id, amountCents: 820, status, cycle });
    const { items } = await merchant.list(tenant, { end: 'first', limit: 1 });
    expect(items[0]!.resource.status).toBe('active');
    const cycles = await merchant.cycles(tenant, id, { end: 'first', limit: 5 });
    expect(cycles.items[0]).toMatchObject({ number: 3, status: 'paid', attempts: 2, paymentId: 'psa_3' });
  });

  test('An event of another family that names a subscription is none of its own', async () => {
    const { subscriptions } = await start();
    const { readWebhook } = subscriptions;
    expect(
      readWebhook({ event: 'refund.completed', refundId: 'ref_1', subscriptionId: 'psa_sub_1' }),
    ).toBeNull();
    expect(readWebhook({ event: 'payment.paid', paymentId: 'psa_1' })).toBeNull();
    for (const payload of [null, [], 'x', { subscriptionId: 7 }, { subscriptionId: 'psa_1' }])
      expect(readWebhook(payload)).toBeNull();
  });

  test('A code is shown where its CRC holds and it takes the amount of a cycle', async () => {
    const { merchant, tenant, create } = await start();
    const code = (amountCents: number) =>
      brCode({ url: 'pix.example/v2/1', amountCents, merchantName: 'Ana', merchantCity: 'SAO PAULO' });
    const ids = [code(820), code(821), `${code(820)}0`].map((pixCopyPaste) =>
      create({ status: 'pending', pixCopyPaste }),
    );
    const found = await merchant.findMany(tenant, ids);
    expect(found.map((each) => each?.brCode)).toEqual([code(820), null, null]);
  });

  test('A creation and a cancellation are not offered, and nothing is sent', async () => {
    const { merchant, tenant, script } = await start();
    await expect(merchant.create(tenant, { valueCents: 1, interval: 'weekly' })).rejects.toMatchObject(
      NOT_OFFERED,
    );
    await expect(merchant.cancel(tenant, 'psa_sub_1')).rejects.toMatchObject(NOT_OFFERED);
    expect(script.requests).toEqual([]);
  });

  test('A service without subscriptions differs from one without this subscription', async () => {
    const without = await start();
    await expect(without.merchant.find(without.tenant, 'psa_sub_none')).rejects.toMatchObject(NOT_OFFERED);
    const withThem = await start();
    withThem.script.on('GET', `${PATH}?limit=1`, () => ok({ subscriptions: [], total: 0 }));
    expect(await withThem.merchant.find(withThem.tenant, 'psa_sub_none')).toBeNull();
    expect(() => withThem.merchant.assertId('psa_1')).toThrow();
  });
});
