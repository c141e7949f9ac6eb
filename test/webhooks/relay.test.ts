import { request as httpRequest } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { plusMs } from '../../server/src/kernel/clock.ts';
import { PreconditionError } from '../../server/src/kernel/errors.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { signedHeaders } from '../../server/src/webhooks/signing.ts';
import { describeOnDatabase } from '../support/database.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import {
  cardPaid,
  createdCard,
  createdPayment,
  delivered,
  OTHER_FAMILIES,
  type Receiving,
  SECRET,
  sign,
  startReceiving,
  withdrawal,
} from './receiving.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const WAITS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR];

describeOnDatabase('a card event', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  // Each test has its own ids of deliveries, which belong to one merchant at the service.
  let tests = 0;
  const named = (name: string) => `${name}-${tests}`;
  beforeEach(() => {
    tests += 1;
  });

  /** Creates a payment with a merchant's callbackUrl. */
  async function sold(options: Partial<Parameters<typeof startReceiving>[0]> = {}) {
    const receiving = await startReceiving({ database, ...options });
    const receiver = await startReceiver();
    await createdCard(receiving, named('PSC-1'), receiver.url);
    return { receiving, receiver };
  }

  const listed = async ({ webhooks, tenant }: Receiving) =>
    (await webhooks.list(tenant, { end: 'first', limit: 100 })).items.map(({ delivery }) => delivery);

  test('A card event goes to the payment’s callbackUrl byte for byte, with its own headers, which verify', async () => {
    const { receiving, receiver } = await sold();
    // The body is written as no serializer of the server would write it.
    const body =
      ` {"orderCode":\t"${named('PSC-1')}", ` +
      '"type":"card_payment.paid","amount":4.990e1,"status":"paid" ,\r\n' +
      '"metadata":"{\\"p\\u00e3o\\": \\"🧀 \\u0000\\ud800\\"}", "amount":49.90, "customer":{"name":"Ana  Çã\u2028"}}\n';
    const at = receiving.clock.now();
    const headers = {
      'content-type': 'application/json; charset=UTF-8; profile="A"',
      ...signedHeaders({
        webhookId: named('evt 7/~'),
        body,
        secrets: [SECRET],
        at,
        resourceVersion: 3,
        occurredAt: at,
      }),
    };
    const more = { authorization: 'Bearer no', cookie: 'no=1' };
    expect((await receiving.post({ body, headers: { ...headers, ...more } })).status).toBe(200);
    await receiving.work.settled();

    expect(receiver.received).toHaveLength(1);
    const [got] = receiver.received;
    expect(Buffer.from(got!.body)).toEqual(Buffer.from(body));
    expect(got!.headers).toMatchObject(headers);
    expect(got!.headers).not.toHaveProperty('authorization');
    expect(got!.headers).not.toHaveProperty('cookie');
    expect(got!.headers['x-webhook-signature']).toBe(sign(body).digest('hex'));
    vi.useFakeTimers({ toFake: ['Date'], now: at });
    onTestFinished(() => void vi.useRealTimers());
    expect(new Webhook(SECRET).verify(got!.body, got!.headers as Record<string, string>)).toEqual(
      JSON.parse(body),
    );
    expect(await receiving.mirror()).toEqual({ [named('card_payment PSC-1')]: 'paid' });
    expect(receiving.faults).toEqual([]);
  });

  test.each([
    ['base64', { 'x-webhook-signature': (body: string) => sign(body).digest('base64') }],
    ['a prefix', { 'x-webhook-signature': (body: string) => `sha256=${sign(body).digest('hex')}` }],
  ])(
    'A relayed event keeps its signature unchanged (%s), and gets no additional header',
    async (_, forms) => {
      const { receiving, receiver } = await sold();
      const { body } = delivered(cardPaid(named('PSC-1')));
      const headers = { 'x-webhook-signature': forms['x-webhook-signature'](body) };
      await receiving.post({ body, headers });
      await receiving.work.settled();
      expect(receiver.received[0]!.headers).toMatchObject(headers);
      for (const name of ['x-webhook-id', 'webhook-id', 'webhook-timestamp', 'webhook-signature'])
        expect(receiver.received[0]!.headers).not.toHaveProperty(name);
    },
  );

  test('A card event is relayed once, however often and to whichever instance it comes', async () => {
    const { receiving, receiver } = await sold();
    const other = await startReceiving({ database, tenant: receiving.tenant, clock: receiving.clock });
    const message = delivered(cardPaid(named('PSC-1')), named('whd_1'));
    await Promise.all([receiving, other, receiving, other, receiving].map((each) => each.post(message)));
    await receiving.post(delivered(cardPaid(named('PSC-1')), named('whd_2')));
    await receiving.work.settled();
    await other.work.settled();
    receiving.clock.advance(72 * HOUR);
    await other.post(message);
    await receiving.work.settled();
    await other.work.settled();
    expect(receiver.received).toHaveLength(1);
  });

  test('A card event of any kind is relayed, also one that changes nothing here', async () => {
    const { receiving, receiver } = await sold();
    const events = [
      cardPaid(named('PSC-1')),
      { kind: 'card_payment.disputed', orderCode: named('PSC-1') },
      { orderCode: named('PSC-1'), status: 'pending' },
    ];
    for (const [index, event] of events.entries()) {
      await receiving.post(delivered(event, named(`evt_${index}`)));
      await receiving.work.settled();
    }
    expect(receiver.received.map(({ body }) => JSON.parse(body))).toEqual(events);
    expect((await listed(receiving)).map(({ event }) => event)).toEqual([
      'card_payment.paid',
      'card_payment.disputed',
      'card_payment.paid',
    ]);
    // Followers receive the payment, each new delivery, and each delivery that has arrived.
    expect(await receiving.published()).toEqual([
      named('live card_payment.paid PSC-1'),
      ...events.flatMap((_, index) =>
        ['pending', 'delivered'].map((status) => named(`live webhook_delivery.${status} evt_${index}`)),
      ),
    ]);
  });

  test('The optional events of an embedded service are relayed byte for byte, and those of a dispute to nobody', async () => {
    const { receiving, receiver } = await sold();
    const more = { paidAt: '2026-03-02T12:00:00.000Z', refundedAt: '2026-03-03T12:00:00.000Z' };
    const refunded = { event: 'card_payment.refunded', status: 'refunded', ...more };
    const messages = [
      delivered(cardPaid(named('PSC-1')), named('evt_1')),
      delivered(cardPaid(named('PSC-1'), refunded), named('evt_2')),
      // The event's name says that it is of the payment, whatever other ids it has.
      delivered(cardPaid(named('PSC-1'), { ...refunded, refundId: 'ref_1' }), named('evt_4')),
      delivered({ event: 'dispute.opened', disputeId: 'dsp_1', amountCents: 4990 }, named('evt_3')),
      // Another service may use the name of a paid event for other resources.
      ...OTHER_FAMILIES.map((id) =>
        delivered({ event: 'x.y', [id]: 'x_1', orderCode: named('PSC-1'), amount: 49.9 }, named(`evt ${id}`)),
      ),
    ];
    for (const message of messages) {
      expect((await receiving.post(message)).status).toBe(200);
      await receiving.work.settled();
    }
    expect(receiver.received.map(({ body }) => body)).toEqual(messages.slice(0, 3).map(({ body }) => body));
    expect((await listed(receiving)).map(({ event }) => event)).toEqual([
      'card_payment.refunded',
      'card_payment.refunded',
      'card_payment.paid',
    ]);
    expect(await receiving.mirror()).toEqual({ [named('card_payment PSC-1')]: 'refunded' });
    expect(receiving.faults).toEqual([]);
  });

  test('A relayed event that fails is retried at the usual intervals, with the same bytes and headers', async () => {
    const { receiving, receiver } = await sold();
    const cameAt: number[] = [];
    receiver.answer = (response) => {
      cameAt.push(receiving.clock.now().getTime());
      response.writeHead(500).end();
    };
    await receiving.post(delivered(cardPaid(named('PSC-1')), named('evt_1')));
    await receiving.pass(24 * HOUR);
    expect(cameAt.slice(1).map((at, index) => at - cameAt[index]!)).toEqual(WAITS);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => JSON.stringify(headers))).size).toBe(1);
    expect(await listed(receiving)).toMatchObject([
      { webhookId: named('evt_1'), url: receiver.url, status: 'exhausted', attempts: 7 },
    ]);
  });

  const [OTHER, UNKNOWN] = [7, 8].map((byte) => `whsec_${Buffer.alloc(24, byte).toString('base64')}`) as [
    string,
    string,
  ];
  test.each([
    // The library refuses a timestamp that is more than five minutes old, as in the last three attempts.
    ['is signed again', { signedBy: SECRET, ageMs: 0, verifiedBy: SECRET, valid: 7 }],
    [
      'is signed with a secret that came later, too',
      { signedBy: SECRET, ageMs: 0, verifiedBy: OTHER, valid: 3 },
    ],
    [
      'keeps its headers where an unknown secret has signed them',
      { signedBy: UNKNOWN, ageMs: 0, verifiedBy: UNKNOWN, valid: 4 },
    ],
    [
      'keeps headers that were old when they came',
      { signedBy: SECRET, ageMs: HOUR, verifiedBy: SECRET, valid: 0 },
    ],
  ])('A late attempt of a relayed event %s', async (_, { signedBy, ageMs, verifiedBy, valid }) => {
    const { receiving, receiver } = await sold({ secrets: [SECRET, OTHER] });
    const cameAt: Date[] = [];
    receiver.answer = (response) => {
      cameAt.push(receiving.clock.now());
      response.writeHead(500).end();
    };
    const body = JSON.stringify(cardPaid(named('PSC-1')));
    const at = plusMs(receiving.clock.now(), -ageMs);
    const headers = {
      ...signedHeaders({ webhookId: named('evt_1'), body, secrets: [signedBy], at }),
      'x-webhook-signature': sign(body).digest('hex'),
    };
    await receiving.post({ body, headers });
    await receiving.pass(24 * HOUR);
    expect(cameAt).toHaveLength(7);
    for (const early of receiver.received.slice(0, 4)) expect(early.headers).toMatchObject(headers);
    onTestFinished(() => void vi.useRealTimers());
    const verified = receiver.received.filter((got, index) => {
      vi.useFakeTimers({ toFake: ['Date'], now: cameAt[index]! });
      try {
        new Webhook(verifiedBy).verify(got.body, got.headers as Record<string, string>);
        return true;
      } catch {
        return false;
      }
    });
    expect(verified).toHaveLength(valid);
    expect(new Set(receiver.received.map((got) => got.headers['x-webhook-signature'])).size).toBe(1);
  });

  test('A relayed event waits for an earlier one of its payment, and for no other', async () => {
    const { receiving, receiver } = await sold();
    const other = await startReceiver();
    await createdCard(receiving, named('PSC-2'), other.url);
    let fails = 1;
    receiver.answer = (response) => {
      response.writeHead(fails > 0 ? 500 : 200).end();
      fails -= 1;
    };
    await receiving.post(delivered(cardPaid(named('PSC-1')), named('evt_1')));
    await receiving.work.settled();
    await receiving.post(delivered({ ...cardPaid(named('PSC-1')), status: 'refunded' }, named('evt_2')));
    await receiving.post(delivered(cardPaid(named('PSC-2')), named('evt_3')));
    await receiving.work.settled();
    expect(ids(receiver)).toEqual([named('evt_1')]);
    expect(ids(other)).toEqual([named('evt_3')]);
    await receiving.pass(MINUTE);
    expect(ids(receiver)).toEqual([named('evt_1'), named('evt_1'), named('evt_2')]);
  });

  test('A card event of a payment without a callbackUrl, or of an unknown payment, is not relayed', async () => {
    const receiving = await startReceiving({ database });
    const receiver = await startReceiver();
    await createdCard(receiving, named('PSC-1'), null);
    await receiving.post(delivered(cardPaid(named('PSC-1'))));
    await receiving.post(delivered(cardPaid(named('PSC-9')), named('evt_9')));
    await createdCard(receiving, named('PSC-9'), receiver.url);
    await receiving.post(delivered(cardPaid(named('PSC-9')), named('evt_9')));
    await receiving.pass(HOUR);
    expect(receiver.received).toEqual([]);
    expect(await receiving.count('webhook_delivery')).toBe(0);
  });

  test('An event of a payout or of another environment is not relayed', async () => {
    const { receiving, receiver } = await sold();
    await receiving.post(delivered(withdrawal(named('PSC-1'), 'completed')));
    await receiving.post(delivered(cardPaid(named('PSC-1'), { sandbox: true })));
    await receiving.pass(HOUR);
    expect(receiver.received).toEqual([]);
  });

  test.each([
    'https://facade.example/webhooks/psa',
    'https://FACADE.example:443/webhooks/psa?again=1#x',
    'https://facade.example./webhooks/./psa',
    'http://facade.example/webhooks/psa',
  ])('A card event is never relayed to the server itself: %s', async (callbackUrl) => {
    const receiving = await startReceiving({ database });
    await createdCard(receiving, named('PSC-1'), callbackUrl);
    await receiving.post(delivered(cardPaid(named('PSC-1'))));
    expect(await receiving.count('webhook_delivery')).toBe(0);
    expect(await receiving.mirror()).toEqual({ [named('card_payment PSC-1')]: 'paid' });
  });

  test('A card event is never sent to a private address where private addresses are switched off', async () => {
    const { receiving, receiver } = await sold({ privateAddresses: false });
    await receiving.post(delivered(cardPaid(named('PSC-1')), named('evt_1')));
    await receiving.pass(24 * HOUR);
    expect(receiver.received).toEqual([]);
    expect(await listed(receiving)).toMatchObject([{ status: 'exhausted', attempts: 7 }]);
    const [attempts] = await receiving.webhooks.attemptsOf(receiving.tenant, [named('evt_1')]);
    expect(attempts![0]).toMatchObject({ error: 'the URL does not lead to a public https address' });
  });

  test('A card event whose transaction failed is relayed only when it comes again', async () => {
    let fails = false;
    const faulty: Database = {
      ...database,
      transaction: (work) =>
        database.transaction(async (sql) => {
          const result = await work(sql);
          if (fails) throw new Error('the disk is full');
          return result;
        }),
    };
    const { receiving, receiver } = await sold({ database: faulty });
    const message = delivered(cardPaid(named('PSC-1')), named('evt_1'));
    fails = true;
    expect((await receiving.post(message)).status).toBe(500);
    fails = false;
    await receiving.work.settled();
    expect(receiver.received).toEqual([]);
    expect((await receiving.post(message)).status).toBe(200);
    await receiving.work.settled();
    expect(receiver.received).toHaveLength(1);
  });

  test('A card event is received although its id is used for a delivery of another account', async () => {
    const { receiving, receiver } = await sold();
    const other = await startReceiving({ database, clock: receiving.clock });
    await createdCard(other, named('PSC-1'), receiver.url);
    for (const each of [receiving, other])
      expect((await each.post(delivered(cardPaid(named('PSC-1')), named('evt_same')))).status).toBe(200);
    await receiving.work.settled();
    await other.work.settled();
    expect(receiver.received).toHaveLength(1);
    expect(await other.mirror()).toEqual({ [named('card_payment PSC-1')]: 'paid' });
    expect([...receiving.faults, ...other.faults]).toEqual([]);
  });

  describe('in the log of deliveries', () => {
    test('A relayed event is listed, counted, found and sent again under the service’s id', async () => {
      const { receiving, receiver } = await sold();
      const { webhooks, tenant } = receiving;
      await receiving.post(delivered(cardPaid(named('PSC-1')), named('evt/1 ~')));
      await receiving.work.settled();
      const [delivery] = await webhooks.findMany(tenant, [named('evt/1 ~')]);
      expect(delivery).toEqual({
        webhookId: named('evt/1 ~'),
        event: 'card_payment.paid',
        url: receiver.url,
        status: 'delivered',
        attempts: 1,
        failures: 0,
        nextAttemptAt: null,
        responseStatus: 200,
        responseClass: 2,
        ...{
          resource: 'card_payment',
          resourceId: named('PSC-1'),
          subjectType: null,
          subjectId: null,
          endpointId: null,
        },
        createdAt: receiving.clock.now(),
      });
      expect(await webhooks.count(tenant, {})).toBe(1);
      expect(await webhooks.count(tenant, { status: ['pending'] })).toBe(0);
      expect(await webhooks.findMany(tenant, ['\u0000', named('evt_2'), ''])).toEqual([null, null, null]);

      await webhooks.redeliver(tenant, named('evt/1 ~'));
      await receiving.work.settled();
      expect(ids(receiver)).toEqual([named('evt/1 ~'), named('evt/1 ~')]);
      expect(receiver.received[1]!.body).toBe(receiver.received[0]!.body);
      const [attempts] = await webhooks.attemptsOf(tenant, [named('evt/1 ~')]);
      expect(attempts).toHaveLength(2);
    });

    test('A webhook URL of the account is refused, because it is set in the service’s dashboard', async () => {
      const { webhooks, tenant } = await startReceiving({ database });
      const refusal = await webhooks.configure(tenant, { url: 'https://padaria.example/hook' }).then(
        () => null,
        (error: unknown) => error,
      );
      expect(refusal).toBeInstanceOf(PreconditionError);
      expect(refusal).toMatchObject({
        code: 'NOT_OFFERED',
        message: expect.stringContaining('dashboard'),
      });
    });
  });

  test.each([
    ['payment.paid', 'live', 'tipo'],
    ['payment.expired', 'live', 'event'],
    ['payment.failed', 'live', 'event'],
    ['payment.refunded', 'live', 'event'],
    ['payment.test.paid', 'sandbox', 'tipo'],
    ['payment.test.expired', 'sandbox', 'event'],
  ] as const)(
    'The event %s of a PIX payment goes to its callbackUrl byte for byte, in %s',
    async (event, environment, name) => {
      const receiving = await startReceiving({ database });
      const receiver = await startReceiver();
      const tenant = receiving.tenantOf(environment);
      const resource = { resource: 'payment', id: named('psa_1') } as const;
      await createdPayment({ ...receiving, tenant }, resource, receiver.url);
      const status = event.split('.').at(-1);
      const body = ` {"${name}": "${event}",  "paymentId":"${resource.id}","amountCents":4.99e2, "status":"${status}"}\n`;
      await receiving.post(delivered(body, named('evt_1')));
      await receiving.work.settled();
      expect(receiver.received.map((got) => got.body)).toEqual([body]);
      expect(await receiving.webhooks.findMany(tenant, [named('evt_1')])).toMatchObject([
        { event, url: receiver.url, status: 'delivered' },
      ]);
      expect(receiving.faults).toEqual([]);
    },
  );

  test('A card event is answered before it is relayed', async () => {
    const { receiving, receiver } = await sold();
    // The receiver does not answer; the service gets its answer all the same.
    receiver.answer = () => undefined;
    const came = receiver.next();
    expect((await receiving.post(delivered(cardPaid(named('PSC-1'))))).status).toBe(200);
    receiving.work.wake({ kind: 'webhook.deliver', at: receiving.clock.now() });
    await came;
    receiving.clock.advance(5 * SECOND);
    receiver.answer = (response) => response.end();
    await receiving.pass(HOUR);
    expect(receiver.received).toHaveLength(2);
  });

  test('A card event with two signature headers is refused', async () => {
    const { receiving } = await sold();
    const { body, headers } = delivered(cardPaid(named('PSC-1')));
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(receiving.url, { method: 'POST' }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.setHeader('x-webhook-signature', ['0'.repeat(64), headers['x-webhook-signature']!]);
      request.on('error', reject);
      request.end(body);
    });
    expect(status).toBe(401);
  });
});

function ids(receiver: Receiver): unknown[] {
  return receiver.received.map(({ headers }) => headers['x-webhook-id']);
}
