import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addAccount, addKey } from '../support/accounts.ts';
import { advanceClock } from '../support/advance-clock.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { approved } from '../support/cards.ts';
import { createManualClock } from '../support/clock.ts';
import type { GraphQLClient } from '../support/graphql.ts';
import { startReceiver } from '../support/receiver.ts';

const UPDATE = `__typename cursor occurredAt previousStatus
  delivery { webhookId status nextAttemptAt attempts { responseStatus } }`;
const ALL = `subscription ($after: String, $status: [WebhookDeliveryStatus!]) {
  allWebhookDeliveryUpdates(after: $after, status: $status) { ${UPDATE} } }`;
const ONE = `subscription ($webhookId: String!, $after: String) {
  webhookDeliveryUpdates(webhookId: $webhookId, after: $after) { ${UPDATE} } }`;
const REDELIVER = `mutation ($webhookId: String!) { redeliverWebhook(webhookId: $webhookId) { __typename } }`;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ clock: createManualClock() });
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

const cursorOf = async (client: GraphQLClient) =>
  (await client.request('{ updatesCursor }')).updatesCursor as string;
/** The status before and after of an update. */
const step = ({ previousStatus, delivery }: { previousStatus: string; delivery: { status: string } }) => [
  previousStatus,
  delivery.status,
];

/**
 * Creates a merchant whose receiver answers with a status, and a function that creates a delivery and attempts it
 * once.
 */
async function merchant(answered: { status: number }) {
  const accountId = await addAccount(app);
  const client = app.client(await addKey(app, { accountId }));
  const { url } = await startReceiver((response) => {
    response.statusCode = answered.status;
    response.end();
  });
  await client.request(`mutation { configureWebhook(input: { url: "${url}" }) { __typename } }`);
  const tenant = { accountId, environment: 'live' } as const;
  return {
    client,
    async happen() {
      const { payment } = await app.cardPayments.create(tenant, { valueCents: 4990 });
      await app.cardPayments.pay(payment.orderCode, approved());
      await app.work.settled();
    },
  };
}

describe('updates of webhook deliveries', () => {
  test('A delivery is announced at each change of its status, and not at an attempt that leaves it pending', async () => {
    const answered = { status: 503 };
    const { client, happen } = await merchant(answered);
    const before = await cursorOf(client);
    await happen();
    answered.status = 200;
    const {
      webhookDeliveries: { nodes },
    } = await client.request('{ webhookDeliveries { nodes { webhookId attempts { responseStatus } } } }');
    expect(nodes).toMatchObject([{ attempts: [{ responseStatus: 503 }] }]);
    const { webhookId } = nodes[0];
    await client.request(REDELIVER, { webhookId });
    await app.work.settled();
    await client.request(REDELIVER, { webhookId });
    await app.work.settled();

    const all = client.sse(ALL, { after: before });
    const updates: { cursor: string; delivery: { status: string }; previousStatus: string }[] = [];
    while (updates.length < 4) updates.push((await all.data()).allWebhookDeliveryUpdates);
    await all.close();
    expect(updates.map(step)).toEqual([
      [null, 'PENDING'],
      ['PENDING', 'DELIVERED'],
      ['DELIVERED', 'PENDING'],
      ['PENDING', 'DELIVERED'],
    ]);
    expect(new Set(updates.map(({ cursor }) => cursor)).size).toBe(4);
    expect(updates.map(({ delivery }) => delivery)).toMatchObject(updates.map(() => ({ webhookId })));

    // The stream continues after a cursor, also with a filter, and a single delivery's stream begins with its state.
    const rest = client.ws(ALL, { after: updates[1]!.cursor, status: ['DELIVERED'] });
    expect((await rest.data()).allWebhookDeliveryUpdates).toEqual(updates[3]);
    await rest.close();
    const one = client.ws(ONE, { webhookId });
    expect(step((await one.data()).webhookDeliveryUpdates)).toEqual([null, 'DELIVERED']);
    await client.request(REDELIVER, { webhookId });
    expect(step((await one.data()).webhookDeliveryUpdates)).toEqual(['DELIVERED', 'PENDING']);
    await one.close();
    await app.work.settled();
  });

  test('A delivery is exhausted once, and an update has the delivery as it then was', async () => {
    const { client, happen } = await merchant({ status: 500 });
    const all = client.ws(ALL, { after: await cursorOf(client) });
    await happen();
    const pending = (await all.data()).allWebhookDeliveryUpdates;
    expect(pending.delivery).toMatchObject({ status: 'PENDING', nextAttemptAt: pending.occurredAt });
    await advanceClock(app, 24 * 3_600_000);
    const exhausted = (await all.data()).allWebhookDeliveryUpdates;
    expect(step(exhausted)).toEqual(['PENDING', 'EXHAUSTED']);
    expect(exhausted.delivery).toMatchObject({ nextAttemptAt: null });
    expect(exhausted.delivery.attempts).toHaveLength(7);
    await all.close();
  });

  test('An account without a URL has no events of deliveries', async () => {
    const accountId = await addAccount(app);
    const { payment } = await app.cardPayments.create(
      { accountId, environment: 'live' },
      { valueCents: 4990 },
    );
    await app.cardPayments.pay(payment.orderCode, approved());
    const rows = await app.database.sql
      .selectFrom('event')
      .select('resource')
      .where('account_id', '=', accountId)
      .execute();
    expect(new Set(rows.map(({ resource }) => resource))).toEqual(new Set(['card_payment', 'wallet']));
  });

  test('A delivery that is not known, or has no possible name, is not found', async () => {
    const client = app.client(await addKey(app, { accountId: await addAccount(app) }));
    for (const webhookId of [`whd_${'0'.repeat(24)}`, '', '\u0000', 'x'.repeat(300)]) {
      const stream = client.ws(ONE, { webhookId });
      const { value } = await stream.next();
      expect(value.errors).toMatchObject([
        {
          message: 'Webhook delivery not found',
          extensions: { code: 'NOT_FOUND', retryPolicy: 'AFTER_CHANGE' },
        },
      ]);
      await stream.close();
    }
  });
});
