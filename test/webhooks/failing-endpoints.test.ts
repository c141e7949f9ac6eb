import { beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../server/src/kernel/clock.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { countEndpoints } from '../../server/src/webhooks/endpoint-store.ts';
import { approved } from '../support/cards.ts';
import { type Core, startCore } from '../support/core.ts';
import { openFreshDatabase } from '../support/database.ts';
import { readAfter } from '../support/events.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { deliveryProblems } from '../support/webhook-schemas.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const PAID = 'card_payment.paid';
const DISABLED = 'webhook_endpoint.disabled';

let database: Database;
beforeAll(async () => {
  database = await openFreshDatabase();
});

const fail: Receiver['answer'] = (response) => response.writeHead(503).end();
const accept: Receiver['answer'] = (response) => response.end();

/** An account with a URL, an endpoint that fails, and one that is sent the event of it. */
async function failing() {
  const core = await startCore({ database, follows: false });
  const [ofAccount, broken, other] = [
    await startReceiver(fail),
    await startReceiver(fail),
    await startReceiver(),
  ];
  await core.webhooks.configure(core.tenant, { url: ofAccount.url, optionalEvents: [DISABLED] });
  const { endpointId } = await core.webhookEndpoints.create(core.tenant, {
    ...{ url: `${broken.url}?token=segredo`, events: [PAID, DISABLED] },
  });
  await core.webhookEndpoints.create(core.tenant, { url: other.url, events: [DISABLED] });
  const endpoint = async () => (await core.webhookEndpoints.findMany(core.tenant, [endpointId]))[0]!;
  const log = async (status?: 'held' | 'pending' | 'delivered' | 'exhausted' | 'canceled') =>
    (
      await core.webhooks.list(core.tenant, {
        ...{ end: 'last', limit: 100, endpointId, status: status && [status] },
      })
    ).items
      .map(({ delivery }) => delivery)
      .reverse();
  return { core, ofAccount, broken, other, endpointId, endpoint, log };
}

async function pay(core: Core): Promise<void> {
  const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 4_990 });
  await core.cardPayments.pay(payment.orderCode, approved());
  await core.work.settled();
}

/** Lets an endpoint fail until it is disabled: 21 attempts in half a day, and one more after five days. */
async function disable(core: Core): Promise<void> {
  for (let nth = 0; nth < 3; nth += 1) await pay(core);
  await core.pass(5 * DAY_MS);
  await pay(core);
}

describe('an endpoint that fails for days', () => {
  test('It is disabled after five days and twenty attempts, and the account’s other endpoints are sent that', async () => {
    const { core, ofAccount, broken, other, endpointId, endpoint } = await failing();
    const failingSince = core.clock.now();
    const before = await core.webhooks.settings(core.tenant);
    expect(before).toMatchObject({ failingSince: null });
    for (let nth = 0; nth < 3; nth += 1) await pay(core);
    await core.pass(5 * DAY_MS - HOUR_MS);
    await pay(core);
    expect(await endpoint()).toMatchObject({ failingSince, disabledAt: null });
    await core.pass(2 * HOUR_MS);
    const { disabledAt } = await endpoint();
    expect(disabledAt).not.toBeNull();
    expect(disabledAt!.getTime()).toBeGreaterThanOrEqual(failingSince.getTime() + 5 * DAY_MS);
    expect(other.received.map(({ body }) => JSON.parse(body))).toEqual([
      expect.objectContaining({
        ...{ event: DISABLED, endpointId, failedAttempts: expect.any(Number) },
        url: `${new URL(broken.url).origin}/***`,
        failingSince: failingSince.toISOString(),
        disabledAt: disabledAt!.toISOString(),
        resource: { type: 'webhook_endpoint', id: endpointId },
      }),
    ]);
    expect(other.received.flatMap(({ body }) => deliveryProblems(body))).toEqual([]);
    expect(ofAccount.received.some(({ body }) => JSON.parse(body).event === DISABLED)).toBe(true);
    // The URL of the account fails as long, and is not disabled.
    expect(await core.webhooks.settings(core.tenant)).toMatchObject({ failingSince, disabledAt: null });
    expect(await countEndpoints(database.sql)).toEqual(
      expect.arrayContaining([{ status: 'disabled_by_failures', count: 1 }]),
    );
    expect(core.faults.map(String)).toEqual([expect.stringContaining(`${endpointId} of`)]);
    core.faults.length = 0;
  });

  test('A few attempts in a month do not disable it, and a success begins the count again', async () => {
    const { core, broken, endpoint } = await failing();
    for (let nth = 0; nth < 2; nth += 1) await pay(core);
    await core.pass(30 * DAY_MS);
    expect((await endpoint()).disabledAt).toBeNull();
    broken.answer = accept;
    await pay(core);
    expect(await endpoint()).toMatchObject({ failingSince: null, disabledAt: null });
    broken.answer = fail;
    await pay(core);
    await core.pass(10 * DAY_MS);
    expect((await endpoint()).disabledAt).toBeNull();
  });

  test('Its new deliveries are held, one of them is tried once a day, and a success sends all, oldest first, ten a second', async () => {
    const { core, broken, endpointId, endpoint, log } = await failing();
    await disable(core);
    const { disabledAt } = await endpoint();
    expect(disabledAt).not.toBeNull();
    for (let nth = 0; nth < 52; nth += 1) await pay(core);
    const held = await log('held');
    // The one whose attempt has disabled the endpoint, and the new ones.
    expect(held).toHaveLength(53);
    expect(held.map(({ nextAttemptAt }) => nextAttemptAt)).toEqual(held.map(() => null));
    broken.received.length = 0;
    await core.pass(3 * DAY_MS);
    // Those that were never tried come first: an endpoint may refuse one of them for ever.
    expect(broken.received.map(({ headers }) => headers['x-webhook-id'])).toEqual(
      held.slice(1, 4).map(({ webhookId }) => webhookId),
    );
    expect(await log('held')).toHaveLength(53);
    const times: number[] = [];
    let enabled: Promise<unknown> | undefined;
    broken.answer = (response) => {
      times.push(core.clock.ms());
      // That it is enabled once more begins no second release.
      if (times.length === 9)
        enabled = core.webhookEndpoints.update(core.tenant, { endpointId, enabled: true });
      response.end();
    };
    broken.received.length = 0;
    await core.pass(DAY_MS + HOUR_MS);
    await enabled;
    expect(await endpoint()).toMatchObject({ failingSince: null, disabledAt: null });
    expect(await log('held')).toEqual([]);
    const sent = broken.received.map(({ headers }) => headers['x-webhook-id']);
    const ids = held.map(({ webhookId }) => webhookId);
    expect(sent).toEqual([ids[4], ...ids.toSpliced(4, 1)]);
    expect(times.slice(2).map((at, nth) => at - times[nth + 1]!)).toEqual(Array(51).fill(100));
    await pay(core);
    expect(broken.received).toHaveLength(54);
    core.faults.length = 0;
  });

  test.each([
    ['another URL', (url: string) => ({ url })],
    ['the word that it is repaired', () => ({ enabled: true })],
  ])('With %s it is enabled again at once, and what was held goes to its URL of now', async (_, change) => {
    const { core, broken, endpointId, endpoint, log } = await failing();
    await disable(core);
    await pay(core);
    expect(await log('held')).toHaveLength(2);
    const repaired = await startReceiver();
    const input = change(repaired.url);
    const target = 'url' in input ? repaired : broken;
    broken.answer = accept;
    target.received.length = 0;
    await core.webhookEndpoints.update(core.tenant, { endpointId, ...input });
    await core.pass(SECOND_MS);
    expect(target.received).toHaveLength(2);
    expect(await endpoint()).toMatchObject({ failingSince: null, disabledAt: null });
    await core.pass(2 * DAY_MS);
    expect(target.received).toHaveLength(2);
    core.faults.length = 0;
  });

  test('One that is switched off is not tried, and gets what was held once it is switched on', async () => {
    const { core, broken, endpointId, log } = await failing();
    await disable(core);
    await pay(core);
    const moved = await startReceiver();
    broken.answer = accept;
    broken.received.length = 0;
    await core.webhookEndpoints.update(core.tenant, { endpointId, enabled: false });
    await core.pass(2 * DAY_MS);
    await core.webhookEndpoints.update(core.tenant, { endpointId, url: moved.url });
    await core.pass(2 * DAY_MS);
    expect([broken.received, moved.received]).toEqual([[], []]);
    expect(await log('held')).toHaveLength(2);
    await core.webhookEndpoints.update(core.tenant, { endpointId, enabled: true });
    await core.pass(SECOND_MS);
    expect([broken.received.length, moved.received.length]).toEqual([0, 2]);
    core.faults.length = 0;
  });

  test('A merchant tries it with one of the held, and a deleted endpoint has them canceled', async () => {
    const { core, broken, endpointId, log } = await failing();
    await disable(core);
    await pay(core);
    const [first, second] = await log('held');
    broken.received.length = 0;
    await core.webhooks.redeliver(core.tenant, second!.webhookId);
    await core.work.settled();
    expect(broken.received).toHaveLength(1);
    expect((await log('held')).map(({ webhookId }) => webhookId)).toEqual([
      first!.webhookId,
      second!.webhookId,
    ]);
    await core.webhookEndpoints.delete(core.tenant, endpointId);
    await core.work.settled();
    expect(await log('canceled')).toHaveLength(2);
    await core.pass(2 * DAY_MS);
    expect(broken.received).toHaveLength(1);
    const { events } = await readAfter(database.sql, core.tenant, { after: 0, limit: 1_000 });
    const kinds = events.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === DISABLED)).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'webhook_delivery.canceled')).toHaveLength(2);
    core.faults.length = 0;
  });
});

test('An attempt at a URL of before says nothing of an endpoint', async () => {
  const { core, endpointId, endpoint } = await failing();
  await pay(core);
  const since = (await endpoint()).failingSince;
  expect(since).not.toBeNull();
  const other = await startReceiver();
  await core.webhookEndpoints.update(core.tenant, { endpointId, url: other.url });
  await core.pass(HOUR_MS);
  expect((await endpoint()).failingSince).toBeNull();
});
