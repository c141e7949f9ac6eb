import { beforeAll, describe, expect, test } from 'vitest';
import { brCode } from '../../../server/src/kernel/br-code.ts';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import { RateLimitError } from '../../../server/src/kernel/errors.ts';
import type { Requester } from '../../../server/src/kernel/requester.ts';
import { createRemotePayments } from '../../../server/src/money-in/payments/remote/service.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { saveMirrored, selectMirrored } from '../../../server/src/upstream/mirror-store.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { startFacade } from '../../support/facade.ts';
import { createScriptedService, ok, refused, timeout } from '../../support/scripted-service.ts';

const PATH = '/v1/payments';
const MINUTE = 60_000;
const NOT_OFFERED = { code: 'NOT_OFFERED' };
const RECEIVING = { callbackUrl: null, findProduct: async () => null, privateAddresses: false };

let database: Database;
beforeAll(async () => {
  database = await openFreshDatabase();
});

let count = 0;
const newId = () => `psa_${String(++count).padStart(32, '0')}`;

/** A service that returns payments by id, and has no list of them, with a facade in front. */
async function start() {
  const script = createScriptedService();
  const facade = await startFacade({ database, upstream: script.upstream });
  const payments = createRemotePayments({ ...facade, ...RECEIVING });
  const saw: { at: Date; stale: boolean }[] = [];
  const requester = (priority: Requester['priority'], subject: Requester['subject'] = null) =>
    payments.serviceFor({ priority, subject, onRead: (at, stale) => saw.push({ at, stale }) });
  const kept = new Map<string, Record<string, unknown>>();
  function create(rest: Record<string, unknown> = {}): string {
    const paymentId = newId();
    const createdAt = facade.clock.now().toISOString();
    kept.set(paymentId, {
      paymentId,
      status: 'pending',
      method: 'pix',
      amountCents: 820,
      createdAt,
      ...rest,
    });
    return paymentId;
  }
  script.on('GET', `${PATH}/`, ({ path }) => {
    const found = kept.get(path.slice(PATH.length + 1));
    return found ? ok(found) : refused(404, 'Payment not found');
  });
  return {
    facade,
    payments,
    script,
    saw,
    kept,
    create,
    tenant: facade.tenant,
    clock: facade.clock,
    merchant: requester('merchant'),
    payer: (token: string) => requester('payer', { token, network: 'n1' }),
    async webhook(payload: object) {
      const { observation } = payments.readWebhook(payload)!;
      return facade.committer.change({
        tenant: facade.tenant,
        read: observation.read,
        decide: (state) => {
          const { writes, contradicts = false } = observation.decide(state);
          return { outcome: contradicts, writes };
        },
      });
    },
    events: async () =>
      (
        await facade.database.sql
          .selectFrom('event')
          .select(['kind', 'previous_status'])
          .where('account_id', '=', facade.tenant.accountId)
          .orderBy('version')
          .execute()
      ).map(({ kind, previous_status }) => [kind, previous_status]),
  };
}

describe('a PIX payment, looked up', () => {
  test('A payment is looked up once for concurrent callers, with the priority of each, and again after two seconds', async () => {
    const { merchant, payer, tenant, create, script, clock, saw, kept, events } = await start();
    const paymentId = create();
    const found = await merchant.findMany(tenant, [paymentId, paymentId]);
    expect(found.map((each) => each?.amountCents)).toEqual([820, 820]);
    expect(await merchant.find(tenant, paymentId)).toMatchObject({
      status: 'pending',
      feeCents: null,
      txid: null,
    });
    expect(script.requests.map(({ requestOptions }) => requestOptions)).toEqual([{ priority: 'query' }]);
    kept.get(paymentId)!.status = 'paid';
    clock.advance(2_000);
    expect(await merchant.find(tenant, paymentId)).toMatchObject({ status: 'paid', version: 2 });
    expect(saw.at(-1)).toEqual({ at: clock.now(), stale: false });
    expect(await events()).toEqual([
      ['payment.pending', null],
      ['payment.paid', 'pending'],
    ]);
    clock.advance(MINUTE);
    await payer('tok_1').find(tenant, paymentId);
    expect(script.requests.at(-1)!.requestOptions).toEqual({
      priority: 'payer_read',
      subject: { token: 'tok_1', network: 'n1' },
    });
  });

  test('A text that is no id is not looked up', async () => {
    const { merchant, tenant, script } = await start();
    for (const id of ['', '../../money-out/wallet', 'psa_sub_1', 'psa_a/b', `psa_${'x'.repeat(65)}`])
      expect(await merchant.find(tenant, id)).toBeNull();
    expect(script.requests).toEqual([]);
  });

  test('A final payment of several is not looked up again, and one of a word that is not known is', async () => {
    const { merchant, tenant, create, script, clock, kept } = await start();
    const [refunded, odd] = [create({ status: 'refunded' }), create({ status: 'em análise' })];
    await merchant.findMany(tenant, [refunded, odd]);
    clock.advance(MINUTE);
    kept.get(odd)!.status = 'paid';
    const found = await merchant.findMany(tenant, [refunded, odd]);
    expect(found.map((each) => each?.status)).toEqual(['refunded', 'paid']);
    expect(script.requests).toHaveLength(3);
    // Read alone it is looked up: the service may correct it.
    expect(await merchant.find(tenant, refunded)).toMatchObject({ status: 'refunded' });
    expect(script.requests).toHaveLength(4);
  });

  test.each([
    ['the budget is spent', () => new RateLimitError('120 a minute', 7), 'RATE_LIMITED'],
    ['the service does not answer', timeout, 'UPSTREAM_UNAVAILABLE'],
    [
      'the service answers with another payment',
      () => ok({ id: newId(), amountCents: 1 }),
      'UPSTREAM_UNAVAILABLE',
    ],
    ['the service has no such lookup', () => refused(405, 'no'), 'NOT_OFFERED'],
  ])('The last known payment is shown where %s', async (_, answer, code) => {
    const { merchant, tenant, script, saw, clock, create } = await start();
    const paymentId = create();
    const payment = await merchant.find(tenant, paymentId);
    const seenAt = clock.now();
    clock.advance(MINUTE);
    script.on('GET', `${PATH}/`, answer);
    expect(await merchant.find(tenant, paymentId)).toEqual(payment);
    expect(saw.at(-1)).toEqual({ at: seenAt, stale: true });
    await expect(merchant.find(tenant, newId())).rejects.toMatchObject({ code });
  });

  test('A payment that the service no longer finds is still shown, and a subscription begins with it', async () => {
    const { merchant, tenant, kept, create, clock } = await start();
    const paymentId = create();
    const payment = await merchant.find(tenant, paymentId);
    kept.clear();
    clock.advance(MINUTE);
    expect(await merchant.find(tenant, paymentId)).toEqual(payment);
    expect(await merchant.findWithVersion(tenant, paymentId)).toEqual({ version: 1, resource: payment });
  });
});

describe('a service without PIX payments', () => {
  test.each([404, 501])(
    'Status %i of a payment and of its family is cached for ten minutes',
    async (status) => {
      const { merchant, tenant, script, clock, payments, webhook } = await start();
      script.on('GET', PATH, () => refused(status, 'Not found'));
      const paymentId = newId();
      for (let time = 0; time < 3; time += 1)
        for (const read of [
          () => merchant.find(tenant, paymentId),
          () => merchant.findMany(tenant, [paymentId]),
          () => merchant.findWithVersion(tenant, paymentId),
        ])
          await expect(read()).rejects.toMatchObject(NOT_OFFERED);
      expect(script.requestLines.filter((line) => line === `GET ${PATH}`)).toHaveLength(
        status === 404 ? 1 : 0,
      );
      const asked = script.requests.length;
      await expect(merchant.find(tenant, paymentId)).rejects.toMatchObject(NOT_OFFERED);
      clock.advance(10 * MINUTE);
      await expect(merchant.find(tenant, paymentId)).rejects.toMatchObject(NOT_OFFERED);
      expect(script.requests.length).toBeGreaterThan(asked);

      // Lists come from this server's own database, and a webhook's status is known without a lookup.
      expect(await merchant.list(tenant, { end: 'first', limit: 5 })).toEqual({ items: [], more: false });
      await webhook({
        event: 'payment.paid',
        paymentId,
        amountCents: 820,
        paidAt: clock.now().toISOString(),
      });
      expect(await merchant.find(tenant, paymentId)).toMatchObject({ status: 'paid', method: 'pix' });
      expect(await merchant.count(tenant, { status: ['paid'] })).toBe(1);
      expect(await payments.poll(tenant, { all: true, ids: [] })).toEqual(plusMs(clock.now(), 30_000));
    },
  );

  test.each([
    ['a list', () => ok({ payments: [], total: 0 })],
    ['no list', () => refused(405, 'Method not allowed')],
  ])(
    'A payment that is not there is null at a service with %s, whose family is asked for once',
    async (_, answer) => {
      const { merchant, tenant, script } = await start();
      script.on('GET', `${PATH}?`, answer);
      expect(await merchant.find(tenant, newId())).toBeNull();
      expect(await merchant.find(tenant, newId())).toBeNull();
      expect(script.requestLines.filter((line) => line === `GET ${PATH}`)).toHaveLength(1);
    },
  );

  test('A service that has shown a payment is not asked for its family', async () => {
    const { merchant, tenant, script, create } = await start();
    await merchant.find(tenant, create());
    expect(await merchant.find(tenant, newId())).toBeNull();
    expect(script.requestLines).not.toContain(`GET ${PATH}`);
  });

  test('Changes of payments are refused, and nothing is sent', async () => {
    const { merchant, tenant, script } = await start();
    const token = { id: 'tok_1', grant: { amount: { kind: 'fixed', cents: 80 }, reusable: false } } as const;
    for (const change of [
      () => merchant.create(tenant, { valueCents: 80 }),
      () =>
        merchant.startCheckout(tenant, token, { attemptId: 'a'.repeat(22) }).then(({ payment }) => payment),
    ])
      await expect(change()).rejects.toMatchObject(NOT_OFFERED);
    expect(script.requests).toEqual([]);
  });

  test('A followed payment whose lookup is gone is polled again in half a minute, without a fault', async () => {
    const { merchant, payments, tenant, script, create, clock } = await start();
    const paymentId = create();
    await merchant.find(tenant, paymentId);
    script.on('GET', `${PATH}/`, () => refused(405, 'no'));
    clock.advance(MINUTE);
    script.requests.length = 0;
    const askedAgainAt = plusMs(clock.now(), 30_000);
    for (let time = 0; time < 2; time += 1) {
      expect(await payments.poll(tenant, { all: false, ids: [paymentId] })).toEqual(askedAgainAt);
      clock.advance(20_000);
    }
    expect(script.requests).toHaveLength(1);
  });

  test('A followed payment is polled once where the service never had its lookup', async () => {
    const { payments, tenant, script, clock, webhook } = await start();
    const paymentId = newId();
    await webhook({ event: 'payment.pending', paymentId, status: 'pending', amountCents: 820 });
    script.on('GET', `${PATH}/`, () => refused(405, 'no'));
    for (let time = 0; time < 2; time += 1) {
      clock.advance(MINUTE);
      expect(await payments.poll(tenant, { all: false, ids: [paymentId] })).toBeNull();
    }
    expect(script.requests).toHaveLength(1);
  });
});

describe('a webhook of a PIX payment', () => {
  test('A webhook is recorded once, never goes back, and its payment is complete after a lookup', async () => {
    const { merchant, payments, tenant, create, webhook, events, clock } = await start();
    const code = brCode({ url: 'pix.example.com/1', amountCents: 820, merchantName: 'P', merchantCity: 'R' });
    const paymentId = create({
      status: 'paid',
      feeCents: 20,
      refundedCents: 0,
      refundableCents: 820,
      qr: code,
    });
    expect(payments.readWebhook({ event: 'withdrawal.completed', withdrawalId: '1' })).toBeNull();
    const paid = { tipo: 'payment.paid', paymentId, amountCents: 820, em: clock.now().toISOString() };
    await webhook(paid);
    await webhook(paid);
    await webhook({ ...paid, tipo: 'payment.pending' });
    expect(await merchant.count(tenant, { status: ['paid'], method: ['pix'] })).toBe(1);
    clock.advance(1_000);
    await payments.refresh(tenant, [paymentId, '../../x'], { priority: 'lookup' });
    expect(await merchant.find(tenant, paymentId)).toMatchObject({
      status: 'paid',
      feeCents: 20,
      refundedCents: 0,
      brCode: code,
      paidAt: plusMs(clock.now(), -1_000),
    });
    // The lookup has shown the fee.
    expect(await events()).toEqual([
      ['payment.paid', null],
      ['payment.paid', 'paid'],
    ]);
  });

  test('A webhook with another amount does not pay a payment: the amount is shown, and the service is read', async () => {
    const { merchant, payments, tenant, create, webhook, kept, clock } = await start();
    const paymentId = create();
    await merchant.find(tenant, paymentId);
    await webhook({ event: 'payment.paid', paymentId, amountCents: 80 });
    expect(await merchant.find(tenant, paymentId)).toMatchObject({ status: 'pending', otherPaidCents: 80 });
    kept.get(paymentId)!.status = 'paid';
    clock.advance(MINUTE);
    await payments.refresh(tenant, [paymentId], { priority: 'lookup' });
    const payment = await merchant.find(tenant, paymentId);
    expect(payment).toMatchObject({ status: 'paid', amountCents: 820 });
    expect(payment!.otherPaidCents).toBeUndefined();
  });

  test('A webhook’s state is not confirmed by an older response, and not by a refused one', async () => {
    const { payments, tenant, create, webhook, clock, script } = await start();
    const paymentId = create();
    const saidAt = clock.now();
    await webhook({ event: 'payment.paid', paymentId, amountCents: 820 });
    clock.advance(MINUTE);
    await payments.refresh(tenant, [paymentId], { priority: 'lookup' });
    const [row] = await selectMirrored(database.sql, tenant, 'payment', [paymentId]);
    expect(row).toMatchObject({ status: 'paid', observedAt: saidAt });
    script.on('GET', PATH, () => new RateLimitError('120 a minute', 3));
    await expect(payments.refresh(tenant, [paymentId], { priority: 'lookup' })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
    });
  });

  test('What the service shows in the millisecond of the last news is recorded', async () => {
    const { merchant, tenant, create, clock, events, webhook, kept } = await start();
    const paymentId = create();
    await webhook({ event: 'payment.pending', paymentId, status: 'pending', amountCents: 820 });
    kept.get(paymentId)!.status = 'paid';
    expect(await merchant.find(tenant, paymentId)).toMatchObject({ status: 'paid' });
    expect(await events()).toEqual([
      ['payment.pending', null],
      ['payment.paid', 'pending'],
    ]);
    const other = create({ status: 'paid', paidAt: clock.now().toISOString() });
    await webhook({ event: 'payment.paid', paymentId: other, status: 'paid', amountCents: 820 });
    Object.assign(kept.get(other)!, { refundedCents: 100, refundableCents: 720 });
    expect(await merchant.find(tenant, other)).toMatchObject({ status: 'paid', refundedCents: 100 });
  });

  test('A payment whose method becomes known is listed and counted under it', async () => {
    const { merchant, tenant, create, webhook, clock } = await start();
    const paymentId = create({ method: 'ltc', status: 'paid' });
    await webhook({ event: 'payment.paid', paymentId, amountCents: 820 });
    expect(await merchant.count(tenant, { method: ['pix'] })).toBe(1);
    clock.advance(2_000);
    await merchant.find(tenant, paymentId);
    expect(await merchant.count(tenant, { method: ['pix'] })).toBe(0);
    expect(await merchant.count(tenant, { method: ['ltc'] })).toBe(1);
  });
});

test('A followed payment is polled when it is due, by one of several instances, until it is paid', async () => {
  const { merchant, facade, payments, tenant, script, clock, create, kept } = await start();
  const other = createRemotePayments({ ...facade, ...RECEIVING });
  const paymentId = create();
  await merchant.find(tenant, paymentId);
  const followed = { all: false, ids: [paymentId] };
  script.requests.length = 0;
  expect(await payments.poll(tenant, followed)).toEqual(plusMs(clock.now(), 3_000));
  expect(script.requests).toEqual([]);
  clock.advance(3_000);
  kept.get(paymentId)!.status = 'paid';
  await Promise.all([payments, other].map((each) => each.poll(tenant, followed)));
  expect(script.requests.map(({ requestOptions }) => requestOptions)).toEqual([{ priority: 'poll' }]);
  expect(await payments.poll(tenant, followed)).toBeNull();
  // Another payment may be created elsewhere.
  const all = { all: true, ids: [] };
  expect(await payments.poll({ ...tenant, environment: 'sandbox' }, all)).toEqual(
    plusMs(clock.now(), 30_000),
  );
});

test('An open payment is polled behind a thousand newer ones that are paid', async () => {
  const { facade, merchant, payments, tenant, script, clock, create } = await start();
  const [open, paid] = [create(), create({ status: 'paid' })];
  await merchant.findMany(tenant, [open, paid]);
  const [row] = await selectMirrored(facade.database.sql, tenant, 'payment', [paid]);
  const newer = Array.from({ length: 1_000 }, () => ({ ...row!, id: newId() }));
  await saveMirrored(database.sql, tenant, newer);
  clock.advance(MINUTE);
  script.requestLines.length = 0;
  await payments.poll(tenant, { all: true, ids: [] });
  expect(script.requestLines).toEqual([`GET ${PATH}/${open}`]);
});
