import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { ValidationError } from '../../server/src/kernel/errors.ts';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { OPTIONAL_WEBHOOK_EVENTS, type OptionalWebhookEvent } from '../../server/src/webhooks/sent-events.ts';
import { payByPix } from '../catalogue/deliveries/sales.ts';
import { approved, approvedLate } from '../support/cards.ts';
import { type Core, type CoreOptions, startCore, startTwoCores } from '../support/core.ts';
import { describeOnDatabase } from '../support/database.ts';
import { readAfter } from '../support/events.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { ownMembers } from '../support/webhook-bodies.ts';
import { CHARGED, HAPPENINGS, type LoneEvent, SALE, withRefusals } from './happenings.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Causes all events that the optional webhooks report. */
async function happenAll(core: Core): Promise<void> {
  for (const happen of Object.values(HAPPENINGS)) await happen(core);
  await core.work.settled();
}

/** The documented events that `happenAll` sends besides the optional ones. */
const DOCUMENTED = [
  ...['card_payment.paid', 'charge.paid', 'payment.paid', 'refund.completed'],
  ...['withdrawal.completed', 'withdrawal.requested'],
];

const isOptional = ({ event }: { event: string }) => OPTIONAL_WEBHOOK_EVENTS.some((each) => each === event);
const bodies = ({ received }: Receiver) => received.map(({ body }) => ownMembers(body));
const names = (receiver: Receiver) => bodies(receiver).map(({ event }) => event as string);
const optional = (receiver: Receiver) => bodies(receiver).filter(isOptional);

describeOnDatabase('optional webhook events', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  // Hours pass in these tests, and no test process follows the log meanwhile.
  const start = (options: Partial<CoreOptions> = {}) =>
    startCore({ database, follows: false, pix: withRefusals, ...options });

  async function configured(optionalEvents?: OptionalWebhookEvent[]) {
    const core = await start();
    const receiver = await startReceiver();
    const { url } = receiver;
    const { secret } = await core.webhooks.configure(core.tenant, { url, optionalEvents });
    return { core, receiver, secret: secret! };
  }

  describe('that an account has opted into', () => {
    test.each(Object.keys(HAPPENINGS) as LoneEvent[])(
      'The event %s is sent exactly once where it was opted into, and verifies',
      async (event) => {
        const { core, receiver, secret } = await configured([event]);
        const expected = await HAPPENINGS[event](core);
        await core.work.settled();
        expect(optional(receiver)).toEqual([{ event, ...expected }]);

        const { headers, body } = receiver.received.find((each) => isOptional(JSON.parse(each.body)))!;
        const sentAt = Number(headers['webhook-timestamp']) * SECOND;
        vi.useFakeTimers({ toFake: ['Date'], now: sentAt });
        onTestFinished(() => void vi.useRealTimers());
        const verified = new Webhook(secret).verify(body, headers as Record<string, string>);
        expect(verified).toEqual({ ...JSON.parse(body), event, ...expected });
        expect(Number(headers['x-webhook-resource-version'])).toBeGreaterThan(0);
        expect(headers['x-webhook-occurred-at']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        await core.pass(24 * HOUR);
        expect(optional(receiver)).toHaveLength(1);
      },
    );

    test.each([
      ['nothing was said of them', undefined],
      ['the list is empty', []],
    ])('No optional event is sent where %s', async (_, optionalEvents) => {
      const { core, receiver } = await configured(optionalEvents as OptionalWebhookEvent[] | undefined);
      await happenAll(core);
      expect(optional(receiver)).toEqual([]);
      expect(names(receiver)).toEqual(expect.arrayContaining(DOCUMENTED));
    });

    test('With every event opted into, each change is sent once, beside the documented events', async () => {
      const { core, receiver } = await configured([...OPTIONAL_WEBHOOK_EVENTS]);
      await happenAll(core);
      const sent = receiver.received.map(({ body }) => body);
      expect(sent.filter((body, index) => sent.indexOf(body) !== index)).toEqual([]);
      expect(new Set(optional(receiver).map(({ event }) => event))).toEqual(new Set(Object.keys(HAPPENINGS)));
      expect(names(receiver)).toEqual(expect.arrayContaining(DOCUMENTED));
    });

    test.each(['card', 'pix', 'ltc'] as const)(
      'The end of a payment whose order another has paid by %s is not sent, and that of a payment of another order is',
      async (method) => {
        const { core, receiver } = await configured([...OPTIONAL_WEBHOOK_EVENTS]);
        const create = async (externalId: string) => ({
          canceled: (await core.cardPayments.create(core.tenant, { ...SALE, externalId })).payment,
          canceledPix: (await core.payments.create(core.tenant, { ...SALE, externalId })).payment,
          canceledLtc: (await core.payments.create(core.tenant, { ...SALE, externalId, method: 'ltc' }))
            .payment,
          card: (await core.cardPayments.create(core.tenant, { ...SALE, externalId })).payment,
          pix: (await core.payments.create(core.tenant, { ...SALE, externalId })).payment,
          ltc: (await core.payments.create(core.tenant, { ...SALE, externalId, method: 'ltc' })).payment,
        });
        const [paid, open] = [await create('1042'), await create('1043')];
        // The charge's externalId is a label: it belongs to no order.
        const { charge } = await core.charges.create(core.tenant, { ...CHARGED, externalId: '1042' });
        const kept = paid[method];
        if ('orderCode' in kept) await core.cardPayments.pay(kept.orderCode, approved());
        else if (kept.ltc)
          await core.litecoin.send(kept.ltc.address!, { litoshi: kept.ltc.litoshi, confirmations: 2 });
        else await payByPix(core, kept.paymentId);
        await core.work.settled();
        for (const { canceled, canceledPix, canceledLtc } of [paid, open]) {
          await core.cardPayments.cancel(core.tenant, canceled.orderCode);
          await core.payments.cancel(core.tenant, canceledPix.paymentId);
          await core.payments.cancel(core.tenant, canceledLtc.paymentId);
        }
        await core.pass(25 * HOUR);

        const idOf = (of: object) =>
          'orderCode' in of ? of.orderCode : 'paymentId' in of ? of.paymentId : null;
        const ended = bodies(receiver).filter(({ event }) => event.endsWith('.expired'));
        expect(ended.map((body) => body.chargeId ?? idOf(body)).sort()).toEqual(
          [charge.chargeId, ...Object.values(open).map(idOf)].sort(),
        );
        for (const payment of Object.values(paid).filter((each) => each !== kept))
          expect(
            'orderCode' in payment
              ? await core.cardPayments.find(core.tenant, payment.orderCode)
              : await core.payments.find(core.tenant, payment.paymentId),
          ).toMatchObject({ status: 'expired', returned: false, keptPayment: idOf(kept) });
      },
    );

    test('Money that comes after its order was paid is returned, and return.completed alone reports it', async () => {
      const { core, receiver } = await configured([...OPTIONAL_WEBHOOK_EVENTS]);
      const order = { ...SALE, externalId: '1042' };
      const late = (await core.cardPayments.create(core.tenant, order)).payment.orderCode;
      const byPix = (await core.payments.create(core.tenant, order)).payment.paymentId;
      const kept = (await core.cardPayments.create(core.tenant, order)).payment.orderCode;
      await core.cardPayments.pay(late, approvedLate());
      await core.cardPayments.pay(kept, approved());
      await payByPix(core, byPix);
      await core.pass(HOUR);
      expect(names(receiver).sort()).toEqual(['card_payment.paid', 'return.completed', 'return.completed']);
      const returned = bodies(receiver).filter(({ event }) => event === 'return.completed');
      const shown = { amountCents: 4990, cause: 'paid_elsewhere', orderId: '1042', keptPayment: kept };
      expect(returned.map(({ of }) => of.id).sort()).toEqual([late, byPix].sort());
      for (const body of returned) expect(body).toMatchObject({ ...shown, metadata: SALE.metadata });
    });

    test('The body of card_payment.paid is the same, byte for byte, whatever was opted into', async () => {
      const texts: string[] = [];
      for (const events of [undefined, [...OPTIONAL_WEBHOOK_EVENTS]]) {
        const { core, receiver } = await configured(events);
        const { payment } = await core.cardPayments.create(core.tenant, SALE);
        const { paidAt } = (await core.cardPayments.pay(payment.orderCode, approved())).payment;
        await core.work.settled();
        const { headers, body } = receiver.received[0]!;
        texts.push(body.replaceAll(payment.orderCode, 'PSC-1'));
        expect(texts.at(-1)).toBe(
          `{"event":"card_payment.paid","id":"${headers['x-webhook-id']}","occurredAt":"${paidAt!.toISOString()}",` +
            `"version":${headers['x-webhook-resource-version']},"sandbox":false,` +
            `"resource":{"type":"card_payment","id":"PSC-1"},"orderCode":"PSC-1","amount":49.9,"status":"paid",` +
            `"paidAt":"${paidAt!.toISOString()}","customer":{"name":"Ana","email":"ana@example.com"},` +
            `"metadata":" {\\"pedido\\": 1} "}`,
        );
      }
      expect(texts).toHaveLength(2);
    });

    test('A payment that is paid after it has expired sends card_payment.expired, and then card_payment.paid', async () => {
      const { core, receiver } = await configured(['card_payment.expired']);
      const { payment } = await core.cardPayments.create(core.tenant, SALE);
      await core.cardPayments.pay(payment.orderCode, approvedLate());
      await core.pass(HOUR);
      expect(names(receiver)).toEqual(['card_payment.expired', 'card_payment.paid']);
      expect(bodies(receiver)[0]).not.toHaveProperty('paidAt');
    });

    test('A lost dispute that is forgiven sends dispute.closed twice, with a greater version the second time', async () => {
      const { core, receiver } = await configured(['dispute.opened', 'dispute.closed']);
      const id = await core.controls.openDispute(core.tenant, { amountCents: 300 });
      await core.controls.closeDispute(core.tenant, id, 'lost');
      await core.work.settled();
      await core.controls.closeDispute(core.tenant, id, 'forgiven');
      await core.work.settled();
      expect(bodies(receiver).map(({ event, status, disputeId }) => [event, status, disputeId])).toEqual([
        ['dispute.opened', 'open', id],
        ['dispute.closed', 'lost', id],
        ['dispute.closed', 'forgiven', id],
      ]);
      const versions = receiver.received.map(({ headers }) => Number(headers['x-webhook-resource-version']));
      expect(versions).toEqual([...new Set(versions)].sort((left, right) => left - right));
    });

    test('The event of a dispute names its payment in `of` alone, for readers know the event of a payment by its id', async () => {
      const { core, receiver } = await configured(['dispute.opened']);
      const { payment } = await core.cardPayments.create(core.tenant, SALE);
      const { orderCode } = payment;
      await core.cardPayments.pay(orderCode, approved());
      const resource = { type: 'card_payment', id: orderCode } as const;
      await core.controls.disputePayment(core.tenant, resource, { amountCents: 300 });
      await core.work.settled();
      const opened = bodies(receiver).find(({ event }) => event === 'dispute.opened')!;
      expect(opened).toMatchObject({ of: resource });
      expect(Object.keys(opened)).toEqual([
        ...['event', 'disputeId', 'of', 'amountCents', 'status', 'reason'],
        ...['evidenceDueAt', 'createdAt', 'closedAt'],
      ]);
    });

    test('A dispute is in the log, each change once, with its state of that moment', async () => {
      const core = await start();
      const id = await core.controls.openDispute(core.tenant, { amountCents: 300, name: 'once' });
      await core.controls.openDispute(core.tenant, { amountCents: 300, name: 'once' });
      core.clock.advance(MINUTE);
      const closed = await core.controls.closeDispute(core.tenant, id, 'won');
      const log = await readAfter(database.sql, core.tenant, { after: 0, limit: 100 });
      const events = log.events.filter(({ resource }) => resource === 'dispute');
      expect(events.map(({ kind, previousStatus, snapshot }) => [kind, previousStatus, snapshot])).toEqual([
        ['dispute.open', null, { ...closed, version: 1, status: 'open', closedAt: null }],
        ['dispute.won', 'open', closed],
      ]);
    });
  });

  describe('with a choice that changes', () => {
    test('An event that is opted into later is sent from then on, and not for what was before', async () => {
      const { core, receiver } = await configured();
      await happenAll(core);
      const { url } = receiver;
      await core.webhooks.configure(core.tenant, { url, optionalEvents: [...OPTIONAL_WEBHOOK_EVENTS] });
      await core.pass(24 * HOUR);
      expect(optional(receiver)).toEqual([]);
      const { disputeId } = await HAPPENINGS['dispute.opened'](core);
      await core.work.settled();
      expect(optional(receiver)).toMatchObject([{ event: 'dispute.opened', disputeId }]);
    });

    test('An event that is opted out of is sent no more, and one that waits is still delivered', async () => {
      const { core, receiver } = await configured(['dispute.opened']);
      receiver.answer = (response) => response.writeHead(500).end();
      const { disputeId } = await HAPPENINGS['dispute.opened'](core);
      await core.work.settled();
      const none = await core.webhooks.configure(core.tenant, { url: receiver.url, optionalEvents: [] });
      expect(none.optionalEvents).toEqual([]);
      receiver.answer = (response) => response.end();
      await HAPPENINGS['dispute.opened'](core);
      await core.pass(HOUR);
      expect(bodies(receiver).map((body) => body.disputeId)).toEqual([disputeId, disputeId]);
    });

    test('A configuration without a list leaves the choice as it was', async () => {
      const { core, receiver } = await configured(['dispute.closed', 'dispute.opened']);
      const moved = await startReceiver();
      const answer = await core.webhooks.configure(core.tenant, { url: moved.url, rotateSecret: true });
      expect(answer.optionalEvents).toEqual(['dispute.opened', 'dispute.closed']);
      await HAPPENINGS['dispute.opened'](core);
      await core.work.settled();
      expect([names(receiver), names(moved)]).toEqual([[], ['dispute.opened']]);
    });

    test('Duplicates in the list are harmless', async () => {
      const { core, receiver } = await configured(['dispute.opened', 'dispute.opened', 'dispute.opened']);
      const again = await core.webhooks.configure(core.tenant, { url: receiver.url });
      expect(again.optionalEvents).toEqual(['dispute.opened']);
      await HAPPENINGS['dispute.opened'](core);
      await core.work.settled();
      expect(receiver.received).toHaveLength(1);
    });

    test('A configuration with UNKNOWN or an invalid URL is refused and changes nothing', async () => {
      const { core, receiver } = await configured(['dispute.opened']);
      const { url } = receiver;
      const refused = core.webhooks.configure(core.tenant, {
        url: `${url}/other`,
        rotateSecret: true,
        optionalEvents: ['card_payment.failed', 'unknown'],
      });
      await expect(refused).rejects.toThrow(ValidationError);
      await expect(refused).rejects.toMatchObject({ fields: [{ path: 'input.optionalEvents' }] });
      await expect(
        core.webhooks.configure(core.tenant, { url: 'ftp://a.example', optionalEvents: [] }),
      ).rejects.toThrow(ValidationError);
      const after = await core.webhooks.configure(core.tenant, { url });
      expect(after).toMatchObject({
        url,
        enabled: true,
        secret: null,
        optionalEvents: ['dispute.opened'],
        previousSecretValidUntil: null,
      });
    });

    test('The choice of one instance holds for the next event of every other', async () => {
      const [one, two] = await startTwoCores();
      const receiver = await startReceiver();
      const { url } = receiver;
      const choices: OptionalWebhookEvent[][] = [['dispute.opened'], [], ['dispute.opened']];
      for (const optionalEvents of choices) {
        await one.webhooks.configure(one.tenant, { url, optionalEvents });
        await two.controls.openDispute(two.tenant, { amountCents: 100 });
      }
      await two.work.settled();
      expect(names(receiver)).toEqual(['dispute.opened', 'dispute.opened']);
    });

    test('Every merchant and every environment has its own choice', async () => {
      const { core, receiver } = await configured(['dispute.opened']);
      const other = await start();
      const sandbox: Tenant = { ...core.tenant, environment: 'sandbox' };
      for (const tenant of [other.tenant, sandbox]) {
        const answer = await core.webhooks.configure(tenant, { url: receiver.url });
        expect(answer.optionalEvents).toEqual([]);
      }
      await HAPPENINGS['dispute.opened'](other);
      await other.work.settled();
      expect(receiver.received).toEqual([]);
    });

    test('The events of a payout in sandbox have its names', async () => {
      const core = await start();
      const receiver = await startReceiver();
      const sandbox: Tenant = { ...core.tenant, environment: 'sandbox' };
      const inSandbox = { ...core, tenant: sandbox };
      const { url } = receiver;
      await core.webhooks.configure(sandbox, { url, optionalEvents: ['withdrawal.processing'] });
      const expected = await HAPPENINGS['withdrawal.processing'](inSandbox);
      expect(names(receiver)).toEqual([
        'withdrawal.test.requested',
        'withdrawal.test.processing',
        'withdrawal.test.completed',
      ]);
      const event = 'withdrawal.test.processing';
      expect(bodies(receiver)[1]).toEqual({ event, ...expected });
      expect(receiver.received.map(({ body }) => JSON.parse(body).sandbox)).toEqual([true, true, true]);
    });

    test('A server of the version before leaves the choice as it is', async () => {
      const { core, receiver } = await configured(['dispute.opened']);
      // The older server's statement, which does not name the column.
      await sql`
        insert into webhook_endpoint (account_id, environment, url, secret, secret_shown)
        values (${core.tenant.accountId}, ${core.tenant.environment}, ${receiver.url}, 'whsec_0', true)
        on conflict (account_id, environment) do update
          set url = excluded.url, secret = excluded.secret, secret_shown = excluded.secret_shown
      `.execute(database.sql);
      const answer = await core.webhooks.configure(core.tenant, { url: receiver.url });
      expect(answer.optionalEvents).toEqual(['dispute.opened']);
    });

    test('A choice that a newer version has stored stays while the list is left out', async () => {
      const { core, receiver } = await configured(['dispute.opened']);
      await sql`
        update webhook_endpoint set optional_events = '{dispute.opened,invoice.sent}'
        where account_id = ${core.tenant.accountId}
      `.execute(database.sql);
      const { url } = receiver;
      expect((await core.webhooks.configure(core.tenant, { url })).optionalEvents).toEqual([
        'dispute.opened',
        'invoice.sent',
      ]);
      const optionalEvents = ['dispute.closed'] as const;
      const replaced = await core.webhooks.configure(core.tenant, { url, optionalEvents });
      expect(replaced.optionalEvents).toEqual(['dispute.closed']);
    });
  });

  describe('of a payment with its own callbackUrl', () => {
    const CARD_EVENTS = ['card_payment.expired', 'card_payment.failed', 'card_payment.refunded'] as const;

    test.each(CARD_EVENTS)('The event %s goes to the callbackUrl alone', async (event) => {
      const { core, receiver } = await configured([event]);
      const own = await startReceiver();
      const expected = await HAPPENINGS[event](core, own.url);
      await core.work.settled();
      expect(receiver.received).toEqual([]);
      expect(optional(own)).toEqual([{ event, ...expected }]);
    });

    test('An account without a configured URL has opted into nothing, so its callbackUrl gets none', async () => {
      const core = await start();
      const own = await startReceiver();
      for (const event of CARD_EVENTS) await HAPPENINGS[event](core, own.url);
      await core.work.settled();
      expect(names(own)).toEqual(['card_payment.paid', 'refund.completed']);
      const { optionalEvents } = await core.webhooks.configure(core.tenant, { url: own.url });
      expect(optionalEvents).toEqual([]);
    });
  });

  describe('in their order', () => {
    const versions = ({ received }: Receiver) =>
      received
        .filter(({ body }) => JSON.parse(body).event !== 'refund.completed')
        .map(({ headers, body }) => [
          JSON.parse(body).event,
          Number(headers['x-webhook-resource-version']),
          headers['x-webhook-occurred-at'],
        ]);

    test('A refund waits for its payment’s earlier event, and a redelivery keeps its place in the order', async () => {
      const { core, receiver } = await configured(['card_payment.refunded']);
      let failures = 1;
      receiver.answer = (response) => response.writeHead(failures-- > 0 ? 500 : 200).end();
      const { payment } = await core.cardPayments.create(core.tenant, SALE);
      const paid = (await core.cardPayments.pay(payment.orderCode, approved())).payment;
      await core.work.settled();
      core.clock.advance(SECOND);
      await core.cardPayments.refund(core.tenant, payment.orderCode);
      await core.pass(MINUTE);
      const refunded = (await core.cardPayments.find(core.tenant, payment.orderCode))!;
      const first = ['card_payment.paid', paid.version, paid.paidAt!.toISOString()];
      const second = ['card_payment.refunded', refunded.version, refunded.refundedAt!.toISOString()];
      expect(refunded.version).toBeGreaterThan(paid.version);
      expect(versions(receiver)).toEqual([first, first, second]);

      const { items } = await core.webhooks.list(core.tenant, { end: 'first', limit: 10 });
      for (const { delivery } of items) {
        await core.webhooks.redeliver(core.tenant, delivery.webhookId);
        await core.work.settled();
      }
      // The newest arrives first: a receiver that compares the versions skips the last one.
      expect(versions(receiver).slice(3)).toEqual([second, first]);
    });

    test('A refund, a dispute and delivered content wait behind their payment, to the same address', async () => {
      const { core, receiver } = await configured(['dispute.opened', 'delivery.delivered']);
      const product = await core.products.create(core.tenant, { name: 'Curso', priceCents: 4990 });
      await core.deliveries.create(core.tenant, { productId: product.id, content: { text: 'Obrigada!' } });
      let failures = 1;
      receiver.answer = (response) => response.writeHead(failures-- > 0 ? 503 : 200).end();
      const { payment } = await core.payments.create(core.tenant, { productId: product.id });
      await core.pix.pay({ txid: txidOf(payment.paymentId) });
      await core.payments.receive(core.tenant, payment.paymentId);
      const resource = { type: 'payment', id: payment.paymentId } as const;
      await core.refunds.request(core.tenant, resource, { amountCents: 990 });
      await core.work.settled();
      await core.controls.disputePayment(core.tenant, resource, { amountCents: 1000 });
      await core.work.settled();
      expect(names(receiver)).toEqual(['payment.paid']);
      await core.pass(MINUTE);
      expect(names(receiver)).toEqual([
        ...['payment.paid', 'payment.paid', 'delivery.delivered', 'refund.completed', 'dispute.opened'],
      ]);
    });

    test('What follows a payment waits for it no longer than the bound', async () => {
      const { core, receiver } = await configured([]);
      receiver.answer = (response, { body }) =>
        response.writeHead(JSON.parse(body).event === 'payment.paid' ? 503 : 200).end();
      const { payment } = await core.payments.create(core.tenant, SALE);
      await core.pix.pay({ txid: txidOf(payment.paymentId) });
      await core.payments.receive(core.tenant, payment.paymentId);
      await core.refunds.request(core.tenant, { type: 'payment', id: payment.paymentId }, {});
      await core.pass(29 * SECOND);
      expect(new Set(names(receiver))).toEqual(new Set(['payment.paid']));
      await core.pass(2 * SECOND);
      expect(names(receiver).filter((name) => name !== 'payment.paid')).toEqual(['refund.completed']);
    });

    test('The events of a payout come as requested, processing and completed, with growing versions', async () => {
      const { core, receiver } = await configured(['withdrawal.processing']);
      await HAPPENINGS['withdrawal.processing'](core);
      const order = versions(receiver);
      expect(order.map(([event, version]) => [event, version])).toEqual([
        ['withdrawal.requested', 1],
        ['withdrawal.processing', 2],
        ['withdrawal.completed', 3],
      ]);
      const instants = order.map(([, , at]) => at as string);
      expect(instants).toEqual([...instants].sort());
    });
  });
});
