import { beforeAll, describe, expect, test } from 'vitest';
import type { StoredCardPayment } from '../../server/src/money-in/card-payments/model.ts';
import { pageState as cardPageState } from '../../server/src/money-in/card-payments/page/state.ts';
import type { StoredPayment } from '../../server/src/money-in/payments/model.ts';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import { pageState as pixPageState } from '../../server/src/money-in/pix/page/state.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { INITIAL, reduce } from '../../widget/src/checkout-state.ts';
import type { CheckoutPayment } from '../../widget/src/operations.ts';
import { refundOf, saleOf } from '../../widget/src/server/sales.ts';
import { createRandom, type Random } from '../faults/random.ts';
import { expectBooksHold } from '../laws/books.ts';
import { approved, approvedLate, approvedSoon, declined } from '../support/cards.ts';
import { createManualClock } from '../support/clock.ts';
import { type Core, startCore } from '../support/core.ts';
import { openFreshDatabase } from '../support/database.ts';
import { readAfter } from '../support/events.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { scale } from '../support/scale.ts';

// One order has many observers: the payer's page, the element on each device, a shop that knows only webhooks, one
// that follows the stream, the merchant's list. After any history all of them show the state of the tables.

const ORDERS = scale('ORDERS');
/** The number of orders of one account whose histories run at the same time. */
const AT_ONCE = 50;
const STEPS = 10;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const VALUE_CENTS = 4_990;

/** The state of an order, as an observer shows it. */
type Says = 'unpaid' | 'paid' | 'refunded';

/** A payment of either family, in the merchant's form. */
type AnyPayment = StoredCardPayment | StoredPayment;

const isCard = (payment: AnyPayment): payment is StoredCardPayment => 'orderCode' in payment;
const idOf = (payment: AnyPayment) => (isCard(payment) ? payment.orderCode : payment.paymentId);

/** Steps of a merchant, a payer or a rail, which may be refused. */
const STEPS_OF_ORDERS = {
  async createCard(core: Core, externalId: string) {
    await core.cardPayments.create(core.tenant, { valueCents: VALUE_CENTS, externalId });
  },
  async createPix(core: Core, externalId: string) {
    await core.payments.create(core.tenant, { valueCents: VALUE_CENTS, externalId });
  },
  async createLtc(core: Core, externalId: string) {
    await core.payments.create(core.tenant, { valueCents: VALUE_CENTS, externalId, method: 'ltc' });
  },
  async payByCard(core: Core, externalId: string, random: Random) {
    const card = random.pick([approved, approvedSoon, approvedLate, declined])();
    const payment = random.pick((await paymentsOf(core, externalId)).filter(isCard));
    if (payment) await core.cardPayments.pay(payment.orderCode, card);
  },
  async payByPix(core: Core, externalId: string, random: Random) {
    const payment = random.pick(await pixOf(core, externalId));
    if (!payment?.brCode) return;
    const amountCents = random.pick([VALUE_CENTS, VALUE_CENTS, VALUE_CENTS, VALUE_CENTS - 1]);
    await core.pix.pay({ txid: txidOf(payment.paymentId), amountCents });
    await core.payments.receive(core.tenant, payment.paymentId);
  },
  async payByLtc(core: Core, externalId: string, random: Random) {
    const payment = random.pick(await ltcOf(core, externalId));
    if (!payment?.ltc?.address) return;
    await core.litecoin.send(payment.ltc.address, {
      litoshi: payment.ltc.litoshi,
      confirmations: 2,
    });
    await core.ltc.receive(core.tenant, payment.paymentId);
  },
  async cancel(core: Core, externalId: string, random: Random) {
    const payment = random.pick(await paymentsOf(core, externalId));
    if (!payment) return;
    if (isCard(payment)) await core.cardPayments.cancel(core.tenant, payment.orderCode);
    else await core.payments.cancel(core.tenant, payment.paymentId);
  },
  async refund(core: Core, externalId: string, random: Random) {
    const payment = (await paymentsOf(core, externalId)).find(({ status }) => status === 'paid');
    if (!payment) return;
    const type = isCard(payment) ? 'card_payment' : 'payment';
    const amountCents = random.pick([undefined, undefined, 1_000]);
    await core.refunds.request(core.tenant, { type, id: idOf(payment) }, { amountCents });
  },
};
type Step = keyof typeof STEPS_OF_ORDERS;
// Refunds are added twice, because few orders are paid when one of them is refunded.
const NAMES = [...Object.keys(STEPS_OF_ORDERS), 'refund'] as Step[];

async function paymentsOf(core: Core, externalId: string): Promise<AnyPayment[]> {
  const range = { end: 'first', limit: 100, externalId } as const;
  const pages = await Promise.all([
    core.cardPayments.list(core.tenant, range),
    core.payments.list(core.tenant, range),
  ]);
  return [
    ...pages[0].items.map(({ resource: payment }) => payment),
    ...pages[1].items.map(({ resource }) => resource),
  ];
}

const othersOf = async (core: Core, externalId: string) =>
  (await paymentsOf(core, externalId)).filter((payment): payment is StoredPayment => !isCard(payment));
const pixOf = async (core: Core, externalId: string) =>
  (await othersOf(core, externalId)).filter(({ method }) => method === 'pix');
const ltcOf = async (core: Core, externalId: string) =>
  (await othersOf(core, externalId)).filter(({ method }) => method === 'ltc');

/** Plays the histories of these orders at the same time. Returns the names of the steps, for a failure. */
async function play(core: Core, orders: readonly string[], random: Random): Promise<Map<string, string[]>> {
  const histories = new Map(orders.map((order) => [order, [] as string[]]));
  for (let round = 0; round < STEPS; round += 1) {
    for (const [order, history] of histories) {
      const step = random.pick(NAMES);
      const outcome = await STEPS_OF_ORDERS[step](core, order, random).then(
        () => '',
        (error: { code?: string }) => {
          // An error without a code is a fault of the server or of this test.
          if (error.code === undefined) throw error;
          return `: ${error.code}`;
        },
      );
      history.push(`${step}${outcome}`);
    }
    await core.pass(random.pick([1_000, MINUTE, 20 * MINUTE, 40 * MINUTE]));
  }
  await core.pass(8 * DAY);
  return histories;
}

/**
 * A shop that knows its orders only by webhooks. A refunded order stays refunded: the webhook of its sale may arrive
 * later.
 */
function createShop(receiver: Receiver, random: Random): Map<string, Says> {
  const orders = new Map<string, Says>();
  const losses = new Map<unknown, number>();
  receiver.answer = (response, { headers, body }) => {
    const id = headers['x-webhook-id'];
    const lost = losses.get(id) ?? 0;
    // Every third attempt is lost and repeated later; the seventh is the last one.
    if (lost < 6 && random.below(3) === 0) {
      losses.set(id, lost + 1);
      return void response.writeHead(503).end();
    }
    const event = JSON.parse(body);
    const sale = saleOf(event);
    const refund = refundOf(event);
    if (sale?.externalId && !orders.has(sale.externalId)) orders.set(sale.externalId, 'paid');
    if (refund?.externalId) orders.set(refund.externalId, 'refunded');
    response.end();
  };
  return orders;
}

/** The state of an order according to its payments, in a list or in updates. */
function saysOf(payments: readonly AnyPayment[]): Says {
  const sold = payments.filter(({ paidAt }) => paidAt !== null);
  expect(sold.length, 'payments of one order that were paid').toBeLessThanOrEqual(1);
  const [kept] = sold;
  if (!kept) return 'unpaid';
  return kept.status === 'refunded' ? 'refunded' : 'paid';
}

/** The newest state of each payment in the stream of updates, by order. */
async function followStream(core: Core): Promise<Map<string, AnyPayment[]>> {
  const newest = new Map<string, AnyPayment>();
  for (let after = 0; ; ) {
    const { events } = await readAfter(core.database.sql, core.tenant, { after, limit: 1_000 });
    for (const { resource, snapshot } of events)
      if (resource === 'payment' || resource === 'card_payment')
        newest.set(idOf(snapshot as AnyPayment), snapshot as AnyPayment);
    const last = events.at(-1);
    if (!last) return Map.groupBy(newest.values(), ({ externalId }) => externalId ?? '');
    after = last.version;
  }
}

/** The state of the order on the page of a payment; null if the page does not show it. */
async function saysPage(core: Core, payment: AnyPayment): Promise<Says | null> {
  const now = core.clock.now();
  if (isCard(payment)) {
    const opened = (await core.cardPayments.open(payment.orderCode))!;
    return PAGES[cardPageState(opened.payment, opened.orderStatus, now)]!;
  }
  const opened = (await core.payments.open(payment.paymentId))!;
  return PAGES[pixPageState(opened.payment, opened.orderStatus, now)]!;
}

const PAGES: Record<string, Says | null> = {
  ...{ form: 'unpaid', processing: 'unpaid', waiting: 'unpaid', pending: 'unpaid', expired: 'unpaid' },
  ...{ paid: 'paid', paid_elsewhere: 'paid', refunded: 'refunded', order_refunded: 'refunded' },
  // A card that was finally declined is not a state of the order.
  ...{ failed: null },
};

/** The state of the order in the element on the device with this payment; null if it does not show it. */
function saysElement(payment: AnyPayment): Says | null {
  const answer = {
    ...payment,
    status: payment.status.toUpperCase(),
    orderPaid: payment.orderStatus !== null,
    orderRefunded: payment.orderStatus === 'refunded',
  } as unknown as CheckoutPayment;
  const { phase } = reduce(INITIAL, { type: 'answered', payment: answer });
  return ELEMENT[phase]!;
}

const ELEMENT: Record<string, Says | null> = {
  ...{
    pending: 'unpaid',
    paid: 'paid',
    order_paid: 'paid',
    refunded: 'refunded',
    order_refunded: 'refunded',
  },
  // Both offer another try, which is refused with the state of a paid order.
  ...{ expired: null, failed: null },
};

describe('One order, seen from everywhere', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openFreshDatabase(createManualClock());
    return () => database.close();
  });

  test(`After ${ORDERS} histories each party says the same of the order as the books do`, {
    timeout: 600_000 + ORDERS * 1_000,
  }, async () => {
    const counts: Record<Says, number> = { unpaid: 0, paid: 0, refunded: 0 };
    for (let from = 0; from < ORDERS; from += AT_ONCE) {
      const random = createRandom(51_000 + from);
      const core = await startCore({ database, follows: false });
      const receiver = await startReceiver();
      await core.webhooks.configure(core.tenant, {
        url: receiver.url,
        optionalEvents: ['card_payment.refunded', 'payment.refunded', 'return.completed'],
      });
      const shop = createShop(receiver, createRandom(random.below(2 ** 31)));
      const orders = Array.from(
        { length: Math.min(AT_ONCE, ORDERS - from) },
        (_, index) => `pedido-${from + index}`,
      );
      const histories = await play(core, orders, random);
      const stream = await followStream(core);

      let keptCents = 0;
      const contradictions: string[] = [];
      for (const order of orders) {
        const payments = await paymentsOf(core, order);
        const history = `${order}, seed ${51_000 + from}: ${histories.get(order)!.join(', ')}`;
        const books = saysOf(payments);
        counts[books] += 1;
        for (const { paidAt, refundedCents, method } of payments.map((each) => ({ method: 'card', ...each })))
          if (paidAt && method !== 'ltc') keptCents += VALUE_CENTS - (refundedCents ?? 0);

        const parties: [string, Says | null][] = [
          ['webhooks', shop.get(order) ?? 'unpaid'],
          ['stream', saysOf(stream.get(order) ?? [])],
        ];
        for (const payment of payments) {
          parties.push([`page of ${idOf(payment)}`, await saysPage(core, payment)]);
          parties.push([`element of ${idOf(payment)}`, saysElement(payment)]);
        }
        for (const [party, says] of parties)
          if (says !== null && says !== books)
            contradictions.push(`${party}: ${says}; books: ${books}; ${history}`);
      }
      expect(contradictions).toEqual([]);
      // The payments' amounts equal the ledger's.
      const sums = await expectBooksHold(database, core.tenant);
      expect(sums.merchant_balance + sums.merchant_pending).toBe(keptCents);
      expect(core.faults).toEqual([]);
      await core.close();
    }
    // Histories without sales would agree, too.
    for (const each of Object.values(counts)) expect(each).toBeGreaterThan(ORDERS / 20);
  });
});
