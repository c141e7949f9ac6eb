import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { ENVELOPE_MEMBERS, webhookEvent } from '../../server/src/kernel/webhook-event.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import type { WebhookDelivery } from '../../server/src/webhooks/model.ts';
import { DESCRIBED_WEBHOOKS, OPTIONAL_WEBHOOK_EVENTS } from '../../server/src/webhooks/sent-events.ts';
import { type Core, startCore } from '../support/core.ts';
import { describeOnDatabase } from '../support/database.ts';
import { startReceiver } from '../support/receiver.ts';
import { deliveryProblems } from '../support/webhook-schemas.ts';
import { authorise, causeEveryEvent, subscribe } from './every-event.ts';
import { HAPPENINGS, withRefusals } from './happenings.ts';

describeOnDatabase('The description of webhooks', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('Every event is described, and each delivery is as its description says, without a member more', async () => {
    const core = await startCore({ database, follows: false, pix: withRefusals });
    const receiver = await startReceiver();
    const optionalEvents = [...OPTIONAL_WEBHOOK_EVENTS];
    await core.webhooks.configure(core.tenant, { url: receiver.url, optionalEvents });
    await causeEveryEvent(core);

    const bodies = receiver.received.map(({ body }) => body);
    expect(bodies.flatMap(deliveryProblems)).toEqual([]);
    const sent = new Set(bodies.map((body) => JSON.parse(body).event as string));
    // An endpoint that is disabled has failed for days: webhooks/failing-endpoints.test.ts has its event.
    sent.add('webhook_endpoint.disabled');
    expect([...sent].sort()).toEqual(DESCRIBED_WEBHOOKS.map(({ event }) => event).sort());
    for (const { body, headers } of receiver.received) {
      const { id, occurredAt, version, sandbox, resource, ...own } = JSON.parse(body);
      expect([id, occurredAt, String(version), sandbox]).toEqual([
        ...['x-webhook-id', 'x-webhook-occurred-at', 'x-webhook-resource-version'].map(
          (name) => headers[name],
        ),
        false,
      ]);
      // The event names the resource by a member of its own, too.
      expect(Object.values(own), own.event).toContain(resource.id);
    }
    const [{ webhookId }] = (await core.webhooks.list(core.tenant, { end: 'first', limit: 1 })).items.map(
      ({ delivery }) => delivery,
    ) as [WebhookDelivery];
    const bytesOf = () =>
      receiver.received
        .filter(({ headers }) => headers['x-webhook-id'] === webhookId)
        .map(({ body }) => body);
    await core.webhooks.redeliver(core.tenant, webhookId);
    await core.work.settled();
    expect(new Set(bytesOf()).size).toBe(1);
    expect(bytesOf().length).toBeGreaterThan(1);
    expect(core.faults).toEqual([]);
  });

  test('In sandbox the events are as their descriptions say too', async () => {
    const core = await startCore({ database, follows: false });
    const sandbox: Core = { ...core, tenant: { ...core.tenant, environment: 'sandbox' } };
    const receiver = await startReceiver();
    const optionalEvents = [...OPTIONAL_WEBHOOK_EVENTS];
    await core.webhooks.configure(sandbox.tenant, { url: receiver.url, optionalEvents });
    for (const event of [
      ...(['payment.expired', 'payment.refunded', 'charge.expired', 'charge.refunded'] as const),
      ...([
        'return.completed',
        'withdrawal.processing',
        'delivery.delivered',
        'delivery.out_of_stock',
      ] as const),
    ])
      await HAPPENINGS[event](sandbox);
    await authorise(sandbox, await subscribe(sandbox, 'contente@psa.example'));
    const bodies = receiver.received.map(({ body }) => body);
    expect(bodies.flatMap(deliveryProblems)).toEqual([]);
    const sent = bodies.map((body) => JSON.parse(body).event as string);
    expect(sent.filter((event) => !event.includes('.test.'))).toEqual([]);
    expect(new Set(bodies.map((body) => JSON.parse(body).sandbox))).toEqual(new Set([true]));
    const named = [
      ...['charge.test.expired', 'charge.test.paid', 'charge.test.refunded'],
      ...['delivery.test.delivered', 'delivery.test.out_of_stock'],
      ...['payment.test.expired', 'payment.test.paid', 'payment.test.refunded', 'refund.test.completed'],
      'return.test.completed',
      ...['subscription.test.activated', 'subscription.test.paid'],
      ...['withdrawal.test.completed', 'withdrawal.test.processing', 'withdrawal.test.requested'],
    ];
    expect(sent).toEqual(expect.arrayContaining(named));
  });
});

test('No event has a member of its own with the name of one of the envelope', () => {
  const envelope = webhookEvent('x.y', { summary: '', optional: null, resource: 'x', members: {} }).body;
  for (const { event, body, resource } of DESCRIBED_WEBHOOKS)
    for (const member of ENVELOPE_MEMBERS) {
      const expected = member === 'resource' ? { properties: { type: { const: resource } } } : {};
      const schemaOf = (shape: typeof body.shape) =>
        z.toJSONSchema(shape[member] as z.ZodType, { io: 'input' });
      expect([event, schemaOf(body.shape)]).toMatchObject([event, expected]);
      if (member !== 'resource') expect(schemaOf(body.shape)).toEqual(schemaOf(envelope.shape));
    }
});

test.each([
  ['a member too many', { more: 1 }, 'additional properties'],
  ['no amount', { amountCents: undefined }, 'required property'],
  ['an amount in reais', { amountCents: 49.9 }, 'must be integer'],
  ['an instant without milliseconds', { paidAt: '2026-03-02T12:00:00Z' }, 'must match format'],
  ['another event', { event: 'payment.lost' }, 'is not described'],
  ['the resource of another event', { resource: { type: 'charge', id: 'psc_0' } }, 'equal to constant'],
])('A delivery with %s is none that the description shows', (_, change, problem) => {
  const body = {
    event: 'payment.paid',
    id: 'whd_0',
    occurredAt: '2026-03-02T12:00:00.000Z',
    version: 2,
    sandbox: false,
    resource: { type: 'payment', id: 'psa_0' },
    paymentId: 'psa_0',
    amountCents: 4990,
    status: 'paid',
    paidAt: '2026-03-02T12:00:00.000Z',
    metadata: null,
  };
  expect(deliveryProblems(JSON.stringify(body))).toEqual([]);
  expect(deliveryProblems(JSON.stringify({ ...body, ...change }))).toEqual([
    expect.stringContaining(problem),
  ]);
});
