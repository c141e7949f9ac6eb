import { describe, expect, test } from 'vitest';
import type { CheckoutGrant } from '../../../server/src/kernel/caller.ts';
import { IdempotencyError, NotFoundError, ValidationError } from '../../../server/src/kernel/errors.ts';
import { objectId } from '../../../server/src/kernel/ids.ts';
import type { CardPayment } from '../../../server/src/money-in/card-payments/model.ts';
import type { CreateCheckoutTokenInput } from '../../../server/src/money-in/card-payments/tokens/model.ts';
import { approved, declinedForGood } from '../../support/cards.ts';
import type { PortFixture, StartPortFixture } from '../../support/port-fixture.ts';

const MINUTE = 60_000;
const SESSION = 30 * MINUTE;
/** The life of a response that a facade caches for a payer. */
const KEPT = 10_000;
const USED = { code: 'CHECKOUT_TOKEN_USED' };
const PAID = { code: 'ORDER_PAID', message: 'This order has already been paid' };
const REFUNDED = { code: 'ORDER_REFUNDED', message: 'This order was paid and refunded in full' };

/** The contract of orders that several devices, tokens and requests may pay, for every implementation. */
export function describeOrders(start: StartPortFixture): void {
  describe('on a second device', () => {
    test('A second device joins the open payment of a single-use token, and both see it paid', async () => {
      const merchant = await start();
      const { cardPayments, tenant } = merchant;
      const token = await mint(merchant);
      const [laptop, phone] = [newAttemptId(), newAttemptId()];
      const first = (
        await cardPayments.startCheckout(tenant, token, {
          attemptId: laptop,
          customer: { name: 'Ana' },
        })
      ).payment;
      await merchant.pass(KEPT);
      const input = { attemptId: phone, customer: { name: 'Bia' } };
      const joined = (await cardPayments.startCheckout(tenant, token, input)).payment;
      // A facade's lookup does not show the refunded amounts.
      const { refundedCents: _, refundingCents: __, ...shown } = first;
      expect(joined).toMatchObject(shown);
      // The attempt id now has this payment, as the first device's has.
      expect((await cardPayments.startCheckout(tenant, token, input)).payment).toEqual(joined);
      const changed = cardPayments
        .startCheckout(tenant, token, { ...input, customer: { name: 'Eva' } })
        .then(({ payment }) => payment);
      await expect(changed).rejects.toBeInstanceOf(IdempotencyError);
      expect(await cardPayments.count(tenant, {})).toBe(1);

      await pay(merchant, first.orderCode);
      await merchant.pass(KEPT);
      for (const each of [{ attemptId: laptop, customer: { name: 'Ana' } }, input])
        expect((await cardPayments.startCheckout(tenant, token, each)).payment).toMatchObject({
          orderCode: first.orderCode,
          status: 'paid',
        });
      await expect(begin(merchant, token)).rejects.toMatchObject(PAID);
      expect(await cardPayments.count(tenant, {})).toBe(1);
      expect((await merchant.events('card_payment')).map(({ kind }) => kind)).toEqual([
        'card_payment.pending',
        'card_payment.paid',
      ]);
    });

    test('A second device joins with the amount of the open payment alone', async () => {
      const merchant = await start();
      const token = await mint(merchant, { amount: { range: { minCents: 100, maxCents: 900 } } });
      const first = await begin(merchant, token, 500);
      expect((await begin(merchant, token, 500)).orderCode).toBe(first.orderCode);
      await expect(begin(merchant, token, 501)).rejects.toMatchObject(USED);
      for (const wrong of [99, 901, null])
        await expect(begin(merchant, token, wrong)).rejects.toBeInstanceOf(ValidationError);
      const fixed = await mint(merchant);
      const open = await begin(merchant, fixed);
      expect((await begin(merchant, fixed, 4990)).orderCode).toBe(open.orderCode);
      await expect(begin(merchant, fixed, 4991)).rejects.toBeInstanceOf(ValidationError);
      expect(await merchant.cardPayments.count(merchant.tenant, {})).toBe(2);
    });

    test('A second device joins the payment of a product that was deleted meanwhile, and starts none of it', async () => {
      const merchant = await start();
      const { products, tenant } = merchant;
      const product = await products.create(tenant, { name: 'Caneca', priceCents: 4990 });
      const token = await mint(merchant, { amount: { productId: product.id } });
      const first = await begin(merchant, token);
      await products.delete(tenant, product.id);
      await merchant.pass(KEPT);
      expect((await begin(merchant, token)).orderCode).toBe(first.orderCode);
      await merchant.pass(SESSION);
      await expect(begin(merchant, token)).rejects.toBeInstanceOf(NotFoundError);
    });

    test('A second device starts another payment where the first has expired or failed', async () => {
      const merchant = await start();
      const token = await mint(merchant);
      const first = await begin(merchant, token);
      await merchant.pass(SESSION + KEPT);
      const second = await begin(merchant, token);
      expect(second.orderCode).not.toBe(first.orderCode);
      await merchant.service.cardPayments.pay(second.orderCode, declinedForGood());
      await merchant.settled();
      await merchant.pass(KEPT);
      const third = await begin(merchant, token);
      expect(new Set([first.orderCode, second.orderCode, third.orderCode]).size).toBe(3);
      await merchant.pass(KEPT);
      expect((await begin(merchant, token)).orderCode).toBe(third.orderCode);
    });
  });

  describe('of one order', () => {
    test('A payment has the externalId of its request or of its token, and null without one', async () => {
      const merchant = await start();
      const { cardPayments, tenant } = merchant;
      const { payment } = await cardPayments.create(tenant, { valueCents: 4990, externalId: 'pedido nº 1' });
      const started = await begin(merchant, await mint(merchant, { externalId: 'pedido 2' }));
      const { payment: lone } = await cardPayments.create(tenant, { valueCents: 4990 });
      const ids = [payment, started, lone].map(({ externalId }) => externalId);
      expect(ids).toEqual(['pedido nº 1', 'pedido 2', null]);
      const codes = [payment, started, lone].map(({ orderCode }) => orderCode);
      await merchant.pass(KEPT);
      const found = await cardPayments.findMany(tenant, codes);
      expect(found.map((each) => each!.externalId)).toEqual(ids);
      await pay(merchant, started.orderCode);
      expect(await cardPayments.find(tenant, started.orderCode)).toMatchObject({
        status: 'paid',
        externalId: 'pedido 2',
      });
      const [last] = (await merchant.events('card_payment')).slice(-1);
      expect(last).toMatchObject({ kind: 'card_payment.paid', snapshot: { externalId: 'pedido 2' } });
    });

    test('A token minted again with the same input is of the same order: its page finds the payment again', async () => {
      const merchant = await start();
      const input = { externalId: '1042', description: 'Caneca', customer: { name: 'Ana' } };
      const one = await mint(merchant, { ...input, expiresInSeconds: 60 });
      const attemptId = newAttemptId();
      const first = (await merchant.cardPayments.startCheckout(merchant.tenant, one, { attemptId })).payment;
      await merchant.pass(2 * MINUTE);
      // The first payment has expired.
      const two = await mint(merchant, { ...input, reusable: null, metadata: null, allowedOrigins: [] });
      expect(two.id).not.toBe(one.id);
      for (const id of [attemptId, newAttemptId()])
        expect(
          (await merchant.cardPayments.startCheckout(merchant.tenant, two, { attemptId: id })).payment,
        ).toMatchObject({ orderCode: first.orderCode, status: 'pending' });
      await pay(merchant, first.orderCode);
      await merchant.pass(KEPT);
      const three = await mint(merchant, input);
      for (const token of [two, three]) await expect(begin(merchant, token)).rejects.toMatchObject(PAID);
      expect(
        (await merchant.cardPayments.startCheckout(merchant.tenant, three, { attemptId })).payment,
      ).toMatchObject({
        orderCode: first.orderCode,
        status: 'paid',
      });
      expect(await merchant.cardPayments.count(merchant.tenant, {})).toBe(1);
    });

    test('Tokens of one order start one payment for sixteen pages at once', async () => {
      const merchant = await start();
      const tokens = await Promise.all(
        Array.from({ length: 16 }, () => mint(merchant, { externalId: '1042' })),
      );
      expect(new Set(tokens.map(({ id }) => id)).size).toBe(16);
      const started = await Promise.allSettled(tokens.map((token) => begin(merchant, token)));
      const codes = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value.orderCode] : []));
      expect(new Set(codes).size).toBe(1);
      // At a facade the payment has no page yet that another device could join.
      expect(codes).toMatchObject(merchant.exact({ length: 16 }));
      for (const each of started) if (each.status === 'rejected') expect(each.reason).toMatchObject(USED);
      await merchant.pass(KEPT);
      for (const token of tokens) expect(codes).toContain((await begin(merchant, token)).orderCode);
      expect(await merchant.cardPayments.count(merchant.tenant, {})).toBe(1);
    });

    test('A token minted again with another amount or customer is refused by the names of what differs, of concurrent ones too', async () => {
      const merchant = await start();
      const { checkoutTokens, tenant } = merchant;
      const input = {
        externalId: '1042',
        amount: { fixedCents: 4990 },
        customer: { name: 'Ana', email: 'ana@cliente.example' },
      };
      await checkoutTokens.create(tenant, null, input);
      await checkoutTokens.create(tenant, null, { ...input, customer: { ...input.customer, taxId: null } });
      const others: [Partial<CreateCheckoutTokenInput>, string][] = [
        [{ amount: { fixedCents: 4991 } }, 'amount (fixedCents 4990, not fixedCents 4991)'],
        [
          { amount: { range: { minCents: 4990, maxCents: 4990 } } },
          'amount (fixedCents 4990, not range 4990 to 4990)',
        ],
        [{ customer: { name: 'Bia', email: 'ana@cliente.example' } }, 'customer.name'],
        [{ customer: { ...input.customer, taxId: '12345678909' } }, 'customer.taxId'],
        [{ customer: null }, 'customer.name, customer.email'],
        [
          { amount: { fixedCents: 80 }, customer: { name: 'Ana' } },
          'amount (fixedCents 4990, not fixedCents 80), customer.email',
        ],
      ];
      for (const [other, named] of others) {
        const minted = checkoutTokens.create(tenant, null, { ...input, ...other });
        await expect(minted).rejects.toMatchObject({
          code: 'IDEMPOTENCY_CONFLICT',
          message: `A checkout token of this orderId was minted before with another ${named}`,
        });
      }
      const both = await Promise.allSettled(
        [1_000, 2_000].map((fixedCents) =>
          checkoutTokens.create(tenant, null, { externalId: '1043', amount: { fixedCents } }),
        ),
      );
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      // An order of the same number at another merchant is another order.
      const other = await start();
      await other.checkoutTokens.create(other.tenant, null, {
        externalId: '1042',
        amount: { fixedCents: 100 },
      });
    });

    test('A token minted again may differ in all else, and what it starts has its own details', async () => {
      const merchant = await start();
      const { cardPayments, tenant } = merchant;
      const input = { externalId: '1042', customer: { name: 'Ana' } };
      const first = await mint(merchant, {
        ...input,
        description: 'Caneca',
        successUrl: 'https://loja.example/ok',
        cancelUrl: 'https://loja.example/volta',
        metadata: '{"a":1}',
        allowedOrigins: ['https://loja.example'],
      });
      const open = await begin(merchant, first);
      const own = {
        description: 'Caneca azul',
        successUrl: 'https://nova.example/ok',
        cancelUrl: null,
        metadata: '{"a":2}',
        callbackUrl: null,
        language: 'es',
      } as const;
      const changed = await mint(merchant, {
        ...{ ...input, ...own, allowedOrigins: ['https://nova.example'], methods: ['card'] },
        trustedDocumentsOnly: false,
      });
      await merchant.pass(KEPT);
      // The open payment stays as it was started.
      expect(await begin(merchant, changed)).toMatchObject({
        orderCode: open.orderCode,
        description: 'Caneca',
        successUrl: 'https://loja.example/ok',
      });
      await merchant.pass(SESSION);
      const next = await begin(merchant, changed);
      expect(next.orderCode).not.toBe(open.orderCode);
      expect(next).toMatchObject({ ...own, amountCents: 4990, customer: { name: 'Ana' } });
      // A request with a key has its own details, and is of the same order.
      const { payment } = await cardPayments.create(tenant, {
        ...{ valueCents: 4990, externalId: '1042', description: 'Copo' },
        successUrl: 'https://outra.example/ok',
      });
      expect(payment).toMatchObject({ description: 'Copo', externalId: '1042' });
      await pay(merchant, next.orderCode);
      await cardPayments.find(tenant, next.orderCode);
      const last = await mint(merchant, { ...input, description: 'Caneca verde' });
      await expect(begin(merchant, last)).rejects.toMatchObject(PAID);
    });

    test('A token starts nothing where its order was paid by a payment that the merchant created', async () => {
      const merchant = await start();
      const { cardPayments, tenant } = merchant;
      const token = await mint(merchant, { externalId: '1042' });
      const open = await begin(merchant, token);
      const { payment } = await cardPayments.create(tenant, { valueCents: 4990, externalId: '1042' });
      expect(payment.orderCode).not.toBe(open.orderCode);
      await pay(merchant, payment.orderCode);
      await cardPayments.find(tenant, payment.orderCode);
      await merchant.pass(KEPT);
      await expect(begin(merchant, token)).rejects.toMatchObject(PAID);
      await merchant.pass(SESSION);
      await expect(begin(merchant, token)).rejects.toMatchObject(PAID);
      await expect(begin(merchant, await mint(merchant, { externalId: '1042' }))).rejects.toMatchObject(PAID);
      const elsewhere = await mint(merchant, { externalId: '1043' });
      expect(await begin(merchant, elsewhere)).toMatchObject({ status: 'pending' });
    });

    test('An unpaid payment shows that another one has paid its order, and that this was refunded, each with an update', async () => {
      const merchant = await start();
      const { cardPayments, service, tenant } = merchant;
      const create = async (externalId: string) =>
        (await cardPayments.create(tenant, { valueCents: 4990, externalId })).payment.orderCode;
      const [paid, open, elsewhere] = [await create('1042'), await create('1042'), await create('1043')];
      const statuses = async () => {
        await cardPayments.find(tenant, paid);
        const found = await cardPayments.findMany(tenant, [paid, open, elsewhere]);
        return found.map((each) => [each!.status, each!.orderStatus ?? null]);
      };
      expect((await statuses()).map(([, orderStatus]) => orderStatus)).toEqual([null, null, null]);
      await pay(merchant, paid);
      await merchant.pass(KEPT);
      expect(await statuses()).toEqual([
        ['paid', null],
        ['pending', 'paid'],
        ['pending', null],
      ]);
      await service.refunds.request(service.tenant, { type: 'card_payment', id: paid }, {});
      await merchant.settled();
      await merchant.pass(KEPT);
      expect((await statuses())[1]).toEqual(['pending', 'refunded']);
      await merchant.pass(SESSION);
      expect((await statuses())[1]).toEqual(['expired', 'refunded']);
      const events = (await merchant.events('card_payment')).filter(({ resourceId }) => resourceId === open);
      const shown = events.map(({ kind, snapshot }) => {
        const { version, orderStatus } = snapshot as CardPayment;
        return [kind, version, orderStatus ?? null];
      });
      expect(shown).toEqual([
        ['card_payment.pending', 1, null],
        ['card_payment.pending', 2, 'paid'],
        ['card_payment.pending', 3, 'refunded'],
        ['card_payment.expired', 4, 'refunded'],
      ]);
    });

    test('An order that is paid takes no payment under a new key, also after refunds of a part, and gives the first answer of an old one', async () => {
      const merchant = await start();
      const { cardPayments, service, tenant } = merchant;
      const input = { valueCents: 4990, externalId: '1042' };
      const create = (idempotencyKey?: string) => cardPayments.create(tenant, { ...input, idempotencyKey });
      const [first, second] = [await create('k-1'), await create('k-2')];
      const token = await mint(merchant, { externalId: '1042' });
      await pay(merchant, first.payment.orderCode);
      await cardPayments.find(tenant, first.payment.orderCode);
      const expectRefused = async (refusal: object) => {
        for (const key of ['k-3', undefined]) await expect(create(key)).rejects.toMatchObject(refusal);
        await expect(begin(merchant, token)).rejects.toMatchObject(refusal);
        for (const [key, { payment }] of [
          ['k-1', first],
          ['k-2', second],
        ] as const)
          expect(await create(key)).toMatchObject({
            replayed: true,
            payment: { orderCode: payment.orderCode },
          });
        expect(await cardPayments.count(tenant, {})).toBe(2);
      };
      await expectRefused(PAID);
      const refund = async (amountCents?: number) => {
        const payment = { type: 'card_payment', id: first.payment.orderCode } as const;
        await service.refunds.request(service.tenant, payment, { amountCents });
        await merchant.settled();
        await merchant.pass(KEPT);
        await cardPayments.find(tenant, first.payment.orderCode);
      };
      await refund(990);
      await expectRefused(PAID);
      await refund();
      await expectRefused(REFUNDED);
      const { payment: other } = await cardPayments.create(tenant, { ...input, externalId: '1043' });
      expect(other).toMatchObject({ status: 'pending', externalId: '1043' });
    });

    test('Tokens of one order have one pause, which outlives each of them', async () => {
      const merchant = await start();
      const { access, checkoutTokens, tenant } = merchant;
      const [one, two] = [
        await mintText(merchant, { externalId: '1042', expiresInSeconds: 60 }),
        await mintText(merchant, { externalId: '1042' }),
      ];
      const { id } = await presented(merchant, one);
      const listPaused = async () =>
        (await checkoutTokens.listPaused(tenant, { end: 'first', limit: 9 })).items;
      const paused = await checkoutTokens.pause(tenant, two, null);
      expect(paused).toMatchObject({ tokenId: id, reason: 'merchant' });
      expect(await checkoutTokens.pauseOf(id)).toMatchObject({ reason: 'merchant' });
      await merchant.pass(2 * MINUTE);
      await access.revokeToken(tenant, one);
      expect((await listPaused()).map(({ pause }) => pause)).toEqual([paused]);
      expect(await checkoutTokens.resume(tenant, id)).toBe(id);
      expect(await listPaused()).toEqual([]);
      // The revocation of one token ends no other.
      expect(await begin(merchant, await presented(merchant, two))).toMatchObject({ status: 'pending' });
      const lone = await mintText(merchant, {});
      await access.revokeToken(tenant, lone);
      await expect(checkoutTokens.pause(tenant, lone, null)).rejects.toBeInstanceOf(NotFoundError);
    });
  });
}

/** Pays at the service as the payer, and waits until the result is announced. */
async function pay({ service, settled }: PortFixture, orderCode: string): Promise<void> {
  expect(await service.cardPayments.pay(orderCode, approved())).toMatchObject({ kind: 'paid' });
  await settled();
}

interface Presented {
  id: string;
  grant: CheckoutGrant;
}

type Given = Partial<CreateCheckoutTokenInput>;

async function mintText({ checkoutTokens, tenant }: PortFixture, given: Given): Promise<string> {
  const input = { amount: { fixedCents: 4990 }, ...given };
  return (await checkoutTokens.create(tenant, null, input)).token;
}

/** A checkout token as a page presents it. */
async function presented({ access }: PortFixture, text: string): Promise<Presented> {
  const { credential } = await access.authenticate(`Bearer ${text}`);
  if (credential.kind !== 'checkout_token') throw new TypeError('not a checkout token');
  return credential;
}

async function mint(merchant: PortFixture, given: Given = {}): Promise<Presented> {
  return presented(merchant, await mintText(merchant, given));
}

function begin(
  { cardPayments, tenant }: PortFixture,
  token: Presented,
  valueCents: number | null = null,
): Promise<CardPayment> {
  return cardPayments
    .startCheckout(tenant, token, { attemptId: newAttemptId(), valueCents })
    .then(({ payment }) => payment);
}

/** Creates an id of at least 128 bits, as a browser does. */
function newAttemptId(): string {
  return objectId() + objectId();
}
