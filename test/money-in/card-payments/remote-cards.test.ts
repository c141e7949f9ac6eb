import { beforeAll, describe, expect, test } from 'vitest';
import type { CheckoutGrant } from '../../../server/src/kernel/caller.ts';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import { RateLimitError } from '../../../server/src/kernel/errors.ts';
import { objectId } from '../../../server/src/kernel/ids.ts';
import type { Requester } from '../../../server/src/kernel/requester.ts';
import { createRemoteCardPayments } from '../../../server/src/money-in/card-payments/remote/service.ts';
import type { SoldProduct } from '../../../server/src/money-in/checkout/model.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import type { Observation } from '../../../server/src/upstream/mirror.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { startFacade } from '../../support/facade.ts';
import { createScriptedService, ok, refused, timeout } from '../../support/scripted-service.ts';

const OURS = 'https://facade.example/webhooks/psa';
const PATH = '/v1/card-payments';
const LIST = '/v1/card-payments?limit=100';
const MINUTE = 60_000;
const ATTEMPT = 'attempt_0123456789abcdef';
const OTHER = 'attempt_fedcba9876543210';
/** The error after which no money can have moved, and the same key repeats the request. */
const UNANSWERED = { code: 'UPSTREAM_UNAVAILABLE', retryable: true, moneyMayHaveMoved: false };

let database: Database;
beforeAll(async () => {
  database = await openFreshDatabase();
});

/** A service that creates payments as documented, with a facade in front. */
async function start({ product = null }: { product?: SoldProduct | null } = {}) {
  const script = createScriptedService();
  const facade = await startFacade({ database, upstream: script.upstream });
  const cards = createRemoteCardPayments({
    ...facade,
    callbackUrl: OURS,
    privateAddresses: false,
    findProduct: async () => product,
  });
  Object.assign(facade.requests, cards.requests);
  const saw: { at: Date; stale: boolean }[] = [];
  const requester = (rank: Requester['priority'], subject: Requester['subject'] = null) =>
    cards.serviceFor({ priority: rank, subject, onRead: (at, stale) => saw.push({ at, stale }) });
  const kept = new Map<string, Record<string, unknown>>();
  function create(valueCents: number, status = 'pending') {
    const now = facade.clock.now();
    const payment = {
      orderCode: `PEDIDO${objectId()}`,
      status,
      amountCents: valueCents,
      currency: 'BRL',
      expiresAt: plusMs(now, 30 * MINUTE).toISOString(),
    };
    kept.set(payment.orderCode, payment);
    return payment;
  }
  const page = (orderCode: string) => `https://pay.example/${orderCode}`;
  script.on('POST', PATH, ({ body }) => {
    const payment = create((body as { valueCents: number }).valueCents);
    return ok({ ...payment, checkoutUrl: page(payment.orderCode) });
  });
  script.on('GET', `${PATH}/`, ({ path }) => {
    const found = kept.get(decodeURIComponent(path.slice(PATH.length + 1)));
    return found ? ok(found) : refused(404, 'Not found');
  });
  const tell = (observation: Observation) =>
    facade.committer.change({
      tenant: facade.tenant,
      read: observation.read,
      decide: (state) => ({ outcome: undefined, writes: observation.decide(state).writes }),
    });
  return {
    facade,
    cards,
    script,
    saw,
    kept,
    create,
    page,
    tenant: facade.tenant,
    clock: facade.clock,
    person: requester('merchant'),
    payer: (token: string) => requester('payer', { token, network: 'n1' }),
    webhook: async (payload: object) => tell(cards.readWebhook(payload)!.observation),
    events: async () =>
      (
        await facade.database.sql
          .selectFrom('event')
          .select(['kind', 'previous_status', 'resource_id'])
          .where('account_id', '=', facade.tenant.accountId)
          .orderBy('version')
          .execute()
      ).map(({ kind, previous_status, resource_id }) => [kind, previous_status, resource_id]),
  };
}

describe('a card payment, created at the service', () => {
  test('A card payment is requested as documented, with the facade’s callbackUrl; the merchant’s, the order’s number, the language and the tax number stay in the facade', async () => {
    const { person, script, tenant, page, facade, events, clock } = await start();
    const given = {
      valueCents: 4990,
      description: 'Pão',
      callbackUrl: 'https://shop.example/hook',
      metadata: '{"a":1}',
      externalId: '1042',
      language: 'es' as const,
      customer: { name: 'Ana', email: null, taxId: '12345678909' },
      successUrl: 'https://shop.example/ok',
    };
    const { payment, replayed } = await person.create(tenant, { ...given, cancelUrl: null });
    expect(script.requests).toHaveLength(1);
    expect(script.requests[0]).toMatchObject({
      method: 'POST',
      path: PATH,
      environment: 'live',
      requestOptions: { priority: 'money' },
    });
    expect(script.requests[0]!.body).toEqual({
      valueCents: 4990,
      description: 'Pão',
      callbackUrl: OURS,
      metadata: '{"a":1}',
      customer: { name: 'Ana' },
      successUrl: 'https://shop.example/ok',
    });
    expect(payment).toMatchObject({
      status: 'pending',
      version: 1,
      amountCents: 4990,
      description: 'Pão',
      cancelUrl: null,
      callbackUrl: 'https://shop.example/hook',
      checkoutUrl: page(payment.orderCode),
      externalId: '1042',
      language: 'es',
      customer: { name: 'Ana', taxId: '12345678909' },
      createdAt: clock.now(),
      expiresAt: plusMs(clock.now(), 30 * MINUTE),
    });
    expect(replayed).toBe(false);
    expect(await events()).toEqual([['card_payment.pending', null, payment.orderCode]]);
    expect(facade.polledResources).toContain('card_payment');
    expect(
      (await person.list(tenant, { end: 'first', limit: 10 })).items.map(({ resource: each }) => each),
    ).toEqual([payment]);
    expect(await person.count(tenant, { status: ['paid'] })).toBe(0);
    const released = { releasedAfter: new Date(0) };
    await expect(person.list(tenant, { end: 'first', limit: 10, ...released })).rejects.toMatchObject({
      code: 'NOT_OFFERED',
    });
    await expect(person.count(tenant, released)).rejects.toMatchObject({ code: 'NOT_OFFERED' });
    expect(() => person.assertFilter(released)).toThrow(expect.objectContaining({ code: 'NOT_OFFERED' }));
    expect(person.assertFilter({ status: ['paid'] })).toBeUndefined();
  });

  test('A key has one card payment, which is returned in its present state', async () => {
    const { person, script, tenant, webhook } = await start();
    const input = { valueCents: 80, idempotencyKey: 'order-1' };
    const [first, second] = await Promise.all([person.create(tenant, input), person.create(tenant, input)]);
    expect(second.payment.orderCode).toBe(first.payment.orderCode);
    await webhook({ orderCode: first.payment.orderCode, status: 'paid', amount: 0.8 });
    expect(await person.create(tenant, input)).toMatchObject({ replayed: true, payment: { status: 'paid' } });
    await expect(person.create(tenant, { ...input, valueCents: 81 })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
    expect(script.requests).toHaveLength(1);
  });

  const RIGHT = {
    orderCode: 'PEDIDO7',
    status: 'pending',
    amountCents: 4990,
    currency: 'BRL',
    metadata: '{"a":1}',
  };
  test.each([
    ['1 cent', { amountCents: 1 }, 'another amount, or none'],
    ['no amount', { amountCents: undefined }, 'another amount, or none'],
    ['dollars', { currency: 'USD' }, 'another currency'],
    ['the metadata of another order', { metadata: '{"a":2}' }, 'another metadata'],
    ['a payment that was paid before', { status: 'paid' }, 'a payment that was paid before'],
    ['the code of a known payment', { orderCode: 'PEDIDO-KNOWN' }, 'what belongs to another request'],
    ['the code of another request', { orderCode: 'PEDIDO-MADE' }, 'what belongs to another request'],
  ])('An answer with %s sells nothing, is logged, and its key may be used again', async (_, other, why) => {
    const { person, payer, tenant, script, facade, events, webhook } = await start();
    await webhook({ orderCode: 'PEDIDO-KNOWN', status: 'paid', amount: 49.9 });
    const given = {
      id: `tok_${objectId()}`,
      grant: { amount: { kind: 'fixed', cents: 4990 }, reusable: false },
    } as const;
    script.on('POST', PATH, () => ok({ ...RIGHT, orderCode: 'PEDIDO-MADE', metadata: null }));
    (await payer(given.id).startCheckout(tenant, given, { attemptId: ATTEMPT })).payment;
    const before = await events();
    script.on('POST', PATH, () => ok({ ...RIGHT, ...other }));
    const input = { valueCents: 4990, metadata: '{"a":1}', idempotencyKey: 'k1' };
    await expect(person.create(tenant, input)).rejects.toMatchObject({
      code: 'UPSTREAM_REFUSED',
      retryable: false,
      moneyMayHaveMoved: false,
    });
    expect(await events()).toEqual(before);
    expect(facade.faults.splice(0).map(String)).toEqual([
      `Error: The payments service was asked for creating card payments, and has answered with ${why}`,
    ]);
    script.on('POST', PATH, () => ok(RIGHT));
    expect((await person.create(tenant, input)).payment).toMatchObject({
      orderCode: 'PEDIDO7',
      amountCents: 4990,
    });
  });

  test('A card payment is refused in sandbox without a request', async () => {
    const { person, script, tenant } = await start();
    const sandbox = { ...tenant, environment: 'sandbox' as const };
    await expect(person.create(sandbox, { valueCents: 80 })).rejects.toMatchObject({
      code: 'NOT_IN_SANDBOX',
    });
    expect(await person.find(sandbox, 'PEDIDO1')).toBeNull();
    expect(script.requests).toEqual([]);
  });

  test.each([
    [400, { code: 'BAD_USER_INPUT', fields: [{ path: 'input', message: 'no' }] }],
    [401, { code: 'UPSTREAM_REFUSED', moneyMayHaveMoved: false }],
    [403, { code: 'FORBIDDEN', message: 'no' }],
    [409, { code: 'CARD_PAYMENTS_NOT_CONFIGURED', message: 'no' }],
    [422, { code: 'CARD_PAYMENTS_NOT_CONFIGURED', message: 'no' }],
    [418, { code: 'UPSTREAM_REFUSED', moneyMayHaveMoved: false }],
  ])('Status %i refuses a card payment, and its key may be used again', async (status, error) => {
    const { person, script, tenant } = await start();
    let refuses = true;
    script.on('POST', PATH, () =>
      refuses ? refused(status, 'no') : ok({ orderCode: `P${objectId()}`, amountCents: 80 }),
    );
    const input = { valueCents: 80, idempotencyKey: 'order-1' };
    await expect(person.create(tenant, input)).rejects.toMatchObject(error);
    refuses = false;
    expect((await person.create(tenant, input)).payment.checkoutUrl).toBeNull();
  });

  test.each([
    ['three hours behind', { expiresAt: -180 }],
    ['three hours ahead', { expiresAt: 180 }],
    ['three hours behind, with its creation', { createdAt: -180, expiresAt: -180 }],
    ['half an hour ahead, with its creation', { createdAt: 30, expiresAt: 30 }],
    ['of ours', { expiresAt: 0 }],
  ])('A page that a service makes by a clock %s ends in half an hour', async (_, minutes) => {
    const { person, script, tenant, clock } = await start();
    const at = (ms: number) => plusMs(clock.now(), ms).toISOString();
    script.on('POST', PATH, () =>
      ok({
        orderCode: `P${objectId()}`,
        amountCents: 80,
        ...('createdAt' in minutes && { createdAt: at(minutes.createdAt * MINUTE) }),
        expiresAt: at((30 + minutes.expiresAt) * MINUTE),
      }),
    );
    const { payment } = await person.create(tenant, { valueCents: 80 });
    expect(payment.expiresAt).toEqual(plusMs(clock.now(), 30 * MINUTE));
  });

  test.each([404, 405])(
    'The page of a proxy with status %i refuses one creation, and the next is sent',
    async (status) => {
      const { person, script, tenant } = await start();
      script.on('POST', PATH, () => ({ status, body: '<h1>Not found</h1>' }));
      const create = () => person.create(tenant, { valueCents: 80 });
      for (let time = 1; time <= 3; time += 1) {
        await expect(create()).rejects.toMatchObject({
          code: 'UPSTREAM_UNAVAILABLE',
          retryable: true,
          moneyMayHaveMoved: false,
        });
        expect(script.requests).toHaveLength(time);
      }
    },
  );

  test('Status 404 with a message refuses one creation', async () => {
    const { person, script, tenant } = await start();
    script.on('POST', PATH, () => refused(404, 'Produto não encontrado'));
    for (let time = 0; time < 2; time += 1)
      await expect(person.create(tenant, { valueCents: 80 })).rejects.toMatchObject({
        code: 'UPSTREAM_REFUSED',
        message: 'The payments service refused with status 404: Produto não encontrado',
      });
    expect(script.requests).toHaveLength(2);
  });
});

describe('a creation whose answer was lost', () => {
  /** Starts a service that creates the payment and loses its answer, once. */
  async function startLost({ listed }: { listed: boolean }) {
    const service = await start();
    const { script, kept, create } = service;
    let lost = true;
    const made: Record<string, unknown>[] = [];
    script.on('POST', PATH, ({ body }) => {
      const { callbackUrl: _, ...shown } = body as { valueCents: number; callbackUrl: string };
      const payment: Record<string, unknown> = { ...shown, ...create(shown.valueCents) };
      payment.checkoutUrl = service.page(String(payment.orderCode));
      made.push(payment);
      kept.set(String(payment.orderCode), payment);
      if (!lost) return ok(payment);
      lost = false;
      return timeout();
    });
    if (listed) script.on('GET', LIST, () => ok({ cardPayments: [...made].reverse(), total: made.length }));
    return { ...service, made };
  }

  test('A lost creation is found in the list by its details', async () => {
    const { person, tenant, made, script, page } = await startLost({ listed: true });
    const { payment, replayed } = await person.create(tenant, {
      valueCents: 4990,
      metadata: '{"order":7}',
      callbackUrl: 'https://shop.example/hook',
    });
    expect(made).toHaveLength(1);
    expect(payment).toMatchObject({
      orderCode: made[0]!.orderCode,
      metadata: '{"order":7}',
      checkoutUrl: page(payment.orderCode),
      callbackUrl: 'https://shop.example/hook',
    });
    expect(replayed).toBe(false);
    expect(script.requestLines).toEqual([`POST ${PATH}`, `GET ${PATH}`]);
  });

  test.each([
    ['A lost creation is found behind all later payments of the list', { pages: true, looks: 3 }],
    ['A lost creation stays in doubt where the list shows its first page alone', { pages: false, looks: 2 }],
  ])('%s', async (_, { pages, looks }) => {
    const { person, tenant, script, create, made, clock, facade, cards } = await startLost({ listed: false });
    script.on('GET', LIST, timeout);
    await expect(person.create(tenant, { valueCents: 80 })).rejects.toMatchObject(UNANSWERED);
    clock.advance(MINUTE);
    await facade.work.settled();
    for (let index = 0; index < 250; index += 1) made.push(create(1_000 + index));
    script.requestLines.length = 0;
    script.on('GET', LIST, ({ path }) => {
      const offset = pages ? Number(new URL(path, 'http://service').searchParams.get('offset')) : 0;
      return ok({ cardPayments: [...made].reverse().slice(offset, offset + 100), total: made.length });
    });
    const [intent] = await facade.intents.open(tenant, 'createCardPayment');
    const found = await cards.requests.createCardPayment!.lookUp(tenant, intent!);
    expect(found).toEqual(
      pages ? { found: expect.objectContaining({ resourceId: made[0]!.orderCode }) } : 'unclear',
    );
    expect(script.requestLines).toHaveLength(looks);
  });

  test('A lost creation is found where the list shows a customer without the tax number of the request', async () => {
    const { person, tenant, made } = await startLost({ listed: true });
    const customer = { name: 'Ana', taxId: '12345678909' };
    const { payment } = await person.create(tenant, { valueCents: 4990, customer });
    expect(payment).toMatchObject({ orderCode: made[0]!.orderCode, customer });
  });

  test('A lost creation is found where its customer is the merchant’s identifier alone', async () => {
    const { person, tenant, made } = await startLost({ listed: true });
    const customer = { externalId: 'u-1' };
    const { payment } = await person.create(tenant, { valueCents: 4990, customer });
    expect(made).toHaveLength(1);
    expect(payment).toMatchObject({ orderCode: made[0]!.orderCode, customer });
  });

  test('A lost creation is found by the clock that the service’s Date header shows', async () => {
    const { person, tenant, script, clock } = await start();
    const behind = new Date(clock.now().getTime() - 3 * 60 * MINUTE);
    const made = {
      ...{ orderCode: 'P1', status: 'pending', amountCents: 4990, createdAt: behind.toISOString() },
      checkoutUrl: 'https://service.example/P1',
    };
    script.on('POST', PATH, timeout);
    script.on('GET', LIST, () => ({
      ...ok({ cardPayments: [made], total: 1 }),
      headers: { date: behind.toUTCString() },
    }));
    const { payment } = await person.create(tenant, { valueCents: 4990 });
    expect(payment).toMatchObject({ orderCode: 'P1', createdAt: clock.now() });
  });

  test('A lost creation is not confused with a similar older payment', async () => {
    const { person, tenant, clock, script } = await start();
    const old = { orderCode: 'P1', status: 'pending', amountCents: 80, createdAt: clock.now().toISOString() };
    clock.advance(MINUTE);
    script.on('POST', PATH, timeout);
    script.on('GET', LIST, () => ok({ cardPayments: [old], total: 1 }));
    await expect(person.create(tenant, { valueCents: 80 })).rejects.toMatchObject(UNANSWERED);
    script.on('GET', LIST, () =>
      ok({ cardPayments: [{ ...old, createdAt: clock.now().toISOString(), metadata: '1' }], total: 1 }),
    );
    await expect(person.create(tenant, { valueCents: 80 })).rejects.toMatchObject(UNANSWERED);
  });

  test('Without a list a lost creation is unknown, and its key makes another payment, for nobody can pay on the first', async () => {
    const { person, tenant, made, script } = await startLost({ listed: false });
    const input = { valueCents: 80, idempotencyKey: 'order-1' };
    await expect(person.create(tenant, input)).rejects.toMatchObject(UNANSWERED);
    expect(made).toHaveLength(1);
    const { payment } = await person.create(tenant, input);
    expect(payment.orderCode).toBe(made[1]!.orderCode);
    expect(await person.create(tenant, input)).toMatchObject({ payment, replayed: true });
    expect(made).toHaveLength(2);
    // The facade remembers that the service has no list.
    expect(script.requestLines).toEqual([`POST ${PATH}`, `GET ${PATH}`, `POST ${PATH}`]);
  });

  test('A lost creation is looked up in the background until the payment must have expired', async () => {
    const { person, tenant, clock, facade } = await startLost({ listed: false });
    await expect(person.create(tenant, { valueCents: 80, idempotencyKey: 'k' })).rejects.toMatchObject(
      UNANSWERED,
    );
    const states = async () =>
      (
        await database.sql
          .selectFrom('upstream_intent')
          .select('state')
          .where('account_id', '=', tenant.accountId)
          .execute()
      ).map(({ state }) => state);
    facade.work.start();
    for (let minute = 0; minute < 25; minute += 1) {
      clock.advance(MINUTE);
      await facade.work.settled();
    }
    expect(await states()).toEqual(['in_doubt']);
    for (let minute = 0; minute < 60; minute += 1) {
      clock.advance(MINUTE);
      await facade.work.settled();
    }
    expect(await states()).toEqual(['absent']);
    expect((await person.create(tenant, { valueCents: 80, idempotencyKey: 'k' })).payment.status).toBe(
      'pending',
    );
  });

  test('Lost creations of two orders that are alike to the service get a payment each', async () => {
    const { person, tenant, facade, clock, create, script } = await start();
    const made: { orderCode: string }[] = [];
    script.on('POST', PATH, ({ body }) => {
      made.push({ ...(body as object), ...create(80) });
      return timeout();
    });
    script.on('GET', LIST, timeout);
    const orders = ['1042', '1043'];
    for (const externalId of orders)
      await expect(
        person.create(tenant, { valueCents: 80, externalId, idempotencyKey: externalId }),
      ).rejects.toMatchObject(UNANSWERED);
    expect(made).toHaveLength(2);
    script.on('GET', LIST, () => ok({ cardPayments: [...made].reverse(), total: made.length }));
    // Two concurrent lookups may choose the same payment: the second then looks again later.
    for (let minutes = 0; minutes < 10; minutes++) {
      clock.advance(MINUTE);
      await facade.work.settled();
    }
    const found = (await person.list(tenant, { end: 'first', limit: 10 })).items.map(
      ({ resource: payment }) => payment,
    );
    expect(found.map(({ externalId }) => externalId).sort()).toEqual(orders);
    expect(found.map(({ orderCode }) => orderCode).sort()).toEqual(
      made.map(({ orderCode }) => orderCode).sort(),
    );
    for (const externalId of orders)
      expect(
        (await person.create(tenant, { valueCents: 80, externalId, idempotencyKey: externalId })).payment,
      ).toMatchObject({ externalId });
    expect(made).toHaveLength(2);
  });

  test('A lost creation is unclear while a similar one is under way', async () => {
    const { person, tenant, clock, script } = await start();
    const [sent, answer] = [deferred(), deferred()];
    const made: object[] = [];
    script.on('POST', PATH, async () => {
      const payment = {
        orderCode: `P${objectId()}`,
        amountCents: 80,
        status: 'pending',
        createdAt: clock.now().toISOString(),
      };
      made.push(payment);
      if (made.length === 1) return timeout();
      sent.resolve();
      await answer.promise;
      return ok(payment);
    });
    script.on('GET', LIST, async () => {
      await sent.promise;
      return ok({ cardPayments: [...made].reverse(), total: made.length });
    });
    const lost = person.create(tenant, { valueCents: 80 });
    const other = person.create(tenant, { valueCents: 80 });
    await expect(lost).rejects.toMatchObject(UNANSWERED);
    answer.resolve();
    expect((await other).payment).toMatchObject({ orderCode: (made[1] as { orderCode: string }).orderCode });
  });
});

describe('a checkout token in front of the service', () => {
  const grant = (rest: Partial<CheckoutGrant> = {}): CheckoutGrant => ({
    amount: { kind: 'fixed', cents: 4990 },
    reusable: false,
    ...rest,
  });
  const token = (rest?: Partial<CheckoutGrant>) => ({ id: `tok_${objectId()}`, grant: grant(rest) });

  test('A token starts one payment for an attempt id, with the payers’ priority and the token as subject', async () => {
    const { payer, tenant, script } = await start();
    const given = token({ description: 'Caneca', callbackUrl: 'https://shop.example/hook' });
    const service = payer(given.id);
    const [first, second] = await Promise.all([
      service
        .startCheckout(tenant, given, { attemptId: ATTEMPT, customer: { name: 'Ana' } })
        .then(({ payment }) => payment),
      service
        .startCheckout(tenant, given, { attemptId: ATTEMPT, customer: { name: 'Ana' } })
        .then(({ payment }) => payment),
    ]);
    expect(first).toMatchObject({ amountCents: 4990, description: 'Caneca', customer: { name: 'Ana' } });
    expect(second.orderCode).toBe(first.orderCode);
    // A start that comes after the other has ended reads the payment.
    const created = script.requests.filter(({ method }) => method === 'POST');
    expect(created).toHaveLength(1);
    expect(created[0]!.requestOptions).toEqual({
      priority: 'payer',
      subject: { token: given.id, network: 'n1' },
    });
    await expect(
      service.startCheckout(tenant, given, { attemptId: ATTEMPT, customer: { name: 'Bia' } }),
    ).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  test('Two concurrent starts of a token make one payment, and the token is free again when that has expired', async () => {
    const { payer, tenant, kept, clock } = await start();
    const given = token();
    const service = payer(given.id);
    const both = await Promise.allSettled(
      [ATTEMPT, OTHER].map((attemptId) =>
        service.startCheckout(tenant, given, { attemptId }).then(({ payment }) => payment),
      ),
    );
    expect(kept.size).toBe(1);
    const [only] = kept.values();
    expect(both.some(({ status }) => status === 'fulfilled')).toBe(true);
    // The second start is refused while the first runs, and later joins it.
    for (const each of both)
      if (each.status === 'fulfilled') expect(each.value.orderCode).toBe(only!.orderCode);
      else expect(each.reason).toMatchObject({ code: 'CHECKOUT_TOKEN_USED' });
    clock.advance(31 * MINUTE);
    // No webhook reports the expiry, so the facade asks the service.
    only!.status = 'expired';
    const next = (await service.startCheckout(tenant, given, { attemptId: `${OTHER}.2` })).payment;
    expect(next.orderCode).not.toBe(only!.orderCode);
  });

  test('A token whose payment failed is looked up once more, and starts no other where that is paid or open after all', async () => {
    const { payer, tenant, kept, clock, webhook, script } = await start();
    const given = token({ externalId: `1042-${objectId()}` });
    const service = payer(given.id);
    const first = (await service.startCheckout(tenant, given, { attemptId: ATTEMPT })).payment;
    const { orderCode } = first;
    const claim = { orderCode, amount: 49.9 };
    await webhook({ event: 'card_payment.failed', status: 'failed', ...claim });
    expect(await service.find(tenant, orderCode)).toMatchObject({ status: 'failed' });
    clock.advance(3_000);
    // The service still shows the payment as open: its page may take the next card.
    await expect(service.startCheckout(tenant, given, { attemptId: OTHER })).rejects.toMatchObject({
      code: 'CHECKOUT_TOKEN_USED',
    });
    script.on('GET', `${PATH}/`, timeout);
    clock.advance(11_000);
    await expect(service.startCheckout(tenant, given, { attemptId: OTHER })).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      retryable: true,
    });
    script.on('GET', `${PATH}/`, () => ok(kept.get(orderCode)));
    kept.get(orderCode)!.status = 'paid';
    clock.advance(11_000);
    await expect(service.startCheckout(tenant, given, { attemptId: OTHER })).rejects.toMatchObject({
      code: 'ORDER_PAID',
    });
    expect(kept.size).toBe(1);
    expect(await service.find(tenant, orderCode)).toMatchObject({ status: 'paid' });
  });

  test('A token whose payment a webhook alone calls expired, before its time, starts no other until the service says so', async () => {
    const { payer, tenant, kept, clock, webhook, script } = await start();
    const given = token();
    const service = payer(given.id);
    const { orderCode } = (await service.startCheckout(tenant, given, { attemptId: ATTEMPT })).payment;
    await webhook({ event: 'card_payment.expired', status: 'expired', orderCode, amount: 49.9 });
    const startAgain = () =>
      service.startCheckout(tenant, given, { attemptId: `${ATTEMPT}.2` }).then(({ payment }) => payment);
    clock.advance(3_000);
    // The service still shows the payment as open, or does not answer.
    await expect(startAgain()).rejects.toMatchObject({ code: 'CHECKOUT_TOKEN_USED' });
    script.on('GET', `${PATH}/`, timeout);
    clock.advance(11_000);
    await expect(startAgain()).rejects.toMatchObject({ code: 'CHECKOUT_TOKEN_USED' });
    expect(kept.size).toBe(1);
    // Once its time is over, the facade needs no answer of the service.
    clock.advance(31 * MINUTE);
    expect((await startAgain()).orderCode).not.toBe(orderCode);
  });

  test('An order is open again where the service corrects its only paid payment', async () => {
    const { person, tenant, kept, clock, webhook } = await start();
    const externalId = `7-${objectId()}`;
    const [paid, open] = [
      (await person.create(tenant, { valueCents: 80, externalId })).payment,
      (await person.create(tenant, { valueCents: 80, externalId })).payment,
    ];
    await webhook({ orderCode: paid.orderCode, status: 'paid', amount: 0.8 });
    expect(await person.find(tenant, open.orderCode)).toMatchObject({ orderStatus: 'paid' });
    kept.get(paid.orderCode)!.status = 'failed';
    clock.advance(3 * MINUTE);
    expect(await person.find(tenant, paid.orderCode)).toMatchObject({ status: 'failed', unresolved: true });
    const again = await person.find(tenant, open.orderCode);
    expect(again).toMatchObject({ status: 'pending' });
    expect(again!.orderStatus ?? null).toBeNull();
    expect(await person.create(tenant, { valueCents: 80, externalId })).toMatchObject({ replayed: false });
  });

  test('A token is free again where the service itself says that its payment has failed', async () => {
    const { payer, tenant, kept, clock } = await start();
    const given = token();
    const service = payer(given.id);
    const first = (await service.startCheckout(tenant, given, { attemptId: ATTEMPT })).payment;
    kept.get(first.orderCode)!.status = 'failed';
    clock.advance(11_000);
    const next = (await service.startCheckout(tenant, given, { attemptId: OTHER })).payment;
    expect(next.orderCode).not.toBe(first.orderCode);
  });

  test('A second device is looked up for before it joins, and joins nothing while the first request is under way', async () => {
    const { payer, tenant, script, kept } = await start();
    const given = token();
    const service = payer(given.id);
    const first = (await service.startCheckout(tenant, given, { attemptId: ATTEMPT })).payment;
    expect((await service.startCheckout(tenant, given, { attemptId: OTHER })).payment.orderCode).toBe(
      first.orderCode,
    );
    expect(script.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(script.requests.filter(({ method }) => method === 'GET')).toHaveLength(1);
    for (const { requestOptions } of script.requests)
      expect(requestOptions).toEqual({ priority: 'payer', subject: { token: given.id, network: 'n1' } });
    expect(kept.size).toBe(1);

    const [sent, answer] = [deferred(), deferred()];
    script.on('POST', PATH, async () => {
      sent.resolve();
      await answer.promise;
      return ok({ orderCode: `P${objectId()}`, amountCents: 4990 });
    });
    const slow = token();
    const begun = payer(slow.id)
      .startCheckout(tenant, slow, { attemptId: ATTEMPT })
      .then(({ payment }) => payment);
    await sent.promise;
    await expect(payer(slow.id).startCheckout(tenant, slow, { attemptId: OTHER })).rejects.toMatchObject({
      code: 'CHECKOUT_TOKEN_USED',
    });
    answer.resolve();
    const { orderCode } = await begun;
    expect((await payer(slow.id).startCheckout(tenant, slow, { attemptId: OTHER })).payment.orderCode).toBe(
      orderCode,
    );
  });

  test('Lookups of a start in doubt count as the payer’s, however often it is repeated', async () => {
    const { payer, tenant, script, facade } = await start();
    const given = token();
    script.on('POST', PATH, timeout);
    script.on('GET', `${PATH}?`, () => ok({ cardPayments: [], total: 0 }));
    for (let time = 0; time < 2; time += 1)
      await expect(
        payer(given.id).startCheckout(tenant, given, { attemptId: ATTEMPT }),
      ).rejects.toMatchObject(UNANSWERED);
    expect(script.requests.length).toBeGreaterThan(3);
    for (const { requestOptions } of script.requests)
      expect(requestOptions).toMatchObject({ priority: 'payer', subject: { token: given.id } });
    expect(facade.faults).toEqual([]);
  });

  test('A token is free again when the service has refused, and not while the outcome is unknown', async () => {
    const { payer, tenant, script, clock } = await start();
    const given = token();
    const service = payer(given.id);
    let answer: () => ReturnType<typeof refused> | Error = () => refused(409, 'no');
    script.on('POST', PATH, () => answer());
    await expect(service.startCheckout(tenant, given, { attemptId: ATTEMPT })).rejects.toMatchObject({
      code: 'CARD_PAYMENTS_NOT_CONFIGURED',
    });
    answer = timeout;
    await expect(service.startCheckout(tenant, given, { attemptId: OTHER })).rejects.toMatchObject(
      UNANSWERED,
    );
    answer = () => ok({ orderCode: `P${objectId()}`, amountCents: 4990 });
    await expect(service.startCheckout(tenant, given, { attemptId: ATTEMPT })).rejects.toMatchObject({
      code: 'CHECKOUT_TOKEN_USED',
    });
    expect((await service.startCheckout(tenant, given, { attemptId: OTHER })).payment.amountCents).toBe(4990);
    const lost = token();
    answer = timeout;
    const again = payer(lost.id);
    await expect(again.startCheckout(tenant, lost, { attemptId: OTHER })).rejects.toMatchObject(UNANSWERED);
    clock.advance(31 * MINUTE);
    answer = () => ok({ orderCode: `P${objectId()}`, amountCents: 4990 });
    expect((await again.startCheckout(tenant, lost, { attemptId: ATTEMPT })).payment.status).toBe('pending');
  });

  test('A repeated start is looked up, so that no payer is sent to an expired page', async () => {
    const { payer, tenant, kept, script, clock } = await start();
    const given = token({ reusable: true });
    const service = payer(given.id);
    const first = (await service.startCheckout(tenant, given, { attemptId: ATTEMPT })).payment;
    clock.advance(31 * MINUTE);
    kept.get(first.orderCode)!.status = 'expired';
    const again = () =>
      service.startCheckout(tenant, given, { attemptId: ATTEMPT }).then(({ payment }) => payment);
    expect(await again()).toMatchObject({ orderCode: first.orderCode, status: 'expired' });

    // A final status is known; without an answer of the service the last known status is shown.
    await again();
    const asked = script.requests.length;
    const other = (await service.startCheckout(tenant, given, { attemptId: OTHER })).payment;
    script.on('GET', `${PATH}/`, () => timeout());
    expect((await service.startCheckout(tenant, given, { attemptId: OTHER })).payment).toEqual(other);
    expect(script.requests).toHaveLength(asked + 2);
  });

  test('A reusable token starts a payment for each attempt', async () => {
    const { payer, tenant, kept } = await start();
    const given = token({ reusable: true, amount: { kind: 'range', minCents: 100, maxCents: 200 } });
    const service = payer(given.id);
    for (const attemptId of [ATTEMPT, OTHER])
      (await service.startCheckout(tenant, given, { attemptId, valueCents: 150 })).payment;
    expect(kept.size).toBe(2);
    await expect(
      service.startCheckout(tenant, given, { attemptId: `${OTHER}.2`, valueCents: 99 }),
    ).rejects.toMatchObject({ code: 'BAD_USER_INPUT', fields: [{ path: 'input.valueCents' }] });
  });

  test.each([
    [null, { code: 'NOT_FOUND' }],
    [{ name: 'Caneca', priceCents: null }, { code: 'UPSTREAM_REFUSED' }],
  ])('A token sells no product %j', async (product, error) => {
    const { payer, tenant, script } = await start({ product });
    const given = token({ amount: { kind: 'product', productId: objectId() } });
    await expect(payer(given.id).startCheckout(tenant, given, { attemptId: ATTEMPT })).rejects.toMatchObject(
      error,
    );
    expect(script.requests).toEqual([]);
  });

  test('A token sells a product by its price and name', async () => {
    const { payer, tenant } = await start({ product: { name: 'Caneca', priceCents: 700 } });
    const given = token({ amount: { kind: 'product', productId: objectId() } });
    expect(
      (await payer(given.id).startCheckout(tenant, given, { attemptId: ATTEMPT })).payment,
    ).toMatchObject({
      amountCents: 700,
      description: 'Caneca',
    });
  });
});

describe('a card payment, looked up', () => {
  test('A text that is no order code is not looked up, and a code is one segment of the path', async () => {
    const { person, tenant, script } = await start();
    for (const code of ['', '../../money-out/wallet', 'a b', 'a\u0000', 'x'.repeat(65), 'ü'])
      expect(await person.find(tenant, code)).toBeNull();
    expect(script.requests).toEqual([]);
  });

  test('A payment is never older than the last webhook', async () => {
    const { person, payer, tenant, create, webhook } = await start();
    const { orderCode } = create(820);
    expect(await payer('t').find(tenant, orderCode)).toMatchObject({ status: 'pending' });
    await webhook({ orderCode, tipo: 'card_payment.paid', amount: 8.2, em: '2026-03-02T12:00:01.000Z' });
    // The facade caches the service's own answer, which is older.
    for (const service of [payer('t'), person])
      expect(await service.find(tenant, orderCode)).toMatchObject({
        status: 'paid',
        paidAt: new Date('2026-03-02T12:00:01.000Z'),
      });
  });

  test('A payment that has failed is looked up again, for the service may say later that it was paid', async () => {
    const { person, tenant, create, kept, events, clock, facade } = await start();
    const { orderCode } = create(820, 'failed');
    expect(await person.find(tenant, orderCode)).toMatchObject({ status: 'failed' });
    kept.get(orderCode)!.status = 'paid';
    clock.advance(MINUTE);
    expect(await person.find(tenant, orderCode)).toMatchObject({ status: 'paid', failureReason: null });
    expect(await events()).toEqual([
      ['card_payment.failed', null, orderCode],
      ['card_payment.paid', 'failed', orderCode],
    ]);
    const correction = { resource: 'card_payment', id: orderCode, from: 'failed', to: 'paid' };
    expect(facade.corrections).toEqual([correction]);
  });

  test('The last known payment is shown by a service without the lookup, which each service has', async () => {
    const { person, tenant, script, clock } = await start();
    const { payment } = await person.create(tenant, { valueCents: 80 });
    clock.advance(MINUTE);
    script.on('GET', `${PATH}/`, () => refused(405, 'no'));
    expect(await person.find(tenant, payment.orderCode)).toEqual(payment);
    await expect(person.find(tenant, 'OTHER')).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });
});

describe('a webhook of a card payment', () => {
  test('A webhook is read by its order code, and a repeated one changes nothing', async () => {
    const { cards, webhook, events, person, tenant } = await start();
    expect(cards.readWebhook({ event: 'withdrawal.completed', withdrawalId: '1' })).toBeNull();
    const paid = { tipo: 'card_payment.paid', orderCode: 'P1', amount: 8.2, situacao: 'paid' };
    expect(cards.readWebhook(paid)).toMatchObject({ resource: 'card_payment', reference: 'P1' });
    await webhook(paid);
    await webhook(paid);
    await webhook({ orderCode: 'P1', status: 'pending', amount: 8.2 });
    expect(await events()).toEqual([['card_payment.paid', null, 'P1']]);
    expect((await person.list(tenant, { end: 'first', limit: 1 })).items[0]!.resource).toMatchObject({
      amountCents: 820,
      status: 'paid',
      checkoutUrl: null,
    });
  });
});

describe('what somebody follows', () => {
  test('Followed payments are polled when they are due, a few at a time, the longest unseen first', async () => {
    const { cards, person, tenant, script, clock, kept } = await start();
    const codes: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      codes.push((await person.create(tenant, { valueCents: 80 })).payment.orderCode);
      clock.advance(1);
    }
    script.requests.length = 0;
    const poll = () => cards.poll(tenant, { all: true, ids: [] });
    expect(await poll()).toEqual(new Date('2026-03-02T12:00:03.000Z'));
    expect(script.requests).toEqual([]);
    clock.advance(3_000);
    kept.get(codes[1]!)!.status = 'paid';
    const asked = () =>
      script.requests.map(({ path, requestOptions }) => [
        path.slice(PATH.length + 1),
        requestOptions.priority,
      ]);
    const next = await poll();
    expect(asked()).toEqual([
      [codes[0], 'poll'],
      [codes[1], 'poll'],
    ]);
    expect(next).toEqual(plusMs(clock.now(), 3_000));
    clock.moveTo(next!);
    await poll();
    // A paid payment is no longer polled.
    expect(
      asked()
        .slice(2)
        .map(([code]) => code),
    ).toEqual([codes[2], codes[0]]);
  });

  test('A payment is not polled where nothing can change or the service cannot be reached', async () => {
    const { cards, person, tenant, script, clock, kept } = await start();
    // Another instance may sell a product.
    const later = new Date(clock.ms() + 30_000);
    expect(await cards.poll(tenant, { all: true, ids: [] })).toEqual(later);
    expect(await cards.poll(tenant, { all: false, ids: [] })).toBeNull();
    expect(await cards.poll({ ...tenant, environment: 'sandbox' }, { all: true, ids: [] })).toBeNull();
    const { orderCode } = (await person.create(tenant, { valueCents: 80 })).payment;
    const only = { all: false, ids: [orderCode] };
    clock.advance(3_000);
    script.on('GET', PATH, () => new RateLimitError('120 a minute', 3));
    await expect(cards.poll(tenant, only)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    script.on('GET', PATH, () => ok({ ...kept.get(orderCode), status: 'failed' }));
    clock.advance(3_000);
    await cards.poll(tenant, only);
    expect(await cards.poll(tenant, only)).toBeNull();
  });

  test('Polling of two hundred payments stays inside the share of all polling', async () => {
    const { cards, person, tenant, script, clock } = await start();
    await Promise.all(Array.from({ length: 200 }, () => person.create(tenant, { valueCents: 80 })));
    script.requests.length = 0;
    const end = plusMs(clock.now(), 2 * MINUTE);
    while (clock.now() < end) {
      const next = await cards.poll(tenant, { all: true, ids: [] });
      clock.moveTo(next!);
    }
    expect(script.requests.length).toBeGreaterThan(60);
    expect(script.requests.length).toBeLessThanOrEqual(82);
    expect(new Set(script.requests.map(({ path }) => path)).size).toBe(script.requests.length);
  });
});
