import { describe, expect, test } from 'vitest';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import { UpstreamError } from '../../../server/src/kernel/errors.ts';
import type { ListRange } from '../../../server/src/kernel/list-range.ts';
import type { CreatePaymentInput, PaymentFilter } from '../../../server/src/money-in/payments/model.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { PAYMENT_STATUSES } from '../../../server/src/money-in/receiving/model.ts';
import type { PortFixture, StartPortFixture } from '../../support/port-fixture.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const SESSION = 30 * MINUTE;
/** A time beyond the life of a response that a facade caches for a merchant. */
const KEPT = 2 * SECOND;

/** The contract of reading PIX payments, for every implementation of their port. Payments are created at the service. */
export function describePort(start: StartPortFixture): void {
  test('A payment is found as it was created, with its code, by its merchant alone', async () => {
    const [merchant, other] = [await start(), await start()];
    const { payments, tenant } = merchant;
    const details = {
      description: 'Pão de queijo 🧀',
      customer: { name: 'Ana', email: 'ana@example.com' },
      metadata: ' {"pedido": "\\u0000 1"} ',
      successUrl: 'https://padaria.example/ok',
    };
    const created = await create(merchant, details);
    const { paymentId, brCode, createdAt, expiresAt } = created;
    const found = await payments.find(tenant, paymentId);
    expect(found).toMatchObject({
      ...details,
      paymentId,
      brCode,
      createdAt,
      expiresAt,
      method: 'pix',
      status: 'pending',
      amountCents: 4990,
      feeCents: 0,
      refundedCents: 0,
      refundingCents: 0,
      returnedCredits: [],
      paidAt: null,
      endToEndId: null,
      productId: null,
      failureReason: null,
      cancelUrl: null,
    });
    expect(found?.txid ?? txidOf(paymentId)).toBe(txidOf(paymentId));
    expect((await merchant.events('payment')).map(({ snapshot }) => snapshot)).toEqual([found]);
    expect((await payments.findWithVersion(tenant, paymentId))?.resource).toEqual(found);

    const sandbox = merchant.inSandbox();
    for (const each of [other, sandbox]) {
      expect(await each.payments.find(each.tenant, paymentId)).toBeNull();
      expect(await each.payments.findWithVersion(each.tenant, paymentId)).toBeNull();
    }
  });

  test('Payments are found in the order of the ids, and none under a text that is no id', async () => {
    const merchant = await start();
    const { payments, tenant } = merchant;
    const [first, second] = [await create(merchant), await create(merchant)].map(
      ({ paymentId }) => paymentId,
    );
    const none = [
      '',
      'psa_',
      'nothing',
      'with \u0000',
      'half \ud83e',
      `x' or '1'='1`,
      `psa_${'0'.repeat(32)}`,
    ];
    const found = await payments.findMany(tenant, [second!, ...none, first!, second!]);
    expect(found.map((payment) => payment?.paymentId ?? null)).toEqual([
      ...[second, ...none.map(() => null), first, second],
    ]);
    expect(() => payments.assertId(first!)).not.toThrow();
    for (const text of ['', 'PSC-1', 'psa_sub_0123', 'psa_ 1'])
      expect(() => payments.assertId(text)).toThrow();
  });

  test.each(['live', 'sandbox'] as const)(
    'A payment is paid and announced once, in %s',
    async (environment) => {
      const account = await start();
      const merchant = environment === 'live' ? account : account.inSandbox();
      const { paymentId } = await create(merchant, { metadata: '{"pedido":7}' });
      await find(merchant, paymentId);
      await pay(merchant, paymentId);
      const paidAt = merchant.clock.now();
      const paid = { status: 'paid', paidAt, paidLate: false, metadata: '{"pedido":7}' };
      expect(await find(merchant, paymentId)).toMatchObject(paid);
      await merchant.pass(SESSION);
      expect(await find(merchant, paymentId)).toMatchObject({
        ...paid,
        endToEndId: expect.stringMatching(/^E\d{20}[0-9A-Z]{11}$/),
      });
      expect(await merchant.wallet.read(merchant.tenant)).toMatchObject({ balanceCents: 4990 });
      expect(await announced(merchant, paymentId)).toEqual([
        ['pending', null],
        ['paid', 'pending'],
      ]);
      expect(merchant.faults).toEqual([]);
    },
  );

  test('A payment expires, and a late PIX pays it', async () => {
    const merchant = await start();
    const { paymentId } = await create(merchant, { customer: { email: 'paga-tarde@psa.example' } });
    await find(merchant, paymentId);
    await merchant.pass(SESSION);
    expect(await find(merchant, paymentId)).toMatchObject({ status: 'expired', paidAt: null });
    await merchant.pass(MINUTE + KEPT);
    expect(await find(merchant, paymentId)).toMatchObject({ status: 'paid', paidLate: true });
    expect(await announced(merchant, paymentId)).toEqual([
      ['pending', null],
      ['expired', 'pending'],
      ['paid', 'expired'],
    ]);
  });

  test('A payment that the bank refuses has failed, with the bank’s reason', async () => {
    const merchant = await start();
    const error = await create(merchant, { customer: { email: 'sem-codigo@psa.example' } }).then(
      () => null,
      (refusal: unknown) => refusal as UpstreamError,
    );
    expect(error).toBeInstanceOf(UpstreamError);
    expect(await find(merchant, error!.lookupReference!)).toMatchObject({
      status: 'failed',
      failureReason: 'O banco recusou a cobrança',
      brCode: null,
    });
  });

  test('A payment shows its refunds and the credits that were sent back, and announces them', async () => {
    const merchant = await start();
    const { paymentId } = await create(merchant);
    await find(merchant, paymentId);
    await pay(merchant, paymentId, { amountCents: 4991 });
    await merchant.pass(KEPT);
    expect(await find(merchant, paymentId)).toMatchObject({
      status: 'pending',
      returnedCredits: [{ amountCents: 4991, cause: 'amount_mismatch', returnedAt: expect.any(Date) }],
    });
    await pay(merchant, paymentId);
    await refund(merchant, paymentId, 990);
    expect(await find(merchant, paymentId)).toMatchObject({
      status: 'paid',
      refundedCents: 990,
      refundingCents: 0,
      refundedAt: null,
    });
    await refund(merchant, paymentId);
    expect(await find(merchant, paymentId)).toMatchObject({
      status: 'refunded',
      refundedCents: 4990,
      refundedAt: expect.any(Date),
    });
    const statuses = await announced(merchant, paymentId);
    expect(statuses.filter(([now, before]) => now !== before)).toEqual([
      ['pending', null],
      ['paid', 'pending'],
      ['refunded', 'paid'],
    ]);
    expect(statuses).toContainEqual(['pending', 'pending']);
    expect(statuses).toContainEqual(['paid', 'paid']);
  });

  describe('in a list', () => {
    test('Payments are listed newest first, in both directions and by offset, none twice while others are created', async () => {
      const merchant = await start();
      const { payments, tenant } = merchant;
      const ids: string[] = [];
      for (let count = 0; count < 5; count += 1) ids.unshift(await known(merchant));
      const first = await page(merchant, { end: 'first', limit: 2 });
      ids.unshift(await known(merchant));
      const second = await page(merchant, { end: 'first', limit: 3, after: first.positions.at(-1)! });
      expect([...first.ids, ...second.ids]).toEqual(ids.slice(1));
      expect([first.more, second.more]).toEqual([true, false]);
      const last = await page(merchant, { end: 'last', limit: 2 });
      expect([last.ids, last.more]).toEqual([ids.slice(-2), true]);
      const newer = await page(merchant, { end: 'last', limit: 3, before: last.positions[0]! });
      expect([newer.ids, newer.more]).toEqual([ids.slice(1, 4), true]);
      const between = { after: first.positions[0]!, before: last.positions[0]! };
      expect((await page(merchant, { end: 'first', limit: 9, ...between })).ids).toEqual(ids.slice(2, 4));

      const window = async (limit: number, offset: number) => {
        const { items, total } = await payments.listPage(tenant, { limit, offset });
        return [items.map(({ paymentId }) => paymentId), total];
      };
      expect(await window(2, 3)).toEqual([ids.slice(3, 5), 6]);
      expect(await window(2, 6)).toEqual([[], 6]);
    });

    test('Payments are listed and counted by status, method and period, together too', async () => {
      const merchant = await start();
      const ids: string[] = [];
      const begunAt: Date[] = [];
      for (let count = 0; count < 4; count += 1) {
        begunAt.unshift(merchant.clock.now());
        ids.unshift(await known(merchant));
        await merchant.pass(MINUTE);
      }
      const [fourth, third, second, first] = ids;
      await pay(merchant, third!);
      await pay(merchant, first!);
      const listed = async (filter: PaymentFilter) => {
        const { ids: found } = await page(merchant, { end: 'first', limit: 10, ...filter });
        const backwards = await page(merchant, { end: 'last', limit: 10, ...filter });
        expect(backwards.ids).toEqual(found);
        expect(await merchant.payments.count(merchant.tenant, filter)).toBe(found.length);
        return found;
      };
      expect(await listed({})).toEqual(ids);
      expect(await listed({ status: ['paid'] })).toEqual([third, first]);
      expect(await listed({ status: ['pending', 'refunded'], method: ['pix'] })).toEqual([fourth, second]);
      expect(await listed({ status: PAYMENT_STATUSES, method: ['ltc'] })).toEqual([]);
      expect(await listed({ method: ['ltc', 'pix'] })).toEqual(ids);
      expect(await listed({ status: [] })).toEqual([]);
      expect(await listed({ method: [] })).toEqual([]);
      const period = { createdAfter: begunAt[2]!, createdBefore: begunAt[0]! };
      expect(await listed(period)).toEqual([third, second]);
      expect(await listed({ ...period, status: ['paid'] })).toEqual([third]);
      expect(await listed({ ...period, status: [] })).toEqual([]);
      expect(await listed({ createdAfter: plusMs(begunAt[0]!, 1) })).toEqual([]);
      const { paidAt } = (await find(merchant, third!))!;
      const paid = { paidAfter: paidAt!, paidBefore: plusMs(paidAt!, 1) };
      expect(await listed(paid)).toEqual([third, first]);
      expect(await listed({ ...paid, status: ['refunded'] })).toEqual([]);
      expect(await listed({ paidBefore: begunAt[3]! })).toEqual([]);
      expect(await listed({ refundedAfter: begunAt[3]! })).toEqual([]);
      expect(await listed({ reference: second! })).toEqual([second]);
      expect(await listed({ amountCents: 1, ...period })).toEqual([]);
      expect(await listed({ externalId: 'none' })).toEqual([]);
      expect(await listed({ customer: { email: 'ana@example.com' } })).toEqual([]);
      const { positions } = await page(merchant, { end: 'first', limit: 10 });
      const beyond = { createdBefore: begunAt[0]!, after: positions[1]! };
      expect((await page(merchant, { end: 'first', limit: 10, ...beyond })).ids).toEqual([second, first]);
      const newer = { createdAfter: begunAt[2]!, before: positions[2]!, end: 'last' } as const;
      expect((await page(merchant, { limit: 1, ...newer })).ids).toEqual([third]);
    });
  });
}

async function create({ service }: PortFixture, input: Partial<CreatePaymentInput> = {}) {
  return (await service.payments.create(service.tenant, { valueCents: 4990, ...input })).payment;
}

/** Creates a payment that a facade has in its mirror. */
async function known(merchant: PortFixture): Promise<string> {
  const { paymentId } = await create(merchant);
  await find(merchant, paymentId);
  return paymentId;
}

function find({ payments, tenant }: PortFixture, paymentId: string) {
  return payments.find(tenant, paymentId);
}

async function pay(merchant: PortFixture, paymentId: string, order: { amountCents?: number } = {}) {
  const { service } = merchant;
  await service.pix.pay({ txid: txidOf(paymentId), ...order });
  await service.payments.receive(service.tenant, paymentId);
  await merchant.settled();
}

async function refund(merchant: PortFixture, paymentId: string, amountCents?: number) {
  const { service } = merchant;
  const resource = { type: 'payment', id: paymentId } as const;
  await service.refunds.request(service.tenant, resource, amountCents === undefined ? {} : { amountCents });
  await merchant.pass(KEPT);
}

async function page({ payments, tenant }: PortFixture, range: ListRange & PaymentFilter) {
  const { items, more } = await payments.list(tenant, range);
  return {
    ids: items.map(({ resource }) => resource.paymentId),
    positions: items.map(({ position }) => position),
    more,
  };
}

/** The statuses that subscribers have seen, each with the one before. */
async function announced(merchant: PortFixture, paymentId: string) {
  return (await merchant.events('payment'))
    .filter(({ resourceId }) => resourceId === paymentId)
    .map(({ snapshot, previousStatus }) => [snapshot.status, previousStatus]);
}
