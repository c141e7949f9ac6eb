import { describe, expect, test } from 'vitest';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import { IdempotencyError, NotFoundError, PreconditionError } from '../../../server/src/kernel/errors.ts';
import type { CardDetails } from '../../../server/src/money-in/card-payments/hosted-checkout.ts';
import type { CardPayment, CardPaymentFilter } from '../../../server/src/money-in/card-payments/model.ts';
import { approved, approvedLate, approvedSoon, declined, declinedForGood } from '../../support/cards.ts';
import type { PortFixture, StartPortFixture } from '../../support/port-fixture.ts';
import { scale } from '../../support/scale.ts';
import { describeStarts, mint, newAttemptId } from '../checkout-port.ts';

const CALLERS = scale('CALLERS');

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const SESSION = 30 * MINUTE;
/** The life of a response that a facade caches for a payer. */
const KEPT = 10 * SECOND;
const NO_SUCH_DATE = 'has no place in this list: its item lacks the date that orders the list';

/** The contract of card payments, for every implementation of their port. Payers pay at the service. */
export function describePort(start: StartPortFixture): void {
  describe('created', () => {
    test('A card payment is found as it was given, by its merchant alone', async () => {
      const [merchant, other] = [await start(), await start()];
      const { cardPayments, tenant } = merchant;
      const details = {
        description: 'Pão de queijo 🧀',
        callbackUrl: 'https://padaria.example/hook',
        customer: { name: 'Ana', email: null, taxId: '12345678909' },
        metadata: ' {"pedido": "\\u0000 1"} ',
        successUrl: 'https://padaria.example/ok',
        cancelUrl: null,
        language: 'es' as const,
      };
      const { payment, replayed } = await cardPayments.create(tenant, { valueCents: 4990, ...details });
      expect(replayed).toBe(false);
      const customer = { name: 'Ana', taxId: '12345678909' };
      expect(payment).toMatchObject({ ...details, customer, amountCents: 4990 });
      expect(payment.expiresAt.getTime() - payment.createdAt!.getTime()).toBe(SESSION);
      // The answer to a creation does not show the refunded amounts.
      const { refundedCents: _, refundingCents: __, ...given } = payment;
      // Only another service's payment holds its fee.
      const found = (await cardPayments.find(tenant, payment.orderCode))!;
      const { feeCents: ___, ...shown } = found;
      expect(shown).toEqual({ ...given, refundedCents: 0, refundingCents: 0 });
      expect(cardPayments.feeCentsOf(found)).toBe(0);
      expect((await merchant.events('card_payment')).map(({ snapshot }) => snapshot)).toEqual([payment]);

      expect(await other.cardPayments.find(other.tenant, payment.orderCode)).toBeNull();
      expect(await other.cardPayments.findWithVersion(other.tenant, payment.orderCode)).toBeNull();
      const sandbox = merchant.inSandbox();
      expect(await sandbox.cardPayments.find(sandbox.tenant, payment.orderCode)).toBeNull();
      const refund = other.service.cardPayments.refund(other.service.tenant, payment.orderCode);
      await expect(refund).rejects.toBeInstanceOf(NotFoundError);
    });

    test.each(['', 'PSC-', 'nothing', `PSC-${'0'.repeat(24)}`, 'with \u0000', 'half \ud83e', `x' or '1'='1`])(
      'No card payment is found under the code %j',
      async (orderCode) => {
        const { cardPayments, tenant, service } = await start();
        expect(await cardPayments.find(tenant, orderCode)).toBeNull();
        expect(await cardPayments.findWithVersion(tenant, orderCode)).toBeNull();
        expect(await service.cardPayments.open(orderCode)).toBeNull();
        await expect(service.cardPayments.pay(orderCode, approved())).rejects.toBeInstanceOf(NotFoundError);
        const refund = service.cardPayments.refund(service.tenant, orderCode);
        await expect(refund).rejects.toBeInstanceOf(NotFoundError);
      },
    );

    test('Several card payments are found in the order asked', async () => {
      const merchant = await start();
      const [first, second] = [await create(merchant), await create(merchant)];
      const codes = [second, 'nothing', first, second];
      const found = await merchant.cardPayments.findMany(merchant.tenant, codes);
      expect(found.map((payment) => payment?.orderCode)).toEqual([second, undefined, first, second]);
    });

    test(`${CALLERS} concurrent creations with the same key and input make one card payment`, async () => {
      const merchant = await start();
      const { cardPayments, tenant } = merchant;
      const input = {
        valueCents: 4990,
        idempotencyKey: 'pedido-1',
        customer: { name: 'Ana', email: 'a@b.br' },
      };
      const reordered = {
        customer: { email: 'a@b.br', name: 'Ana' },
        idempotencyKey: 'pedido-1',
        valueCents: 4990,
      };
      const all = await Promise.all(
        Array.from({ length: CALLERS }, (_, n) => cardPayments.create(tenant, n % 2 ? input : reordered)),
      );
      expect(new Set(all.map(({ payment }) => payment.orderCode)).size).toBe(1);
      expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(await cardPayments.count(tenant, {})).toBe(1);
      for (const other of [{ valueCents: 4991 }, { language: 'en' as const }])
        await expect(cardPayments.create(tenant, { ...input, ...other })).rejects.toBeInstanceOf(
          IdempotencyError,
        );
      expect(await merchant.events('card_payment')).toHaveLength(1);
      expect((await merchant.service.cardPayments.listPage(merchant.service.tenant, PAGE)).total).toBe(1);
    });

    test('A repeated key returns the payment in its present state', async () => {
      const merchant = await start();
      const { cardPayments, tenant } = merchant;
      const input = { valueCents: 4990, idempotencyKey: 'pedido-1' };
      const { payment } = await cardPayments.create(tenant, input);
      await pay(merchant, payment.orderCode, approved());
      expect(await cardPayments.create(tenant, input)).toMatchObject({
        payment: { orderCode: payment.orderCode, status: 'paid' },
        replayed: true,
      });
    });

    test('Card payments are refused with a test key or where they are not configured, and change nothing', async () => {
      const live = await start({ cardPaymentsEnabled: false });
      const amount = { kind: 'fixed', cents: 4990 } as const;
      const token = { id: 'tok_1', grant: { amount, reusable: false } };
      for (const [merchant, code] of [
        [live, 'CARD_PAYMENTS_NOT_CONFIGURED'],
        [live.inSandbox(), 'NOT_IN_SANDBOX'],
      ] as const) {
        const { cardPayments, checkoutTokens, tenant } = merchant;
        const minted = () => checkoutTokens.create(tenant, null, { amount: { fixedCents: 4990 } });
        const refused = {
          create: () => cardPayments.create(tenant, { valueCents: 4990, idempotencyKey: 'k' }),
          start: () =>
            cardPayments
              .startCheckout(tenant, token, { attemptId: newAttemptId() })
              .then(({ payment }) => payment),
          // A facade does not know the setting before it asks the service.
          ...(tenant.environment === 'sandbox' ? { minted } : merchant.exact({ minted })),
        };
        for (const ask of Object.values(refused)) {
          const error: unknown = await ask().catch((refusal: unknown) => refusal);
          expect(error).toBeInstanceOf(PreconditionError);
          expect(error).toMatchObject({ code });
        }
        expect(await cardPayments.count(tenant, {})).toBe(0);
        expect(await merchant.events('card_payment')).toEqual([]);
      }
    });

    test('Card payments are listed newest first, page by page, none twice while others are created', async () => {
      const merchant = await start();
      const { cardPayments, tenant } = merchant;
      const codes: string[] = [];
      for (let count = 0; count < 5; count += 1) codes.unshift(await create(merchant));
      const first = await cardPayments.list(tenant, { end: 'first', limit: 2 });
      await create(merchant);
      const second = await cardPayments.list(tenant, {
        end: 'first',
        limit: 3,
        after: first.items.at(-1)!.position,
      });
      expect([...first.items, ...second.items].map(({ resource: payment }) => payment.orderCode)).toEqual(
        codes,
      );
      expect([first.more, second.more]).toEqual([true, false]);
      const last = await cardPayments.list(tenant, {
        end: 'last',
        limit: 2,
        before: first.items[1]!.position,
      });
      expect(last.items.map(({ resource: payment }) => payment.orderCode).at(-1)).toBe(codes[0]);
      expect([last.items.length, last.more]).toEqual([2, false]);
    });

    test('Card payments are listed by offset too, with the total', async () => {
      const merchant = await start();
      const codes: string[] = [];
      for (let count = 0; count < 3; count += 1) codes.unshift(await create(merchant));
      const page = async (limit: number, offset: number) => {
        const { items, total } = await merchant.cardPayments.listPage(merchant.tenant, { limit, offset });
        return { codes: items.map(({ orderCode }) => orderCode), total };
      };
      expect(await page(2, 0)).toEqual({ codes: codes.slice(0, 2), total: 3 });
      expect(await page(2, 2)).toEqual({ codes: codes.slice(2), total: 3 });
      expect(await page(100, Number.MAX_SAFE_INTEGER)).toEqual({ codes: [], total: 3 });
    });

    test('Card payments are listed and counted by status', async () => {
      const merchant = await start();
      const { cardPayments, tenant } = merchant;
      const [pending, paid, failed] = [
        await create(merchant),
        await create(merchant),
        await create(merchant),
      ];
      await pay(merchant, paid, approved());
      await pay(merchant, failed, declinedForGood());
      await later(merchant, failed);
      const codes = async (status: readonly ('pending' | 'paid' | 'failed' | 'refunded')[]) => {
        const { items } = await cardPayments.list(tenant, { end: 'first', limit: 10, status });
        expect(await cardPayments.count(tenant, { status })).toBe(items.length);
        return items.map(({ resource: payment }) => payment.orderCode);
      };
      expect(await codes(['paid'])).toEqual([paid]);
      const filtered = async (filter: CardPaymentFilter) => {
        const { items } = await cardPayments.list(tenant, { end: 'first', limit: 10, ...filter });
        const backwards = await cardPayments.list(tenant, { end: 'last', limit: 10, ...filter });
        expect(backwards.items).toEqual(items);
        expect(await cardPayments.count(tenant, filter)).toBe(items.length);
        return items.map(({ resource: payment }) => payment.orderCode);
      };
      const { paidAt, createdAt } = (await cardPayments.find(tenant, paid))!;
      expect(await filtered({ paidAfter: paidAt!, paidBefore: plusMs(paidAt!, 1) })).toEqual([paid]);
      expect(await filtered({ paidBefore: paidAt! })).toEqual([]);
      expect(await filtered({ refundedAfter: createdAt! })).toEqual([]);
      expect(await filtered({ createdAfter: createdAt!, reference: pending })).toEqual([pending]);
      expect(await filtered({ createdBefore: createdAt! })).not.toContain(paid);
      const days = 3 * 24 * 3_600_000;
      expect(
        await filtered({ createdAfter: plusMs(createdAt!, -days), createdBefore: plusMs(createdAt!, days) }),
      ).toContain(paid);
      expect(await filtered({ amountCents: 1 })).toEqual([]);
      expect(await filtered({ externalId: 'none', customer: { email: 'ana@example.com' } })).toEqual([]);
      expect(await codes(['pending', 'failed'])).toEqual([failed, pending]);
      expect(await codes(['refunded'])).toEqual([]);
      expect(await codes([])).toEqual([]);
    });

    test('A list by an instant refuses the cursor of a card payment without it, and says so', async () => {
      const merchant = await start();
      const { cardPayments, tenant } = merchant;
      const [paid] = [await create(merchant), await create(merchant)];
      await pay(merchant, paid, approved());
      await later(merchant, paid);
      const all = await cardPayments.list(tenant, { end: 'first', limit: 10 });
      const [ofPending, ofPaid] = all.items.map(({ position }) => position);
      const isPaid = { paidAfter: plusMs(merchant.clock.now(), -24 * 3_600_000), limit: 10 };
      const backwards = { end: 'last', ...isPaid } as const;
      const behind = await cardPayments.list(tenant, { end: 'first', ...isPaid, after: ofPaid });
      expect(behind).toEqual({ items: [], more: false });
      await expect(
        cardPayments.list(tenant, { end: 'first', ...isPaid, after: ofPending }),
      ).rejects.toMatchObject({ fields: [{ path: 'after', message: NO_SUCH_DATE }] });
      await expect(cardPayments.list(tenant, { ...backwards, before: ofPending })).rejects.toMatchObject({
        fields: [{ path: 'before', message: NO_SUCH_DATE }],
      });
    });
  });

  describe('paid by card', () => {
    test('A card payment is paid, pending release, and announced once', async () => {
      const merchant = await start();
      const orderCode = await create(merchant);
      expect(await pay(merchant, orderCode, approved())).toMatchObject({ kind: 'paid' });
      expect(await find(merchant, orderCode)).toMatchObject({
        status: 'paid',
        paidAt: merchant.clock.now(),
        paidLate: false,
        ...merchant.exact({ version: 2, openChargeId: null }),
      });
      expect(await merchant.wallet.read(merchant.tenant)).toMatchObject({
        balanceCents: 0,
        pendingReleaseCents: 4990,
        withdrawableCents: 0,
      });
      expect(await announcedStatuses(merchant, orderCode)).toEqual(['pending', 'paid']);
      expect(await pay(merchant, orderCode, approved())).toMatchObject({ kind: 'not_payable' });
      await later(merchant, orderCode);
      expect(await announcedStatuses(merchant, orderCode)).toEqual(['pending', 'paid']);
    });

    test('A card payment is declined card by card, and fails at the fifth', async () => {
      const merchant = await start();
      const orderCode = await create(merchant);
      for (let count = 1; count < 5; count += 1)
        expect(await pay(merchant, orderCode, declined())).toMatchObject({
          kind: 'declined',
          reason: 'Cartão recusado pelo banco emissor',
          payment: { status: 'pending', declinedCharges: count },
        });
      expect(await later(merchant, orderCode)).toMatchObject({ status: 'pending' });
      expect(await pay(merchant, orderCode, declined())).toMatchObject({ kind: 'failed' });
      expect(await pay(merchant, orderCode, approved())).toMatchObject({ kind: 'not_payable' });
      expect(await later(merchant, orderCode)).toMatchObject({
        status: 'failed',
        failureReason: 'Cartão recusado pelo banco emissor',
      });
      await merchant.pass(SESSION);
      expect(await announcedStatuses(merchant, orderCode)).toEqual(['pending', 'failed']);
    });

    test('A final decline fails a payment at once, and after another decline it can be paid', async () => {
      const merchant = await start();
      const [failing, paying] = [await create(merchant), await create(merchant)];
      expect(await pay(merchant, failing, declinedForGood())).toMatchObject({ kind: 'failed' });
      await pay(merchant, paying, declined());
      expect(await pay(merchant, paying, approved())).toMatchObject({ kind: 'paid' });
      expect(await find(merchant, paying)).toMatchObject({ status: 'paid' });
      expect(await later(merchant, failing)).toMatchObject({ status: 'failed' });
    });

    test('A card payment is processing until the acquirer has decided', async () => {
      const merchant = await start();
      const orderCode = await create(merchant);
      expect(await pay(merchant, orderCode, approvedSoon())).toMatchObject({ kind: 'processing' });
      expect(await pay(merchant, orderCode, approved())).toMatchObject({ kind: 'in_progress' });
      await merchant.pass(4_999);
      expect((await find(merchant, orderCode)).status).toBe('pending');
      await merchant.pass(1);
      expect((await find(merchant, orderCode)).status).toBe('paid');
    });
  });

  describe('that nobody pays', () => {
    test('A card payment expires at its instant, not a millisecond before', async () => {
      const merchant = await start();
      const orderCode = await create(merchant);
      const { service } = merchant;
      const status = async () => (await service.cardPayments.find(service.tenant, orderCode))!.status;
      await merchant.pass(SESSION - 1);
      expect(await status()).toBe('pending');
      expect(await find(merchant, orderCode)).toMatchObject({ status: 'pending' });
      await merchant.pass(1);
      expect(await status()).toBe('expired');
      expect(await later(merchant, orderCode)).toMatchObject({
        status: 'expired',
        ...merchant.exact({ version: 2 }),
      });
      expect(await announcedStatuses(merchant, orderCode)).toEqual(['pending', 'expired']);
    });

    test('A card payment is paid late when the acquirer approves after the expiry', async () => {
      const merchant = await start();
      const orderCode = await create(merchant);
      expect(await pay(merchant, orderCode, approvedLate())).toMatchObject({ kind: 'processing' });
      await merchant.pass(SESSION);
      expect((await find(merchant, orderCode)).status).toBe('expired');
      await merchant.pass(15 * MINUTE);
      expect(await find(merchant, orderCode)).toMatchObject({
        status: 'paid',
        paidLate: true,
        ...merchant.exact({ version: 3 }),
      });
      expect(await announcedStatuses(merchant, orderCode)).toEqual(['pending', 'expired', 'paid']);
      expect(await merchant.wallet.read(merchant.tenant)).toMatchObject({ pendingReleaseCents: 4990 });
    });
  });

  test('A refunded card payment is announced as refunded', async () => {
    const merchant = await start();
    const { service } = merchant;
    const orderCode = await create(merchant);
    await pay(merchant, orderCode, approved());
    expect(await find(merchant, orderCode)).toMatchObject({ status: 'paid' });
    await merchant.pass(KEPT);
    await service.cardPayments.refund(service.tenant, orderCode);
    await merchant.settled();
    expect(await find(merchant, orderCode)).toMatchObject({
      status: 'refunded',
      refundedAt: merchant.clock.now(),
      ...merchant.exact({ version: 4 }),
    });
    expect(await announcedStatuses(merchant, orderCode)).toEqual(['pending', 'paid', 'refunded']);
    expect(await merchant.wallet.read(merchant.tenant)).toMatchObject({ pendingReleaseCents: 0 });
  });

  describeStarts(start, {
    by: 'cardPayments',
    pay: (merchant, orderCode) => pay(merchant, orderCode, approved()),
    code: {},
  });

  describe('started with a token for cards', () => {
    test('A single-use token starts another payment only when the last has expired or failed', async () => {
      const merchant = await start();
      const { cardPayments, tenant, service } = merchant;
      const token = await mint(merchant, { methods: ['card'] });
      const begin = async () => {
        await merchant.pass(KEPT);
        return cardPayments
          .startCheckout(tenant, token, { attemptId: newAttemptId() })
          .then(({ payment }) => payment);
      };
      const first = await begin();
      expect((await begin()).orderCode).toBe(first.orderCode);
      await merchant.pass(SESSION);
      const second = await begin();
      expect(second.orderCode).not.toBe(first.orderCode);
      const known = first as { checkoutAttempt?: unknown };
      expect(second).toMatchObject(merchant.exact({ checkoutAttempt: known.checkoutAttempt }));
      await pay(merchant, second.orderCode, declinedForGood());
      const third = await begin();
      await pay(merchant, third.orderCode, approved());
      await expect(begin()).rejects.toMatchObject({ code: 'ORDER_PAID' });
      await service.cardPayments.refund(service.tenant, third.orderCode);
      await merchant.settled();
      await merchant.pass(KEPT);
      await cardPayments.find(tenant, third.orderCode);
      await expect(begin()).rejects.toMatchObject({ code: 'ORDER_REFUNDED' });
    });
  });
}

const PAGE = { limit: 10, offset: 0 };

async function create({ cardPayments, tenant }: PortFixture, valueCents = 4990): Promise<string> {
  return (await cardPayments.create(tenant, { valueCents })).payment.orderCode;
}

/** Pays at the service as the payer, and waits until the result is announced. */
async function pay({ service, settled }: PortFixture, orderCode: string, details: CardDetails) {
  const result = await service.cardPayments.pay(orderCode, details);
  await settled();
  return result;
}

async function find({ cardPayments, tenant }: PortFixture, orderCode: string): Promise<CardPayment> {
  return (await cardPayments.find(tenant, orderCode))!;
}

/** Waits until no cached answer from before is returned. */
async function later(merchant: PortFixture, orderCode: string): Promise<CardPayment> {
  await merchant.pass(KEPT);
  return find(merchant, orderCode);
}

/** The announced statuses, each once: a change within a status is another update. */
async function announcedStatuses(merchant: PortFixture, orderCode: string): Promise<string[]> {
  const events = await merchant.events('card_payment');
  return events
    .filter(({ resourceId }) => resourceId === orderCode)
    .filter(({ previousStatus, snapshot }) => previousStatus !== (snapshot as CardPayment).status)
    .map(({ snapshot }) => (snapshot as CardPayment).status);
}
