import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createOffsetClock, plusMs } from '../../server/src/kernel/clock.ts';
import { NotFoundError, ValidationError } from '../../server/src/kernel/errors.ts';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import type { StoredCardPayment } from '../../server/src/money-in/card-payments/model.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { approved, approvedLate, declinedForGood } from '../support/cards.ts';
import { createManualClock, type ManualClock } from '../support/clock.ts';
import { type Core, type CoreOptions, startCore } from '../support/core.ts';
import { describeOnDatabase } from '../support/database.ts';
import { deferred } from '../support/deferred.ts';
import { fund } from '../support/funds.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { ownMembers } from '../support/webhook-bodies.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const WAITS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR];

describeOnDatabase('webhooks', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  // Hours pass in these tests, and no test process follows the log meanwhile.
  const start = (options: Partial<CoreOptions> = {}) => startCore({ database, follows: false, ...options });

  describe('of a card payment', () => {
    test('A paid card payment sends one webhook to the account’s URL', async () => {
      const { core, receiver, secret } = await configured();
      const payment = await paid(core, {
        valueCents: 4990,
        customer: { name: 'Ana', email: 'ana@example.com', externalId: '7', taxId: '12345678909' },
        metadata: ' {"pedido": "\\u0000 1", "pão": "🧀"} ',
        externalId: '1042',
      });
      await core.pass(HOUR);

      expect(receiver.received).toHaveLength(1);
      const { headers, body } = receiver.received[0]!;
      expect(ownMembers(body)).toEqual({
        event: 'card_payment.paid',
        orderCode: payment.orderCode,
        amount: 49.9,
        status: 'paid',
        paidAt: payment.paidAt!.toISOString(),
        customer: { name: 'Ana', email: 'ana@example.com' },
        metadata: ' {"pedido": "\\u0000 1", "pão": "🧀"} ',
        orderId: '1042',
        externalId: '1042',
      });
      vi.useFakeTimers({ toFake: ['Date'], now: payment.paidAt! });
      onTestFinished(() => void vi.useRealTimers());
      expect(new Webhook(secret!).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body));
      const [delivery] = await listed(core);
      expect(delivery).toMatchObject({
        webhookId: headers['x-webhook-id'],
        event: 'card_payment.paid',
        url: receiver.url,
        status: 'delivered',
        attempts: 1,
        nextAttemptAt: null,
        createdAt: payment.paidAt,
      });
      expect(await attempts(core, delivery!.webhookId)).toEqual([
        { at: payment.paidAt, responseStatus: 200, error: null, durationMs: 0 },
      ]);
    });

    test('A webhook has the version and the instant of the state that it reports, however late it arrives', async () => {
      const { core, receiver } = await configured();
      await fund(core, { cents: 10_000 });
      const { payout } = await core.payouts.request(core.tenant, {
        method: 'pix',
        amountCents: 1_000,
        destination: 'ana@example.com',
        externalId: 'repasse 7',
      });
      await core.pass(HOUR);
      const [completed] = await core.payouts.findMany(core.tenant, [payout.withdrawalId!]);
      const requested = (await listed(core)).at(-1)!;
      await core.webhooks.redeliver(core.tenant, requested.webhookId);
      await core.work.settled();
      const first = ['withdrawal.requested', '1', payout.requestedAt!.toISOString()];
      const second = ['withdrawal.completed', `${completed!.version}`, completed!.processedAt!.toISOString()];
      expect(
        receiver.received.map(({ headers, body }) => [
          JSON.parse(body).event,
          headers['x-webhook-resource-version'],
          headers['x-webhook-occurred-at'],
        ]),
      ).toEqual([first, second, first]);
      for (const { body } of receiver.received) expect(JSON.parse(body).externalId).toBe('repasse 7');
    });

    test('A webhook has no customer without a name or email, and null in place of missing metadata', async () => {
      const { core, receiver } = await configured();
      await paid(core);
      await paid(core, { customer: { externalId: '7', taxId: '12345678909' } });
      await core.work.settled();
      for (const { body } of receiver.received) {
        expect(JSON.parse(body)).toMatchObject({ metadata: null });
        expect(JSON.parse(body)).not.toHaveProperty('customer');
      }
      expect(receiver.received).toHaveLength(2);
    });

    test('A webhook goes to the payment’s own callbackUrl in place of the account’s URL', async () => {
      const { core, receiver } = await configured();
      const own = await startReceiver();
      await paid(core, { callbackUrl: own.url });
      await core.work.settled();
      expect([receiver.received.length, own.received.length]).toEqual([0, 1]);
    });

    test('A webhook of an account without a URL is signed with the secret that the account is shown later', async () => {
      const core = await start();
      const own = await startReceiver();
      const payment = await paid(core, { callbackUrl: own.url });
      await core.work.settled();
      const { secret } = await core.webhooks.configure(core.tenant, { url: own.url });
      const { headers, body } = own.received[0]!;
      vi.useFakeTimers({ toFake: ['Date'], now: payment.paidAt! });
      onTestFinished(() => void vi.useRealTimers());
      new Webhook(secret!).verify(body, headers as Record<string, string>);
      expect((await core.webhooks.configure(core.tenant, { url: own.url })).secret).toBeNull();
    });

    test('A payment without any URL makes no webhook, also not when a URL is configured later', async () => {
      const core = await start();
      const receiver = await startReceiver();
      await paid(core);
      await core.webhooks.configure(core.tenant, { url: receiver.url });
      await core.pass(HOUR);
      expect(await listed(core)).toEqual([]);
      const payment = await paid(core);
      await core.work.settled();
      expect(receiver.received.map(({ body }) => JSON.parse(body).orderCode)).toEqual([payment.orderCode]);
    });

    test('A payment that is created, fails or expires sends no webhook, and a refund sends its own', async () => {
      const { core, receiver } = await configured();
      const { payment: failed } = await core.cardPayments.create(core.tenant, { valueCents: 4990 });
      await core.cardPayments.pay(failed.orderCode, declinedForGood());
      const { payment: expired } = await core.cardPayments.create(core.tenant, { valueCents: 4990 });
      await core.pass(HOUR);
      expect(await statuses(core, failed, expired)).toEqual(['failed', 'expired']);
      expect(receiver.received).toEqual([]);

      const refunded = await paid(core);
      await core.work.settled();
      await core.cardPayments.refund(core.tenant, refunded.orderCode);
      await core.work.settled();
      expect(await statuses(core, refunded)).toEqual(['refunded']);
      expect(receiver.received.map(({ body }) => JSON.parse(body).event)).toEqual([
        'card_payment.paid',
        'refund.completed',
      ]);
    });

    test('A payment that is approved late sends its webhook', async () => {
      const { core, receiver } = await configured();
      const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 4990 });
      await core.cardPayments.pay(payment.orderCode, approvedLate());
      await core.pass(HOUR);
      expect(receiver.received.map(({ body }) => JSON.parse(body).orderCode)).toEqual([payment.orderCode]);
    });
  });

  describe('are one transaction with what they announce', () => {
    test('A payment is not paid while its webhook cannot be written', async () => {
      const own = await open();
      const core = await start({ database: own });
      const receiver = await startReceiver();
      await core.webhooks.configure(core.tenant, { url: receiver.url });
      const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 4990 });
      await sql`alter table webhook_delivery add constraint refused check (false)`.execute(own.sql);
      await expect(core.cardPayments.pay(payment.orderCode, approved())).rejects.toThrow('refused');
      expect(await statuses(core, payment)).toEqual(['pending']);
      expect((await core.balances()).merchant_pending).toBe(0);
      expect(receiver.received).toEqual([]);

      await sql`alter table webhook_delivery drop constraint refused`.execute(own.sql);
      await core.pass(MINUTE);
      expect(await statuses(core, payment)).toEqual(['paid']);
      expect(receiver.received).toHaveLength(1);
    });

    test('A webhook is sent only after its payment is committed', async () => {
      const { core, receiver } = await configured();
      const seen: (string | undefined)[] = [];
      const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 4990 });
      const looked = deferred();
      receiver.answer = async (response) => {
        seen.push((await core.cardPayments.find(core.tenant, payment.orderCode))?.status);
        response.end();
        looked.resolve();
      };
      await core.cardPayments.pay(payment.orderCode, approved());
      await core.work.settled();
      await looked.promise;
      expect(seen).toEqual(['paid']);
    });
  });

  describe('to a receiver that fails', () => {
    test('A webhook to a failing receiver is sent seven times with the same id and body, and then no more', async () => {
      const { core, receiver } = await configured((response) => response.writeHead(500).end());
      const payment = await paid(core);
      await core.pass(24 * HOUR);

      const instants = [payment.paidAt!];
      for (const wait of WAITS) instants.push(plusMs(instants.at(-1)!, wait));
      const [delivery] = await listed(core);
      expect(delivery).toMatchObject({ status: 'exhausted', attempts: 7, nextAttemptAt: null });
      expect(await attempts(core, delivery!.webhookId)).toEqual(
        instants.map((at) => ({
          at,
          responseStatus: 500,
          error: 'the receiver answered 500',
          durationMs: 0,
        })),
      );
      expect(receiver.received).toHaveLength(7);
      expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
      for (const header of ['x-webhook-id', 'webhook-id'])
        expect(new Set(receiver.received.map(({ headers }) => headers[header]))).toEqual(
          new Set([delivery!.webhookId]),
        );
      // Standard Webhooks sign the time of the attempt, so each attempt has another signature.
      expect(receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']))).toEqual(
        instants.map((at) => Math.floor(at.getTime() / SECOND)),
      );
      expect(core.faults).toEqual([]);
    });

    test('A failed webhook shows the time of its next attempt', async () => {
      const { core } = await configured((response) => response.writeHead(500).end());
      const payment = await paid(core);
      await core.work.settled();
      expect((await listed(core))[0]).toMatchObject({
        status: 'pending',
        attempts: 1,
        nextAttemptAt: plusMs(payment.paidAt!, 5 * SECOND),
      });
      await core.pass(5 * SECOND);
      expect((await listed(core))[0]).toMatchObject({
        attempts: 2,
        nextAttemptAt: plusMs(payment.paidAt!, 35 * SECOND),
      });
    });

    test('A webhook arrives when its receiver has recovered', async () => {
      let failures = 3;
      const { core, receiver } = await configured((response) => {
        response.writeHead(failures-- > 0 ? 503 : 200).end();
      });
      await paid(core);
      await core.pass(24 * HOUR);
      expect((await listed(core))[0]).toMatchObject({ status: 'delivered', attempts: 4 });
      expect(receiver.received).toHaveLength(4);
    });

    test('A webhook waits five seconds for an answer, and no longer', async () => {
      const { core, receiver } = await configured(() => undefined);
      const came = receiver.next();
      const payment = await paid(core);
      core.work.start();
      await came;
      core.clock.advance(5 * SECOND);
      await core.work.settled();
      const [delivery] = await listed(core);
      expect(await attempts(core, delivery!.webhookId)).toEqual([
        {
          at: payment.paidAt,
          responseStatus: null,
          error: 'no complete answer within 5 seconds',
          durationMs: 5 * SECOND,
        },
      ]);
      expect(delivery!.nextAttemptAt).toEqual(plusMs(payment.paidAt!, 10 * SECOND));
    });

    test('A webhook is sent once where the clock is set back during its attempt', async () => {
      const base = createManualClock();
      const shared = createOffsetClock(base);
      const { core, receiver } = await configured(
        (response) => {
          shared.setOffset(-50);
          response.end();
        },
        undefined,
        { ...base, ...shared },
      );
      await paid(core);
      await core.work.settled();
      base.advance(MINUTE);
      await core.work.settled();
      expect(await listed(core)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
      expect(receiver.received).toHaveLength(1);
      expect(await attempts(core, await onlyId(core))).toMatchObject([{ error: null, durationMs: 0 }]);
    });

    test('A webhook is sent once where the clock is set ahead by months during its attempt', async () => {
      const base = createManualClock();
      const shared = createOffsetClock(base);
      let sent = 0;
      const send = () => async () => {
        sent += 1;
        shared.setOffset(100 * 24 * HOUR);
        return { responseStatus: 200, error: null, exchange: null };
      };
      const core = await start({ clock: { ...base, ...shared }, send });
      await core.webhooks.configure(core.tenant, { url: 'http://127.0.0.1:9/hook' });
      await paid(core);
      await core.work.settled();
      base.advance(MINUTE);
      await core.work.settled();
      expect(await listed(core)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
      expect(sent).toBe(1);
      expect(await attempts(core, await onlyId(core))).toMatchObject([{ durationMs: 2 ** 31 - 1 }]);
    });

    test('A webhook to a receiver that is down is not lost', async () => {
      const { core, receiver } = await configured();
      await receiver.shut();
      await paid(core);
      await core.pass(HOUR);
      const [delivery] = await listed(core);
      expect(delivery).toMatchObject({ status: 'pending', attempts: 5 });
      expect((await attempts(core, delivery!.webhookId)).map(({ error }) => error)).toEqual(
        Array.from({ length: 5 }, () => 'the connection was refused'),
      );
    });
  });

  describe('over a crash', () => {
    test.each(['before', 'after'] as const)(
      'A webhook of an instance that crashed %s the receiver was reached is sent by another instance',
      async (when) => {
        const [reached, die] = [deferred(), deferred()];
        const receiver = await startReceiver();
        // The clock of this instance stands still, so it renews no lease, like a dead one.
        const dying = await start({
          send: (real) => async (message) => {
            if (when === 'after') await real(message);
            reached.resolve();
            await die.promise;
            throw new Error('dead');
          },
        });
        await dying.webhooks.configure(dying.tenant, { url: receiver.url });
        await paid(dying);
        dying.work.start();
        await reached.promise;

        const other = await start({ tenant: dying.tenant, clock: createManualClock() });
        await other.pass(29 * SECOND);
        expect(receiver.received).toHaveLength(when === 'after' ? 1 : 0);
        await other.pass(SECOND);
        expect(receiver.received).toHaveLength(when === 'after' ? 2 : 1);
        expect(new Set(receiver.received.map(({ headers }) => headers['x-webhook-id'])).size).toBe(1);
        expect(await listed(other)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
        die.resolve();
        await dying.close();
      },
    );

    test('A webhook is sent again when the database failed between an answer and its record', async () => {
      const { core, receiver } = await configured();
      // The constraint is added before the webhook is due, because it is sent at once.
      await sql`alter table webhook_attempt add constraint refused check (false) not valid`.execute(
        database.sql,
      );
      try {
        await paid(core);
        await core.work.settled();
      } finally {
        await sql`alter table webhook_attempt drop constraint refused`.execute(database.sql);
      }
      expect(core.faults).toHaveLength(1);
      await core.pass(SECOND);
      expect(receiver.received).toHaveLength(2);
      expect(await listed(core)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
    });
  });

  describe('of one resource', () => {
    test('Webhooks of one resource arrive in order: a later one follows as soon as the earlier has arrived', async () => {
      let failures = 1;
      const { core, receiver } = await configured((response) => {
        response.writeHead(failures-- > 0 ? 500 : 200).end();
      });
      const payment = await paid(core);
      await announce(core, payment, 'second');
      await announce(core, payment, 'third');
      await core.work.settled();
      expect(metadata(receiver)).toEqual([null]);
      expect((await listed(core)).map(({ nextAttemptAt }) => nextAttemptAt?.getTime())).toEqual(
        [30, 30, 5].map((seconds) => plusMs(payment.paidAt!, seconds * SECOND).getTime()),
      );
      await core.pass(5 * SECOND - 1);
      expect(metadata(receiver)).toEqual([null]);
      await core.pass(1);
      expect(metadata(receiver)).toEqual([null, null, 'second', 'third']);
      expect((await listed(core)).map(({ status }) => status)).toEqual([
        'delivered',
        'delivered',
        'delivered',
      ]);
    });

    test('Webhooks of one commit arrive in order', async () => {
      const { core, receiver } = await configured();
      const payment = await paid(core);
      await announce(core, payment, 'second', 'third', 'fourth');
      await core.work.settled();
      expect(metadata(receiver)).toEqual([null, 'second', 'third', 'fourth']);
    });

    test('Webhooks of one resource arrive in order and at once when two instances send many', async () => {
      const { core, receiver } = await configured();
      const other = await start({ tenant: core.tenant, clock: core.clock });
      const payments = await Promise.all(Array.from({ length: 20 }, () => paid(core)));
      const words = ['second', 'third', 'fourth'];
      for (const word of words) await Promise.all(payments.map((payment) => announce(core, payment, word)));
      // Each delivery wakes the one that it holds back, and neither is sent twice.
      for (let round = 0; round < words.length; round += 1)
        await Promise.all([core.work.settled(), other.work.settled()]);
      expect(await core.webhooks.count(core.tenant, { status: ['pending'] })).toBe(0);
      expect(receiver.received).toHaveLength(80);
      for (const { orderCode } of payments) {
        const ofOne = receiver.received
          .map(({ body }) => JSON.parse(body))
          .filter((each) => each.orderCode === orderCode);
        expect(ofOne.map((each) => each.metadata)).toEqual([null, ...words]);
      }
    });

    test('A webhook waits for an earlier one of its resource for 30 seconds at most', async () => {
      const { core, receiver } = await configured((response, { body }) => {
        response.writeHead(JSON.parse(body).metadata === null ? 500 : 200).end();
      });
      const payment = await paid(core);
      await core.pass(10 * SECOND);
      await announce(core, payment, 'second');
      await core.pass(30 * SECOND - 1);
      expect(metadata(receiver)).toEqual([null, null, null]);
      await core.pass(1);
      expect(metadata(receiver)).toEqual([null, null, null, 'second']);
      expect((await listed(core)).map(({ status }) => status)).toEqual(['delivered', 'pending']);
    });

    test('A webhook that was given up delays no later one', async () => {
      const { core, receiver } = await configured((response) => response.writeHead(500).end());
      const payment = await paid(core);
      await core.pass(24 * HOUR);
      receiver.answer = (response) => response.end();
      await announce(core, payment, 'second');
      await core.work.settled();
      expect(metadata(receiver).at(-1)).toBe('second');
    });

    test('A failing webhook delays none of another resource, URL or merchant', async () => {
      const { core, receiver } = await configured((response) => response.writeHead(500).end());
      const elsewhere = await startReceiver();
      const payment = await paid(core);
      await paid(core);
      await announce(core, { ...payment, callbackUrl: elsewhere.url }, 'elsewhere');
      const { core: other } = await configured(undefined, elsewhere);
      await announce(other, payment, 'other');
      await core.work.settled();
      await other.work.settled();
      expect(receiver.received).toHaveLength(2);
      expect(metadata(elsewhere).sort()).toEqual(['elsewhere', 'other']);
    });
  });

  describe('sent again', () => {
    test('A redelivery keeps the id of its webhook and has a series of attempts of its own', async () => {
      const { core, receiver } = await configured((response) => response.writeHead(500).end());
      await paid(core);
      await core.pass(24 * HOUR);
      const webhookId = await onlyId(core);
      const again = await core.webhooks.redeliver(core.tenant, webhookId);
      expect(again).toMatchObject({
        webhookId,
        status: 'pending',
        attempts: 7,
        nextAttemptAt: core.clock.now(),
      });
      await core.pass(24 * HOUR);
      expect(await listed(core)).toMatchObject([{ webhookId, status: 'exhausted', attempts: 14 }]);

      receiver.answer = (response) => response.end();
      await core.webhooks.redeliver(core.tenant, webhookId);
      await core.work.settled();
      await core.webhooks.redeliver(core.tenant, webhookId);
      await core.work.settled();
      expect(await listed(core)).toMatchObject([{ webhookId, status: 'delivered', attempts: 16 }]);
      expect(
        new Set(receiver.received.map(({ headers, body }) => `${headers['x-webhook-id']} ${body}`)).size,
      ).toBe(1);
      expect(receiver.received).toHaveLength(16);
    });

    test('A redelivery of a waiting webhook is sent at once', async () => {
      const { core, receiver } = await configured((response) => response.writeHead(500).end());
      await paid(core);
      await core.pass(MINUTE);
      expect(receiver.received).toHaveLength(3);
      const webhookId = await onlyId(core);
      receiver.answer = (response) => response.end();
      await core.webhooks.redeliver(core.tenant, webhookId);
      await core.work.settled();
      expect(await listed(core)).toMatchObject([{ status: 'delivered', attempts: 4 }]);
      await core.pass(24 * HOUR);
      expect(receiver.received).toHaveLength(4);
    });

    test('A redelivery that is requested during the last attempt is sent when that attempt has failed', async () => {
      const { core, receiver } = await configured((response) => response.writeHead(500).end());
      await paid(core);
      await core.pass(2 * HOUR);
      const webhookId = await onlyId(core);
      const held = deferred<ServerResponse>();
      receiver.answer = (response) => held.resolve(response);
      core.clock.advance(8 * HOUR);
      const response = await held.promise;
      expect(await core.webhooks.redeliver(core.tenant, webhookId)).toMatchObject({ attempts: 6 });
      receiver.answer = (later) => later.end();
      response.writeHead(500).end();
      await core.work.settled();
      expect(await listed(core)).toMatchObject([{ status: 'delivered', attempts: 8 }]);
    });

    test('A webhook shows its last 50 attempts', async () => {
      const { core } = await configured();
      await paid(core);
      await core.work.settled();
      const webhookId = await onlyId(core);
      for (let count = 0; count < 51; count += 1) {
        await core.webhooks.redeliver(core.tenant, webhookId);
        await core.pass(SECOND);
      }
      const shown = await attempts(core, webhookId);
      expect(shown).toHaveLength(50);
      expect(shown.at(-1)!.at.getTime() - shown[0]!.at.getTime()).toBe(49 * SECOND);
    });

    test.each([
      '',
      'whd_',
      'whd_\u0000',
      '\ud800',
      `whd_${'0'.repeat(24)}`,
      "'; drop table webhook_delivery; --",
    ])('A redelivery of an unknown webhook is refused: %j', async (webhookId) => {
      const core = await start();
      await expect(core.webhooks.redeliver(core.tenant, webhookId)).rejects.toThrow(NotFoundError);
      expect(await core.webhooks.findMany(core.tenant, [webhookId])).toEqual([null]);
    });

    test('A webhook of another merchant or environment is not found', async () => {
      const { core, receiver } = await configured();
      await paid(core);
      await core.work.settled();
      const webhookId = await onlyId(core);
      const strangers: Tenant[] = [(await start()).tenant, { ...core.tenant, environment: 'sandbox' }];
      for (const tenant of strangers) {
        await expect(core.webhooks.redeliver(tenant, webhookId)).rejects.toThrow(NotFoundError);
        expect(await core.webhooks.findMany(tenant, [webhookId])).toEqual([null]);
        expect(await core.webhooks.attemptsOf(tenant, [webhookId])).toEqual([[]]);
        expect((await core.webhooks.list(tenant, { end: 'first', limit: 50 })).items).toEqual([]);
        expect(await core.webhooks.count(tenant, {})).toBe(0);
      }
      await core.work.settled();
      expect(receiver.received).toHaveLength(1);
    });
  });

  describe('configured', () => {
    test('A new secret signs every webhook from then on, also those that wait, and the one before signs beside it for a day', async () => {
      const { core, receiver, secret } = await configured((response) => response.writeHead(500).end());
      await paid(core);
      await core.work.settled();
      const rotated = await core.webhooks.configure(core.tenant, { url: receiver.url, rotateSecret: true });
      expect(rotated.secret).not.toBe(secret);
      await core.pass(5 * SECOND);
      vi.useFakeTimers({ toFake: ['Date'], now: core.clock.now() });
      onTestFinished(() => void vi.useRealTimers());
      const verify = (key: string, index: number) =>
        new Webhook(key).verify(
          receiver.received[index]!.body,
          receiver.received[index]!.headers as Record<string, string>,
        );
      verify(secret!, 0);
      verify(rotated.secret!, 1);
      verify(secret!, 1);
      expect(rotated.previousSecretValidUntil).toEqual(plusMs(core.clock.now(), 24 * HOUR - 5 * SECOND));
      const { headers, body } = receiver.received[1]!;
      expect(headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
      const hmac = createHmac('sha256', rotated.secret!).update(body).digest('hex');
      expect(headers['x-webhook-signature']).toBe(hmac);

      await core.pass(24 * HOUR);
      const [delivery] = await listed(core);
      const before = receiver.received.length;
      await core.webhooks.redeliver(core.tenant, delivery!.webhookId);
      await core.work.settled();
      vi.setSystemTime(core.clock.now());
      verify(rotated.secret!, before);
      expect(() => verify(secret!, before)).toThrow('No matching signature');
    });

    test('A new URL receives new webhooks, and those under way keep the old URL', async () => {
      const { core, receiver } = await configured((response) => response.writeHead(500).end());
      await paid(core);
      await core.work.settled();
      const moved = await startReceiver();
      await core.webhooks.configure(core.tenant, { url: moved.url });
      await paid(core);
      await core.pass(5 * SECOND);
      expect([receiver.received.length, moved.received.length]).toEqual([2, 1]);
    });

    test('Each environment has its own webhook secret', async () => {
      const { core, secret } = await configured();
      const sandbox: Tenant = { ...core.tenant, environment: 'sandbox' };
      const other = await core.webhooks.configure(sandbox, { url: 'http://127.0.0.1:1/' });
      expect(other.secret).toMatch(/^whsec_/);
      expect(other.secret).not.toBe(secret);
    });

    test('Concurrent configurations create one secret, which is shown once', async () => {
      const core = await start();
      const urls = Array.from({ length: 20 }, (_, index) => `http://127.0.0.1:1/${index}`);
      const answers = await Promise.all(urls.map((url) => core.webhooks.configure(core.tenant, { url })));
      expect(answers.filter(({ secret }) => secret !== null)).toHaveLength(1);
    });

    test('A configuration with an invalid URL is refused and changes nothing', async () => {
      const { core, receiver } = await configured();
      await expect(
        core.webhooks.configure(core.tenant, { url: 'ftp://a.example', rotateSecret: true }),
      ).rejects.toThrow(ValidationError);
      await paid(core);
      await core.work.settled();
      expect(receiver.received).toHaveLength(1);
    });
  });

  async function configured(answer?: Receiver['answer'], given?: Receiver, clock?: ManualClock) {
    const core = await start(clock && { clock });
    const receiver = given ?? (await startReceiver(answer));
    const { secret } = await core.webhooks.configure(core.tenant, { url: receiver.url });
    return { core, receiver, secret };
  }
});

async function paid(core: Core, details: Partial<Parameters<Core['cardPayments']['create']>[1]> = {}) {
  const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 4990, ...details });
  const result = await core.cardPayments.pay(payment.orderCode, approved());
  expect(result.kind).toBe('paid');
  return result.payment;
}

/**
 * Announces again that a payment was paid, each time in one commit: no slice sends two webhooks of one resource like
 * this.
 */
function announce(core: Core, payment: StoredCardPayment, ...metadata: string[]): Promise<void> {
  return core.committer.change({
    tenant: core.tenant,
    read: async () => undefined,
    decide: () => ({
      outcome: undefined,
      writes: {
        events: metadata.map((text) => ({
          kind: 'card_payment.paid',
          resource: 'card_payment',
          resourceId: payment.orderCode,
          previousStatus: 'pending',
          snapshot: { ...payment, metadata: text },
        })),
      },
    }),
  });
}

const metadata = ({ received }: Receiver) => received.map(({ body }) => JSON.parse(body).metadata);

async function listed(core: Core) {
  return (await core.webhooks.list(core.tenant, { end: 'first', limit: 50 })).items.map(
    ({ delivery }) => delivery,
  );
}

async function onlyId(core: Core): Promise<string> {
  const deliveries = await listed(core);
  expect(deliveries).toHaveLength(1);
  return deliveries[0]!.webhookId;
}

async function attempts(core: Core, webhookId: string) {
  const [made] = await core.webhooks.attemptsOf(core.tenant, [webhookId]);
  return made!.map(({ at, responseStatus, error, durationMs }) => ({
    at,
    responseStatus,
    error,
    durationMs,
  }));
}

async function statuses(core: Core, ...payments: StoredCardPayment[]) {
  const found = await core.cardPayments.findMany(
    core.tenant,
    payments.map(({ orderCode }) => orderCode),
  );
  return found.map((payment) => payment?.status);
}
