import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import {
  IdempotencyError,
  NotFoundError,
  PreconditionError,
  ValidationError,
} from '../../../server/src/kernel/errors.ts';
import { objectId } from '../../../server/src/kernel/ids.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { approved, approvedSoon, card } from '../../support/cards.ts';
import { type Core, startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { readAfter } from '../../support/events.ts';
import {
  buyByCard,
  buyByLtc,
  buyByPix,
  deliver,
  givenTo,
  payByPix,
  startByCard,
  stock,
  tokenFor,
} from './sales.ts';

const SECOND = 1_000;
const DAY = 24 * 3_600_000;
const LINK = 'https://loja.example/curso?aula=1';

const delivered = (kind: string, content: string) =>
  expect.objectContaining({ kind, status: 'delivered', content, deliveredAt: expect.any(Date) });
const WAITING = { kind: 'codes', status: 'pending', content: null, deliveredAt: null };

describeOnDatabase('deliveries', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });
  const start = () => startCore({ database });

  test.each([
    ['by PIX', buyByPix],
    ['by card', buyByCard],
    ['by LTC', buyByLtc],
  ])(
    'A payer of a product %s is given all of its content, in the order of its deliveries',
    async (_, buy) => {
      const core = await start();
      const { productId } = await stock(
        core,
        { text: 'Obrigada!' },
        { codes: ['AAAA-1111', 'BBBB-2222'] },
        { link: LINK },
      );
      const [first, second] = [await buy(core, productId), await buy(core, productId)];
      expect(await givenTo(core, first)).toEqual([
        delivered('text', 'Obrigada!'),
        delivered('codes', 'AAAA-1111'),
        delivered('link', LINK),
      ]);
      expect((await givenTo(core, second))?.[1]).toEqual(delivered('codes', 'BBBB-2222'));
      const { items } = await core.deliveries.listPage(core.tenant, { limit: 10, offset: 0, productId });
      expect(
        items.map(({ kind, deliveredCount, remainingCount }) => [kind, deliveredCount, remainingCount]),
      ).toEqual([
        ['link', 2, null],
        ['codes', 2, 0],
        ['text', 2, null],
      ]);
      expect(core.faults).toEqual([]);
    },
  );

  test('Nothing is delivered before the payment, for another amount, or for a product without content', async () => {
    const core = await start();
    const { productId } = await stock(core, { codes: ['AAAA-1111'] });
    const { payment } = await core.payments.create(core.tenant, { productId });
    expect(await givenTo(core, payment.paymentId)).toBeNull();
    await payByPix(core, payment.paymentId, 4_989);
    expect(await givenTo(core, payment.paymentId)).toBeNull();
    const orderCode = await startByCard(core, productId);
    expect(await givenTo(core, orderCode)).toBeNull();
    const bare = await stock(core);
    expect(await givenTo(core, await buyByPix(core, bare.productId))).toBeNull();
    const { payment: other } = await core.payments.create(core.tenant, { valueCents: 4_990 });
    await payByPix(core, other.paymentId);
    expect(await givenTo(core, other.paymentId)).toBeNull();
    await payByPix(core, payment.paymentId);
    expect(await givenTo(core, payment.paymentId)).toEqual([delivered('codes', 'AAAA-1111')]);
  });

  test('A payer who pays late, or whose card is approved after the expiry, is given the content', async () => {
    const core = await start();
    const { productId } = await stock(core, { codes: ['AAAA-1111', 'BBBB-2222'] });
    const { payment } = await core.payments.create(core.tenant, { productId });
    const orderCode = await startByCard(core, productId);
    await core.cardPayments.pay(orderCode, card('4000000000000077'));
    await core.pass(3_600_000);
    await payByPix(core, payment.paymentId);
    expect(await givenTo(core, orderCode)).toEqual([delivered('codes', 'AAAA-1111')]);
    expect(await givenTo(core, payment.paymentId)).toEqual([delivered('codes', 'BBBB-2222')]);
  });

  test('A second payment of an order, which is returned, is given nothing', async () => {
    const core = await start();
    const { productId } = await stock(core, { codes: ['AAAA-1111', 'BBBB-2222', 'CCCC-3333'] });
    const token = tokenFor(productId, { externalId: '1042' });
    const orderCode = await startByCard(core, productId, token);
    await core.cardPayments.pay(orderCode, approvedSoon());
    const attemptId = `tentativa-${objectId()}`;
    const byPix = (await core.payments.startCheckout(core.tenant, token, { attemptId })).payment;
    await payByPix(core, byPix.paymentId);
    await core.pass(10 * SECOND);
    expect(await core.cardPayments.find(core.tenant, orderCode)).toMatchObject({
      ...{ status: 'failed', returned: true, keptPayment: byPix.paymentId },
    });
    expect(await givenTo(core, orderCode)).toBeNull();
    expect(await givenTo(core, byPix.paymentId)).toEqual([delivered('codes', 'AAAA-1111')]);
    // A second PIX for the same code is returned.
    await payByPix(core, byPix.paymentId);
    expect(await givenTo(core, byPix.paymentId)).toEqual([delivered('codes', 'AAAA-1111')]);
    expect(await core.deliveries.listPage(core.tenant, { limit: 1, offset: 0 })).toMatchObject({
      items: [{ deliveredCount: 1, remainingCount: 2 }],
    });
  });

  test('Payments that find no code wait, and are served first, the oldest before the others', async () => {
    const core = await start();
    const { productId, deliveryId } = await stock(core, { codes: ['AAAA-1111'] });
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      ids.push(await (count % 2 === 0 ? buyByPix : buyByCard)(core, productId));
      core.clock.advance(SECOND);
    }
    expect(await Promise.all(ids.map((id) => givenTo(core, id)))).toEqual([
      [delivered('codes', 'AAAA-1111')],
      ...[[WAITING], [WAITING], [WAITING]],
    ]);
    const added = await deliver(core, productId, { codes: ['BBBB-2222', 'CCCC-3333'] });
    expect(added).toMatchObject({ deliveryId, deliveredCount: 3, remainingCount: 0 });
    expect(await Promise.all(ids.slice(1).map((id) => givenTo(core, id)))).toEqual([
      [delivered('codes', 'BBBB-2222')],
      [delivered('codes', 'CCCC-3333')],
      [WAITING],
    ]);
    expect(await deliver(core, productId, { codes: ['DDDD-4444', 'EEEE-5555'] })).toMatchObject({
      deliveredCount: 4,
      remainingCount: 1,
    });
    expect(await givenTo(core, ids[3]!)).toEqual([delivered('codes', 'DDDD-4444')]);
    const { events } = await readAfter(database.sql, core.tenant, { after: 0, limit: 100 });
    const announced = events.filter(({ resource }) => resource === 'delivery');
    expect(
      announced.map(({ kind, snapshot }) => [kind, (snapshot as { resource: { id: string } }).resource.id]),
    ).toEqual([
      ['delivery.delivered', ids[0]],
      ...ids.slice(1).map((id) => ['delivery.out_of_stock', id]),
      ...ids.slice(1).map((id) => ['delivery.delivered', id]),
    ]);
    expect(JSON.stringify(events)).not.toMatch(/[A-E]{4}-\d/);
  });

  test('A whole refund hides the content and ends the wait, and no code is sold again', async () => {
    const core = await start();
    const { productId } = await stock(core, { text: 'Obrigada!' }, { codes: ['AAAA-1111'] });
    const ids = [await buyByPix(core, productId), await buyByCard(core, productId)];
    await core.refunds.request(core.tenant, { type: 'payment', id: ids[0]! }, {});
    await core.refunds.request(core.tenant, { type: 'card_payment', id: ids[1]! }, {});
    await core.work.settled();
    const revoked = (kind: string, deliveredAt: unknown) => ({
      kind,
      status: 'revoked',
      content: null,
      deliveredAt,
    });
    expect(await Promise.all(ids.map((id) => givenTo(core, id)))).toEqual([
      [revoked('text', expect.any(Date)), revoked('codes', expect.any(Date))],
      [revoked('text', expect.any(Date)), revoked('codes', null)],
    ]);
    expect(await deliver(core, productId, { codes: ['BBBB-2222'] })).toMatchObject({ remainingCount: 1 });
    expect(await givenTo(core, ids[1]!)).toEqual([revoked('text', expect.any(Date)), revoked('codes', null)]);
    await expect(deliver(core, productId, { codes: ['AAAA-1111'] })).rejects.toBeInstanceOf(ValidationError);
  });

  test('A refund of a part leaves the content', async () => {
    const core = await start();
    const { productId } = await stock(core, { codes: ['AAAA-1111'] });
    const id = await buyByPix(core, productId);
    await core.refunds.request(core.tenant, { type: 'payment', id }, { amountCents: 4_989 });
    await core.work.settled();
    expect(await givenTo(core, id)).toEqual([delivered('codes', 'AAAA-1111')]);
    await core.refunds.request(core.tenant, { type: 'payment', id }, { amountCents: 1 });
    await core.work.settled();
    expect(await givenTo(core, id)).toMatchObject([{ status: 'revoked', content: null }]);
  });

  test('What was delivered stays readable when its delivery and its product are deleted', async () => {
    const core = await start();
    const { productId, deliveryId } = await stock(
      core,
      { text: 'Obrigada!' },
      { codes: ['AAAA-1111', 'BBBB-2222'] },
    );
    const id = await buyByPix(core, productId);
    const { payment: open } = await core.payments.create(core.tenant, { productId });
    await core.deliveries.delete(core.tenant, deliveryId);
    await expect(core.deliveries.delete(core.tenant, deliveryId)).rejects.toBeInstanceOf(NotFoundError);
    expect(await core.deliveries.findMany(core.tenant, [deliveryId])).toEqual([null]);
    expect(await core.deliveries.count(core.tenant, {})).toBe(1);
    await core.products.delete(core.tenant, productId);
    await expect(deliver(core, productId, { text: 'Olá' })).rejects.toEqual(
      new NotFoundError('Product not found'),
    );
    expect(await givenTo(core, id)).toEqual([
      delivered('text', 'Obrigada!'),
      delivered('codes', 'AAAA-1111'),
    ]);
    // The product's code was shown before the product was deleted.
    await payByPix(core, open.paymentId);
    expect(await givenTo(core, open.paymentId)).toEqual([delivered('text', 'Obrigada!')]);
    const left = await sql<{
      code: string;
    }>`select code from delivery_code where product_id = ${productId}`.execute(database.sql);
    expect(left.rows).toEqual([{ code: 'AAAA-1111' }]);
  });

  test('A payment that waits for the codes of a deleted stock is served by the next stock of the product', async () => {
    const core = await start();
    const { productId, deliveryId } = await stock(core, { codes: ['AAAA-1111'] });
    await buyByPix(core, productId);
    const waiting = await buyByPix(core, productId);
    await core.deliveries.delete(core.tenant, deliveryId);
    const next = await deliver(core, productId, { codes: ['BBBB-2222', 'CCCC-3333'] });
    expect(next).toMatchObject({ deliveredCount: 1, remainingCount: 1 });
    expect(next.deliveryId).not.toBe(deliveryId);
    expect(await givenTo(core, waiting)).toEqual([delivered('codes', 'BBBB-2222')]);
  });

  test('Payments that wait for a code are served after their product was deleted, and nothing else is added to it', async () => {
    const core = await start();
    const { productId, deliveryId } = await stock(core, { codes: ['AAAA-1111'] });
    await buyByPix(core, productId);
    const [byPix, byCard] = [await buyByPix(core, productId), await buyByCard(core, productId)];
    await core.products.delete(core.tenant, productId);
    const notFound = new NotFoundError('Product not found');
    await expect(deliver(core, productId, { text: 'Olá' })).rejects.toEqual(notFound);
    const stranger = await start();
    await expect(deliver(stranger, productId, { codes: ['BBBB-2222'] })).rejects.toEqual(notFound);

    expect(await deliver(core, productId, { codes: ['BBBB-2222'] })).toMatchObject({
      deliveryId,
      remainingCount: 0,
    });
    expect(await givenTo(core, byPix)).toEqual([delivered('codes', 'BBBB-2222')]);
    // The stock of the product may be deleted as well.
    await core.deliveries.delete(core.tenant, deliveryId);
    await deliver(core, productId, { codes: ['CCCC-3333'] });
    expect(await givenTo(core, byCard)).toEqual([delivered('codes', 'CCCC-3333')]);
    await expect(deliver(core, productId, { codes: ['DDDD-4444'] })).rejects.toEqual(notFound);
  });

  test('A code that the product has, or has given to a payer, is refused by its place, and nothing is added', async () => {
    const core = await start();
    const { productId } = await stock(core, { codes: ['AAAA-1111', 'BBBB-2222'] });
    await buyByPix(core, productId);
    for (const known of ['AAAA-1111', 'BBBB-2222']) {
      const refused = deliver(core, productId, { codes: ['CCCC-3333', known] });
      await expect(refused).rejects.toEqual(
        new ValidationError([
          { path: 'input.content.codes.1', message: 'is a code that this product had before' },
        ]),
      );
    }
    expect(await core.deliveries.listPage(core.tenant, { limit: 9, offset: 0 })).toMatchObject({
      items: [{ remainingCount: 1 }],
      total: 1,
    });
    // Another product may have the same code: the merchant sells both.
    expect((await stock(core, { codes: ['AAAA-1111'] })).productId).not.toBe(productId);
    // A code that a payer was given is never sold again; the others were deleted with their stock.
    const { items } = await core.deliveries.listPage(core.tenant, { productId, limit: 9, offset: 0 });
    await core.deliveries.delete(core.tenant, items[0]!.deliveryId);
    await expect(deliver(core, productId, { codes: ['AAAA-1111'] })).rejects.toBeInstanceOf(ValidationError);
    expect(await deliver(core, productId, { codes: ['BBBB-2222'] })).toMatchObject({ remainingCount: 1 });
  });

  test('A product has at most 10 deliveries and 10,000 codes in stock', async () => {
    const core = await start();
    const { productId } = await stock(core, { codes: ['AAAA-1111'] });
    for (let count = 1; count < 10; count += 1) await deliver(core, productId, { text: `Texto ${count}` });
    await expect(deliver(core, productId, { link: LINK })).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    const thousand = (from: number) => Array.from({ length: 1_000 }, (_, index) => `C-${from + index}`);
    for (let from = 0; from < 9_000; from += 1_000) await deliver(core, productId, { codes: thousand(from) });
    await expect(deliver(core, productId, { codes: thousand(9_000) })).rejects.toBeInstanceOf(
      PreconditionError,
    );
    expect(await deliver(core, productId, { codes: thousand(9_000).slice(1) })).toMatchObject({
      remainingCount: 10_000,
    });
  });

  test('The same key and input add codes once, also at once, and another input is refused', async () => {
    const core = await start();
    const { productId } = await stock(core);
    const all = await Promise.all(
      [1, 2, 3, 4].map(() => deliver(core, productId, { codes: ['AAAA-1111'] }, 'estoque-1')),
    );
    expect(new Set(all.map(({ deliveryId }) => deliveryId)).size).toBe(1);
    expect(await deliver(core, productId, { codes: ['AAAA-1111'] }, 'estoque-1')).toMatchObject({
      remainingCount: 1,
    });
    await expect(deliver(core, productId, { codes: ['BBBB-2222'] }, 'estoque-1')).rejects.toBeInstanceOf(
      IdempotencyError,
    );
  });

  test('Deliveries are listed newest first in both directions, of all products and of one', async () => {
    const core = await start();
    const [one, two] = [await stock(core), await stock(core)];
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1)
      made.unshift(
        (await deliver(core, (count % 2 ? two : one).productId, { text: `Texto ${count}` })).deliveryId,
      );
    const { deliveries, tenant } = core;
    const ids = ({ items }: Awaited<ReturnType<typeof deliveries.list>>) =>
      items.map(({ delivery }) => delivery.deliveryId);
    const newest = await deliveries.list(tenant, { end: 'first', limit: 2 });
    expect([ids(newest), newest.more]).toEqual([made.slice(0, 2), true]);
    const after = newest.items[1]!.position;
    const next = await deliveries.list(tenant, { end: 'first', limit: 3, after });
    expect([ids(next), next.more]).toEqual([made.slice(2), false]);
    const last = await deliveries.list(tenant, { end: 'last', limit: 2 });
    expect([ids(last), last.more]).toEqual([made.slice(3), true]);
    const before = last.items[0]!.position;
    const previous = await deliveries.list(tenant, { end: 'last', limit: 9, before });
    expect([ids(previous), previous.more]).toEqual([made.slice(0, 3), false]);
    const { productId } = two;
    expect(ids(await deliveries.list(tenant, { end: 'first', limit: 9, productId }))).toEqual([
      made[1],
      made[3],
    ]);
    expect(await deliveries.count(tenant, { productId })).toBe(2);
    expect(await deliveries.count(tenant, {})).toBe(5);
  });

  test('Nobody else finds, fills or ends a delivery, or reads what a payment was given', async () => {
    const [core, other] = [await start(), await start()];
    const { productId, deliveryId } = await stock(core, { text: 'Obrigada!' });
    const id = await buyByPix(core, productId);
    const sandbox = { ...core.tenant, environment: 'sandbox' as const };
    for (const tenant of [other.tenant, sandbox]) {
      const stranger = { ...core, tenant } as Core;
      expect(await givenTo(stranger, id)).toBeNull();
      expect(await core.deliveries.findMany(tenant, [deliveryId])).toEqual([null]);
      expect(await core.deliveries.count(tenant, {})).toBe(0);
      await expect(core.deliveries.delete(tenant, deliveryId)).rejects.toBeInstanceOf(NotFoundError);
      await expect(deliver(stranger, productId, { text: 'Olá' })).rejects.toBeInstanceOf(NotFoundError);
    }
    expect(await core.deliveries.findMany(core.tenant, [deliveryId.toUpperCase()])).toMatchObject([
      { deliveryId, content: 'Obrigada!' },
    ]);
  });

  test.each(['', 'nothing', 'ab'.repeat(13), 'with \u0000', 'half \ud83e'])(
    'No delivery is found under the id %j',
    async (id) => {
      const core = await start();
      expect(await core.deliveries.findMany(core.tenant, [id])).toEqual([null]);
      await expect(core.deliveries.delete(core.tenant, id)).rejects.toBeInstanceOf(NotFoundError);
    },
  );

  test('A payment is given the same content once, however often its money is reported and its release comes', async () => {
    const core = await start();
    const { productId } = await stock(core, { codes: ['AAAA-1111', 'BBBB-2222'] });
    const orderCode = await startByCard(core, productId);
    await Promise.all([1, 2, 3].map(() => core.cardPayments.pay(orderCode, approved())));
    const { payment } = await core.payments.create(core.tenant, { productId });
    await payByPix(core, payment.paymentId);
    await Promise.all([1, 2, 3].map(() => core.payments.receive(core.tenant, payment.paymentId)));
    await core.pass(20 * DAY);
    expect(await givenTo(core, orderCode)).toEqual([delivered('codes', 'AAAA-1111')]);
    expect(await givenTo(core, payment.paymentId)).toEqual([delivered('codes', 'BBBB-2222')]);
    expect(core.faults).toEqual([]);
  });
});
