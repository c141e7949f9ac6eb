import { describe, expect, test } from 'vitest';
import { IdempotencyError, ValidationError } from '../../../server/src/kernel/errors.ts';
import { objectId } from '../../../server/src/kernel/ids.ts';
import type { CreateCheckoutTokenInput } from '../../../server/src/money-in/card-payments/tokens/model.ts';
import type { Payment } from '../../../server/src/money-in/payments/model.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import type { PortFixture, StartPortFixture } from '../../support/port-fixture.ts';

const SECOND = 1_000;
const SESSION = 30 * 60 * SECOND;
/** A time beyond the life of a response that a facade caches for a payer. */
const KEPT = 10 * SECOND;

/** The contract of payments by PIX that a token starts, for every implementation of their port. */
export function describePixStarts(start: StartPortFixture): void {
  describe('started with a token', () => {
    test('Sixteen clicks at once start one payment, with its code', async () => {
      const merchant = await start();
      const { payments, tenant } = merchant;
      const token = await mint(merchant, { description: 'Caneca', externalId: '7' });
      const input = { attemptId: newAttemptId(), customer: { name: 'Ana', taxId: '52998224725' } };
      const started = await Promise.all(
        Array.from({ length: 16 }, () =>
          payments.startCheckout(tenant, token, input).then(({ payment }) => payment),
        ),
      );
      expect(new Set(started.map(({ paymentId }) => paymentId)).size).toBe(1);
      expect(started[0]).toMatchObject({
        amountCents: 4990,
        brCode: expect.stringContaining('540549.90'),
        customer: { name: 'Ana', taxId: '52998224725' },
        description: 'Caneca',
        externalId: '7',
        status: 'pending',
      });
      expect(await payments.count(tenant, {})).toBe(1);
      await expect(
        payments.startCheckout(tenant, token, { ...input, customer: { name: 'Outra' } }),
      ).rejects.toBeInstanceOf(IdempotencyError);
    });

    test('A single-use token starts one payment for sixteen visitors at once', async () => {
      const { payments, tenant, exact, ...merchant } = await start();
      const token = await mint({ tenant, ...merchant });
      const started = await Promise.allSettled(
        Array.from({ length: 16 }, () =>
          payments.startCheckout(tenant, token, { attemptId: newAttemptId() }).then(({ payment }) => payment),
        ),
      );
      const ids = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value.paymentId] : []));
      expect(new Set(ids).size).toBe(1);
      // At a facade there is no code yet that another device could join.
      expect(ids).toMatchObject(exact({ length: 16 }));
      for (const each of started)
        if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'CHECKOUT_TOKEN_USED' });
      expect(await payments.count(tenant, {})).toBe(1);
    });

    test('A single-use token starts another payment only when the last has expired, and none once one is paid', async () => {
      const merchant = await start();
      const { tenant, service } = merchant;
      const token = await mint(merchant);
      const first = await begin(merchant, token);
      expect((await begin(merchant, token)).paymentId).toBe(first.paymentId);
      await merchant.pass(SESSION);
      const second = await begin(merchant, token);
      expect(second.paymentId).not.toBe(first.paymentId);
      await pay(merchant, second);
      await expect(begin(merchant, token)).rejects.toMatchObject({ code: 'ORDER_PAID' });
      await service.refunds.request(service.tenant, { type: 'payment', id: second.paymentId }, {});
      await merchant.settled();
      await merchant.pass(KEPT);
      await merchant.payments.find(tenant, second.paymentId);
      await expect(begin(merchant, token)).rejects.toMatchObject({ code: 'ORDER_REFUNDED' });
    });

    test.each([{ reusable: false }, { reusable: true }])(
      'A code that is paid late keeps its attempt from a third: $reusable',
      async ({ reusable }) => {
        const merchant = await start();
        const token = await mint(merchant, { reusable });
        const attemptId = newAttemptId();
        const first = await begin(merchant, token, attemptId);
        await merchant.pass(SESSION);
        const second = await begin(merchant, token, `${attemptId}.2`);
        expect(second.paymentId).not.toBe(first.paymentId);
        await pay(merchant, first);
        await merchant.pass(SESSION);
        for (const method of ['payments', 'cardPayments'] as const)
          await expect(
            merchant[method].startCheckout(merchant.tenant, token, { attemptId: `${attemptId}.3` }),
          ).rejects.toMatchObject({ code: 'ORDER_PAID' });
      },
    );

    test('A reusable token starts a payment for each visitor', async () => {
      const merchant = await start();
      const { payments, tenant } = merchant;
      const token = await mint(merchant, { reusable: true });
      const started = await Promise.all([1, 2, 3].map(() => begin(merchant, token)));
      for (const payment of started) await pay(merchant, payment);
      expect(await payments.count(tenant, { status: ['paid'] })).toBe(3);
    });

    test('A token’s payment costs its amount, or the payer’s choice inside its range', async () => {
      const merchant = await start();
      const { payments, tenant } = merchant;
      const amount = { range: { minCents: 1, maxCents: 79 } };
      const range = await mint(merchant, { reusable: true, methods: ['pix'], amount });
      const choose = (valueCents: number | null) =>
        payments
          .startCheckout(tenant, range, { attemptId: newAttemptId(), valueCents })
          .then(({ payment }) => payment);
      expect((await choose(79)).amountCents).toBe(79);
      for (const wrong of [80, null]) await expect(choose(wrong)).rejects.toBeInstanceOf(ValidationError);
      const more = { attemptId: newAttemptId(), valueCents: 4991 };
      await expect(payments.startCheckout(tenant, await mint(merchant), more)).rejects.toBeInstanceOf(
        ValidationError,
      );
      expect(await payments.count(tenant, {})).toBe(1);
    });

    test('A token of a product gives the payment its price, its name and its product', async () => {
      const merchant = await start();
      const { products, tenant } = merchant;
      const { id: productId } = await products.create(tenant, { name: 'Caneca', priceCents: 4990 });
      const token = await mint(merchant, { amount: { productId } });
      expect(await begin(merchant, token)).toMatchObject({
        amountCents: 4990,
        description: 'Caneca',
        productId,
      });
    });

    test('In sandbox a token starts payments by PIX', async () => {
      const merchant = (await start()).inSandbox();
      const token = await mint(merchant, { methods: ['pix'] });
      expect(await begin(merchant, token)).toMatchObject({ brCode: expect.any(String) });
    });
  });
}

const newAttemptId = () => objectId() + objectId();

type Token = Parameters<PortFixture['payments']['startCheckout']>[1];

async function mint(
  { checkoutTokens, access, tenant }: Pick<PortFixture, 'checkoutTokens' | 'access' | 'tenant'>,
  input: Partial<CreateCheckoutTokenInput> = {},
): Promise<Token> {
  const { token } = await checkoutTokens.create(tenant, null, {
    amount: { fixedCents: 4990 },
    methods: ['card', 'pix'],
    ...input,
  });
  return (await access.authenticate(`Bearer ${token}`)).credential as Token;
}

async function begin(
  { payments, tenant, pass }: PortFixture,
  token: Token,
  attemptId = newAttemptId(),
): Promise<Payment> {
  await pass(KEPT);
  return payments.startCheckout(tenant, token, { attemptId }).then(({ payment }) => payment);
}

/** Pays at the service as the payer's bank does, and waits until the result is announced. */
async function pay({ service, settled }: PortFixture, { paymentId }: Payment): Promise<void> {
  await service.pix.pay({ txid: txidOf(paymentId) });
  await service.payments.receive(service.tenant, paymentId);
  await settled();
}
