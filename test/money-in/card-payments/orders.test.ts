import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { objectId } from '../../../server/src/kernel/ids.ts';
import {
  otherCardPaymentsOf,
  readWithOtherPayments,
} from '../../../server/src/money-in/card-payments/collections.ts';
import type { StoredCardPayment } from '../../../server/src/money-in/card-payments/model.ts';
import { selectByExternalIds, selectPaidOfOrder } from '../../../server/src/money-in/card-payments/store.ts';
import type { CheckoutMethod } from '../../../server/src/money-in/checkout/model.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import type { OrderPayment } from '../../../server/src/state/commit/orders.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { keysOf } from '../../../server/src/state/db/each-tenant.ts';
import { selectPaymentsOfOrders } from '../../../server/src/upstream/mirror-store.ts';
import { approved, approvedLate, approvedSoon, declined } from '../../support/cards.ts';
import { type Core, startCore, startTwoCores } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { readAfter } from '../../support/events.ts';
import { embedded } from '../../support/port-fixture.ts';
import { explainQueries } from '../../support/statements.ts';
import { describeOrders } from './orders-port.ts';

const MINUTE = 60_000;
const SESSION = 30 * MINUTE;
const SALE = { valueCents: 4990 };

describeOnDatabase('orders', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  describeOrders(embedded(() => database));

  test('Of two payments of one order that are paid at the same moment one is kept, and the other returned', async () => {
    const core = await startCore({ database });
    const codes = [await create(core, '1042'), await create(core, '1042')];
    const results = await Promise.all(codes.map((code) => core.cardPayments.pay(code, approvedSoon())));
    expect(results.map(({ kind }) => kind)).toEqual(['processing', 'processing']);
    await core.pass(5_000);
    expect((await statuses(core, codes)).sort()).toEqual(['failed', 'paid']);
    expect(await core.balances()).toMatchObject({ merchant_pending: 4990 });
    expect(await chargesKept(core)).toBe(4990);
  });

  test('Of sixteen payments of one order that payers pay at once one is kept, from tokens and requests', async () => {
    const core = await startCore({ database });
    const token = await mint(core, '1042');
    const started = (await core.cardPayments.startCheckout(core.tenant, token, { attemptId: newAttemptId() }))
      .payment;
    const codes = [started.orderCode];
    for (let count = 1; count < 16; count += 1) codes.push(await create(core, '1042'));
    const results = await Promise.all(codes.map((code) => core.cardPayments.pay(code, approved())));
    await core.work.settled();
    for (const { kind } of results) expect(['paid', 'paid_elsewhere', 'returned']).toContain(kind);
    const after = await statuses(core, codes);
    expect(after.filter((status) => status === 'paid')).toHaveLength(1);
    for (const code of codes) {
      const { status, returned } = (await core.cardPayments.find(core.tenant, code))!;
      expect(returned).toBe(status === 'failed');
    }
    expect(await core.balances()).toMatchObject({ merchant_pending: 4990 });
    expect(await chargesKept(core)).toBe(4990);
    await expect(create(core, '1042')).rejects.toMatchObject({ code: 'ORDER_PAID' });
  });

  test('Two instances keep one of the payments of an order', async () => {
    const [one, two] = await startTwoCores();
    const codes = [await create(one, '1042'), await create(two, '1042')];
    await Promise.all([one, two].map((core, index) => core.cardPayments.pay(codes[index]!, approved())));
    await Promise.all([one.work.settled(), two.work.settled()]);
    expect((await statuses(one, codes)).filter((status) => status === 'paid')).toHaveLength(1);
    expect(await chargesKept(one, two)).toBe(4990);
  });

  test('A payment that is paid late is returned where its order was paid meanwhile', async () => {
    const core = await startCore({ database });
    const [late, kept] = [await create(core, '1042'), await create(core, '1042')];
    expect(await core.cardPayments.pay(late, approvedLate())).toMatchObject({ kind: 'processing' });
    await core.pass(SESSION - MINUTE);
    const again = await create(core, '1042');
    await core.cardPayments.pay(kept, approved());
    await core.pass(20 * MINUTE);
    expect(await statuses(core, [late, kept, again])).toEqual(['failed', 'paid', 'pending']);
  });

  test('No payment of an order takes a card once one was paid, also where that was refunded', async () => {
    const core = await startCore({ database });
    const [first, second] = [await create(core, '1042'), await create(core, '1042')];
    await core.cardPayments.pay(first, declined());
    expect((await core.cardPayments.open(second))!.orderStatus).toBeNull();
    await core.cardPayments.pay(first, approved());
    const refused = { kind: 'paid_elsewhere', payment: { status: 'pending', openChargeId: null } };
    expect(await core.cardPayments.pay(second, approved())).toMatchObject(refused);
    expect((await core.cardPayments.open(first))!.orderStatus).toBeNull();
    expect((await core.cardPayments.open(second))!.orderStatus).toBe('paid');
    await core.cardPayments.refund(core.tenant, first);
    await core.work.settled();
    expect(await core.cardPayments.pay(second, approved())).toMatchObject(refused);
    expect((await core.cardPayments.open(second))!.orderStatus).toBe('refunded');
  });

  test('An order that was paid by PIX takes no payment by any method, and has another refusal once it is refunded', async () => {
    const core = await startCore({ database });
    const { tenant, payments, cardPayments } = core;
    const input = { valueCents: 4990, externalId: '1042' };
    const byPix = (idempotencyKey?: string) => payments.create(tenant, { ...input, idempotencyKey });
    const byLtc = (idempotencyKey?: string) =>
      payments.create(tenant, { ...input, method: 'ltc', idempotencyKey });
    const byCard = (idempotencyKey?: string) => cardPayments.create(tenant, { ...input, idempotencyKey });
    const token = await mint(core, '1042', ['card', 'pix']);
    const { payment } = await byPix('pix-1');
    await byLtc('ltc-1');
    await byCard('card-1');
    await core.pix.pay({ txid: txidOf(payment.paymentId) });
    await payments.receive(tenant, payment.paymentId);

    const expectRefused = async (code: string) => {
      for (const key of [undefined, 'new'])
        for (const create of [byPix, byLtc, byCard])
          await expect(create(key)).rejects.toMatchObject({ code });
      for (const slice of [payments, cardPayments])
        await expect(slice.startCheckout(tenant, token, { attemptId: newAttemptId() })).rejects.toMatchObject(
          { code },
        );
      expect(await Promise.all([byPix('pix-1'), byLtc('ltc-1'), byCard('card-1')])).toMatchObject([
        { replayed: true },
        { replayed: true },
        { replayed: true },
      ]);
      expect([await payments.count(tenant, {}), await cardPayments.count(tenant, {})]).toEqual([2, 1]);
    };
    await expectRefused('ORDER_PAID');
    const resource = { type: 'payment', id: payment.paymentId } as const;
    await core.refunds.request(tenant, resource, { amountCents: 4989 });
    await core.work.settled();
    await expectRefused('ORDER_PAID');
    await core.refunds.request(tenant, resource, {});
    await core.work.settled();
    await expectRefused('ORDER_REFUNDED');
    // A charge's externalId is a label, and names no order.
    const charge = { valueCents: 100, externalId: '1042' };
    expect((await core.charges.create(tenant, charge)).charge).toMatchObject({ status: 'pending' });
  });

  test('The commit that pays an order marks its open payments of each method, with an update, and its full refund too', async () => {
    const core = await startCore({ database });
    const { tenant, payments, cardPayments } = core;
    const input = { valueCents: 4990, externalId: '1042' };
    const kept = await create(core, '1042');
    const open = {
      card: await create(core, '1042'),
      pix: (await payments.create(tenant, input)).payment.paymentId,
      ltc: (await payments.create(tenant, { ...input, method: 'ltc' })).payment.paymentId,
    };
    const alone = [await create(core, '1043'), await create(core, null)];
    // The payment is created in the transaction of the approval, before it, so no earlier command could have seen it.
    const [, racing] = await Promise.all([
      cardPayments.pay(kept, approved()),
      payments.create(tenant, input).then(({ payment }) => payment.paymentId),
    ]);
    const expectMarked = async (orderStatus: 'paid' | 'refunded') => {
      expect(await cardPayments.find(tenant, open.card)).toMatchObject({ status: 'pending', orderStatus });
      for (const id of [open.pix, open.ltc, racing])
        expect(await payments.find(tenant, id)).toMatchObject({ status: 'pending', orderStatus });
      for (const code of [kept, ...alone])
        expect(await cardPayments.find(tenant, code)).toMatchObject({ orderStatus: null });
    };
    await expectMarked('paid');
    const updates = await eventsOf(core);
    const paidAt = updates.findIndex(({ kind }) => kind === 'card_payment.paid');
    const marked = updates.filter(({ snapshot }) => snapshot.orderStatus === 'paid');
    expect(marked.map(({ resourceId }) => resourceId)).toEqual(expect.arrayContaining(Object.values(open)));
    // One that is created in the same transaction may be marked by its first event.
    for (const event of marked.filter(({ resourceId }) => resourceId !== racing))
      expect(event).toMatchObject({ previousStatus: 'pending' });
    // The updates of one commit have consecutive versions.
    expect(updates[paidAt + 1]).toMatchObject({ snapshot: { orderStatus: 'paid' } });

    await core.refunds.request(tenant, { type: 'card_payment', id: kept }, { amountCents: 1 });
    await core.work.settled();
    await expectMarked('paid');
    await core.refunds.request(tenant, { type: 'card_payment', id: kept }, {});
    await core.work.settled();
    await expectMarked('refunded');
    expect((await cardPayments.open(open.card))!.orderStatus).toBe('refunded');
    await core.pass(SESSION);
    expect(await cardPayments.find(tenant, open.card)).toMatchObject({
      status: 'expired',
      orderStatus: 'refunded',
    });
  });

  test('The commit that pays an order marks the newest of its payments that had expired, with an update and without a webhook', async () => {
    const core = await startCore({ database });
    const { tenant, payments, cardPayments } = core;
    const cards: string[] = [];
    for (let count = 0; count < 22; count += 1) cards.push(await create(core, '1042'));
    const { paymentId } = (await payments.create(tenant, { ...SALE, externalId: '1042' })).payment;
    const other = await create(core, '1043');
    await core.pass(SESSION);
    const before = (await eventsOf(core)).length;
    await cardPayments.pay(await create(core, '1042'), approved());
    const marked = (await eventsOf(core))
      .slice(before)
      .filter(({ snapshot }) => snapshot.orderStatus === 'paid')
      .map(({ resourceId }) => resourceId);
    // At most twenty payments of each method are marked, so the cost of an order is bounded.
    expect(marked.sort()).toEqual([...cards.slice(2), paymentId].sort());
    for (const code of cards.slice(2))
      expect(await cardPayments.find(tenant, code)).toMatchObject({ status: 'expired', orderStatus: 'paid' });
    expect(await payments.find(tenant, paymentId)).toMatchObject({ status: 'expired', orderStatus: 'paid' });
    for (const code of [cards[0]!, other])
      expect(await cardPayments.find(tenant, code)).toMatchObject({ orderStatus: null });
  });

  test('An order that a PIX or LTC pays marks the payments of its checkout attempt, too', async () => {
    const core = await startCore({ database });
    const { tenant, payments, cardPayments } = core;
    const input = { amount: { fixedCents: 4990 }, methods: ['card', 'pix'] as CheckoutMethod[] };
    const { token } = await core.checkoutTokens.create(tenant, null, input);
    const { credential } = await core.access.authenticate(`Bearer ${token}`);
    if (credential.kind !== 'checkout_token') throw new TypeError('not a checkout token');
    const start = { attemptId: newAttemptId() };
    const { orderCode } = (await cardPayments.startCheckout(tenant, credential, start)).payment;
    const { paymentId } = (await payments.startCheckout(tenant, credential, start)).payment;
    await core.pix.pay({ txid: txidOf(paymentId) });
    await payments.receive(tenant, paymentId);
    expect(await payments.find(tenant, paymentId)).toMatchObject({ status: 'paid', orderStatus: null });
    expect(await cardPayments.find(tenant, orderCode)).toMatchObject({
      status: 'pending',
      orderStatus: 'paid',
    });

    const byLtc = (await payments.create(tenant, { ...SALE, externalId: '1044', method: 'ltc' })).payment;
    const byPix = (await payments.create(tenant, { ...SALE, externalId: '1044' })).payment;
    await core.litecoin.send(byLtc.ltc!.address!, { litoshi: byLtc.ltc!.litoshi, confirmations: 2 });
    await core.work.settled();
    expect(await payments.find(tenant, byLtc.paymentId)).toMatchObject({ status: 'paid', orderStatus: null });
    expect(await payments.find(tenant, byPix.paymentId)).toMatchObject({ orderStatus: 'paid' });
  });

  test('Payments of another order, of none and of another account are kept beside it', async () => {
    const [core, other] = [await startCore({ database }), await startCore({ database })];
    const codes = [await create(core, '1042'), await create(core, '1043'), await create(core, null)];
    codes.push(await create(core, null));
    const foreign = await create(other, '1042');
    for (const code of codes)
      expect(await core.cardPayments.pay(code, approved())).toMatchObject({ kind: 'paid' });
    expect((await core.cardPayments.open(foreign))!.orderStatus).toBeNull();
    expect(await other.cardPayments.pay(foreign, approved())).toMatchObject({ kind: 'paid' });
    await core.work.settled();
    expect(await statuses(core, codes)).toEqual(['paid', 'paid', 'paid', 'paid']);
  });

  test('A token of an order starts by either method after another payment of that order was canceled and returned', async () => {
    const core = await startCore({ database });
    const canceled = await create(core, '1042');
    await core.cardPayments.pay(canceled, approvedSoon());
    await core.cardPayments.cancel(core.tenant, canceled);
    const token = await mint(core, '1042', ['card', 'pix']);
    const start = (slice: 'cardPayments' | 'payments') =>
      core[slice]
        .startCheckout(core.tenant, token, { attemptId: newAttemptId() })
        .then(({ payment }) => payment);
    expect(await start('payments')).toMatchObject({ status: 'pending' });
    await core.pass(5_000);
    expect(await statuses(core, [canceled])).toEqual(['failed']);
    expect(await start('payments')).toMatchObject({ status: 'pending' });
    const { orderCode } = (await start('cardPayments')) as StoredCardPayment;
    await core.cardPayments.cancel(core.tenant, orderCode);
    await expect(start('payments')).rejects.toMatchObject({ code: 'CHECKOUT_TOKEN_USED' });
  });

  test('A page that names nothing of its customer leaves that of the token', async () => {
    const core = await startCore({ database });
    const named = { name: 'Ana', externalId: 'c-7' };
    const input = {
      amount: { fixedCents: 4990 },
      methods: ['card', 'pix'] as CheckoutMethod[],
      customer: named,
    };
    const { token } = await core.checkoutTokens.create(core.tenant, null, { ...input, reusable: true });
    const { credential } = await core.access.authenticate(`Bearer ${token}`);
    if (credential.kind !== 'checkout_token') throw new TypeError('not a checkout token');
    for (const slice of ['cardPayments', 'payments'] as const)
      for (const [customer, kept] of [
        [{}, named],
        [{ name: null, email: null }, named],
        [{ name: 'Bia' }, { name: 'Bia' }],
      ] as const) {
        const start = { attemptId: newAttemptId(), customer };
        const started = (await core[slice].startCheckout(core.tenant, credential, start)).payment;
        expect(started.customer).toEqual(kept);
      }
  });

  test('A repeated key gives the payment of its order, and another order under it is refused', async () => {
    const core = await startCore({ database });
    const input = { valueCents: 4990, externalId: '1042', idempotencyKey: 'k-1' };
    const { payment } = await core.cardPayments.create(core.tenant, input);
    expect(await core.cardPayments.create(core.tenant, input)).toMatchObject({
      replayed: true,
      payment: { orderCode: payment.orderCode },
    });
    const other = core.cardPayments.create(core.tenant, { ...input, externalId: '1043' });
    await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  test('Revoked tokens of an order start nothing, and others of it go on', async () => {
    const core = await startCore({ database });
    const input = { amount: { fixedCents: 4990 }, externalId: '1042' };
    const texts = [
      (await core.checkoutTokens.create(core.tenant, null, input)).token,
      (await core.checkoutTokens.create(core.tenant, null, input)).token,
    ];
    await core.access.revokeToken(core.tenant, texts[0]!);
    await expect(core.access.authenticate(`Bearer ${texts[0]}`)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
    expect((await core.access.authenticate(`Bearer ${texts[1]}`)).credential.kind).toBe('checkout_token');
    const { token } = await core.checkoutTokens.create(core.tenant, null, input);
    expect((await core.access.authenticate(`Bearer ${token}`)).credential.kind).toBe('checkout_token');
  });
});

describeOnDatabase('an order with thousands of payments', (open) => {
  let core: Core;
  let database: Database;
  const COUNT = 5_000;
  beforeAll(async () => {
    database = await open();
  });

  async function crowd(): Promise<void> {
    const { accountId } = core.tenant;
    // Every eighth payment is open, and the others have expired; another order has as many.
    await sql`
      insert into card_payment (account_id, environment, order_code, version, status, amount_cents, created_at,
        expires_at, external_id, checkout_attempt)
      select ${accountId}, 'live', 'PSC-' || lpad(n::text, 24, '0'), 1,
        case when n % 8 = 0 then 'pending' else 'expired' end, 4990, ${core.clock.now()},
        ${new Date(core.clock.now().getTime() + SESSION)}, (1042 + n % 2)::text, null
      from generate_series(1, ${COUNT}) n`.execute(database.sql);
    await sql`
      insert into observed (account_id, environment, resource, id, version, status, final, snapshot, observed_at)
      select ${accountId}, 'live', 'card_payment', 'P' || n, 1, case when n % 100 = 0 then 'paid' else 'expired' end,
        false, jsonb_build_object('externalId', (1042 + n % 2)::text), ${core.clock.now()}
      from generate_series(1, ${COUNT}) n`.execute(database.sql);
    // Order 2043 has a paid payment by PIX, and 2042 one with an unknown status that was paid before.
    await sql`
      insert into observed (account_id, environment, resource, id, version, status, final, snapshot, observed_at)
      select ${accountId}, 'live', 'payment', 'X' || n, 1,
        case when n > 2 then 'expired' when n = 1 then 'paid' else 'unknown' end, false,
        jsonb_build_object('externalId', (2042 + n % 2)::text, 'lastStatus', case when n = 2 then 'paid' end),
        ${core.clock.now()}
      from generate_series(1, ${COUNT}) n`.execute(database.sql);
    await sql`analyze card_payment, observed`.execute(database.sql);
  }

  test('A charge of such an order reads the payments that decide, by an index', async () => {
    core = await startCore({ database, follows: false });
    const { tenant } = core;
    const codes = [await create(core, '1042'), await create(core, '1042'), await create(core, '1042')];
    await crowd();
    await core.cardPayments.pay(codes[0]!, approvedSoon());
    await core.pass(5_000);
    const { database: explained, plans } = explainQueries(database);
    const keys = keysOf(tenant, ['1042', '1043', 'none']);
    expect(await selectByExternalIds(explained.sql, keys)).toEqual([[codes[0]], [], []]);
    const [payment] = await core.cardPayments.findMany(tenant, [codes[1]!]);
    expect(await selectPaidOfOrder(explained.sql, tenant, payment!)).toMatchObject([{ orderCode: codes[0] }]);
    expect(plans).toHaveLength(2);
    for (const { statement, rowsRead, scanned } of plans)
      expect([statement, scanned, rowsRead <= 3]).toEqual([statement, [], true]);
    // The payments of each order that were paid, and the newest of each method.
    const ids = (orders: Awaited<ReturnType<typeof selectPaymentsOfOrders>>) =>
      orders.map(({ externalId, payments }) => [
        externalId,
        payments.length,
        payments.some(({ id }) => /^(X1|X2|P100)$/.test(id)),
      ]);
    expect(ids(await selectPaymentsOfOrders(explained.sql, tenant, ['1042', '1043', 'none']))).toEqual([
      ['1042', 40, true],
      ['1043', 20, false],
      ['none', 0, false],
    ]);
    expect(ids(await selectPaymentsOfOrders(explained.sql, tenant, ['2042', '2043']))).toEqual([
      ['2042', 21, true],
      ['2043', 21, true],
    ]);
    expect(plans).toHaveLength(4);
    for (const { statement, rowsRead, scanned } of plans.slice(2))
      expect([statement, scanned, rowsRead <= 150]).toEqual([statement, [], true]);

    const otherPayments = await core.committer.change<OrderPayment[]>({
      tenant,
      read: (reader) => readWithOtherPayments(reader, codes[1]!),
      decide: (state) => ({ outcome: otherCardPaymentsOf(state, payment!) }),
    });
    expect(otherPayments.map(({ id, status }) => [id, status])).toEqual([[codes[0], 'paid']]);
  });
});

/** The updates of all payments, in order. */
async function eventsOf(core: Core) {
  const { events } = await readAfter(core.database.sql, core.tenant, { after: 0, limit: 1_000 });
  return events.flatMap((event) =>
    event.resource === 'card_payment' || event.resource === 'payment' ? [event] : [],
  );
}

async function create({ cardPayments, tenant }: Core, externalId: string | null): Promise<string> {
  return (await cardPayments.create(tenant, { valueCents: 4990, externalId })).payment.orderCode;
}

async function mint(core: Core, externalId: string, methods?: CheckoutMethod[]) {
  const input = { amount: { fixedCents: 4990 }, externalId, methods };
  const { token } = await core.checkoutTokens.create(core.tenant, null, input);
  const { credential } = await core.access.authenticate(`Bearer ${token}`);
  if (credential.kind !== 'checkout_token') throw new TypeError('not a checkout token');
  return credential;
}

async function statuses({ cardPayments, tenant }: Core, codes: readonly string[]): Promise<string[]> {
  return (await cardPayments.findMany(tenant, codes)).map((payment) => payment!.status);
}

/** The cents that the acquirer took from this merchant's payers and has not returned. */
async function chargesKept(...cores: Core[]): Promise<number> {
  const [{ database, clock }] = cores as [Core];
  const charges = await database.sql
    .selectFrom('simulated_charge')
    .selectAll()
    .where('status', 'in', ['approved', 'pending'])
    .where(
      'id',
      'in',
      cores.flatMap(({ chargeIds }) => [...chargeIds]),
    )
    .execute();
  const refunds = await database.sql
    .selectFrom('simulated_refund')
    .selectAll()
    .where(
      'charge_id',
      'in',
      charges.map(({ id }) => id),
    )
    .execute();
  const sum = (rows: readonly { settles_at: Date | null; amount_cents: number }[]) =>
    rows
      .filter(({ settles_at }) => settles_at === null || settles_at <= clock.now())
      .reduce((cents, { amount_cents }) => cents + amount_cents, 0);
  return sum(charges) - sum(refunds);
}

/** Creates an id of at least 128 bits, as a browser does. */
function newAttemptId(): string {
  return objectId() + objectId();
}
