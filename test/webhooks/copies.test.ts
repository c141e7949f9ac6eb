import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { ValidationError } from '../../server/src/kernel/errors.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { copiedWebhookId } from '../../server/src/webhooks/model.ts';
import { openFreshDatabase } from '../support/database.ts';
import { startReceiver } from '../support/receiver.ts';
import { cardPaid, createdCard, delivered, SECRET, startReceiving, withdrawal } from './receiving.ts';

let database: Database;
beforeAll(async () => {
  database = await openFreshDatabase();
});

const DAY_MS = 86_400_000;

test('A facade copies each verified webhook once to each endpoint that selects it, with its bytes, an id of its own and the secret of the endpoint', async () => {
  const receiving = await startReceiving({ database });
  const { endpoints, tenant, webhooks } = receiving;
  const [callback, all, payouts] = [await startReceiver(), await startReceiver(), await startReceiver()];
  await createdCard(receiving, 'PSC-1', callback.url);
  const created = await endpoints.create(tenant, { url: all.url });
  await endpoints.create(tenant, { url: payouts.url, events: ['withdrawal.completed'] });
  const sandbox = { ...tenant, environment: 'sandbox' as const };
  const inSandbox = await startReceiver();
  await endpoints.create(sandbox, { url: inSandbox.url });
  expect((await endpoints.list(tenant)).map(({ isOfAccount }) => isOfAccount)).toEqual([false, false]);

  const body = ` {"event" : "card_payment.paid", "orderCode":"PSC-1","status":"paid","amount":4.990e1}\n`;
  const paid = delivered(body, 'evt_1');
  const payout = delivered(withdrawal('w-1', 'completed'), 'evt_2');
  const unknown = delivered({ event: 'loyalty.points', points: 3 }, 'evt_3');
  for (const message of [paid, payout, unknown, paid, unknown])
    expect((await receiving.post(message)).status).toBe(200);
  const forged = {
    ...paid,
    headers: { ...paid.headers, 'x-webhook-id': 'evt_4', 'x-webhook-signature': '00' },
  };
  expect((await receiving.post(forged)).status).toBe(401);
  await receiving.work.settled();

  const idsOf = ({ received }: typeof all) => received.map(({ headers }) => headers['x-webhook-id']);
  expect(idsOf(callback)).toEqual(['evt_1']);
  expect(inSandbox.received).toEqual([]);
  const copy = all.received.find((each) => each.body === body)!;
  expect(copy.headers['webhook-id']).toBe(copy.headers['x-webhook-id']);
  expect(copy.headers['x-webhook-signature']).toBe(
    createHmac('sha256', created.secret).update(body).digest('hex'),
  );
  expect(callback.received[0]!.headers['x-webhook-signature']).toBe(
    createHmac('sha256', SECRET).update(body).digest('hex'),
  );
  vi.useFakeTimers({ toFake: ['Date'], now: receiving.clock.now() });
  onTestFinished(() => void vi.useRealTimers());
  new Webhook(created.secret).verify(copy.body, copy.headers as Record<string, string>);

  const { items } = await webhooks.list(tenant, {
    ...{ end: 'last', limit: 10, endpointId: created.endpointId },
  });
  expect(new Set(items.map(({ delivery }) => `${delivery.event} ${delivery.status}`))).toEqual(
    new Set(['card_payment.paid delivered', 'withdrawal.completed delivered', 'loyalty.points delivered']),
  );
  // Each copy is found in the log by the id that its receiver has got.
  expect(idsOf(all).toSorted()).toEqual(items.map(({ delivery }) => delivery.webhookId).toSorted());
  const log = await webhooks.findMany(tenant, idsOf(payouts) as string[]);
  expect(log).toEqual([expect.objectContaining({ event: 'withdrawal.completed', url: payouts.url })]);
  expect(receiving.faults.map(String)).toEqual([expect.stringContaining('none of the configured secrets')]);
});

test('A body without a name is copied as that of a payment which is paid', async () => {
  const receiving = await startReceiving({ database });
  const { endpoints, tenant } = receiving;
  const [paid, expired] = [await startReceiver(), await startReceiver()];
  await createdCard(receiving, 'PSC-9', 'https://shop.example/hook');
  await endpoints.create(tenant, { url: paid.url, events: ['card_payment.paid'] });
  await endpoints.create(tenant, { url: expired.url, events: ['card_payment.expired'] });
  await receiving.post(delivered({ orderCode: 'PSC-9', amount: 49.9 }, 'evt_9'));
  await receiving.work.settled();
  expect(paid.received).toHaveLength(1);
  expect(expired.received).toEqual([]);
});

test('A copy that failed is sent again under its id, which follows from the service’s, and a deleted endpoint gets none', async () => {
  const receiving = await startReceiving({ database });
  const { endpoints, tenant } = receiving;
  const receiver = await startReceiver((response) => response.writeHead(500).end());
  const { endpointId } = await endpoints.create(tenant, { url: receiver.url });
  await receiving.post(delivered(cardPaid('PSC-2'), 'evt_5'));
  await receiving.pass(DAY_MS);
  expect(receiver.received).toHaveLength(7);
  expect(new Set(receiver.received.map(({ headers }) => headers['x-webhook-id']))).toEqual(
    new Set([copiedWebhookId('evt_5', endpointId)]),
  );
  await receiving.post(delivered(cardPaid('PSC-3'), 'evt_6'));
  await endpoints.delete(tenant, endpointId);
  await receiving.work.settled();
  const count = receiver.received.length;
  await receiving.post(delivered(cardPaid('PSC-4'), 'evt_7'));
  await receiving.pass(DAY_MS);
  expect(receiver.received).toHaveLength(count);
});

test('An endpoint that leads back to the facade is refused', async () => {
  const { endpoints, tenant } = await startReceiving({ database });
  const back = 'https://facade.example/webhooks/psa';
  await expect(endpoints.create(tenant, { url: back })).rejects.toThrow(ValidationError);
  const { endpointId } = await endpoints.create(tenant, { url: 'https://loja.example/hook' });
  await expect(endpoints.update(tenant, { endpointId, url: `${back}?x=1` })).rejects.toThrow(
    'leads back to this server',
  );
});
