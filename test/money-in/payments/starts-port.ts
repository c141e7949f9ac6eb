import { describe, expect, test } from 'vitest';
import type { Payment } from '../../../server/src/money-in/payments/model.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import type { PortFixture, StartPortFixture } from '../../support/port-fixture.ts';
import { describeStarts, mint, newAttemptId, type Token } from '../checkout-port.ts';

const SECOND = 1_000;
const SESSION = 30 * 60 * SECOND;
/** A time beyond the life of a response that a facade caches for a payer. */
const KEPT = 10 * SECOND;

/** The contract of payments by PIX that a token starts, for every implementation of their port. */
export function describePixStarts(start: StartPortFixture): void {
  describeStarts(start, {
    by: 'payments',
    pay: ({ service }, paymentId) => pay(service, paymentId),
    code: { brCode: expect.stringContaining('540549.90') },
  });

  describe('started with a token for PIX', () => {
    test('A single-use token starts another payment only when the last has expired, and none once one is paid', async () => {
      const merchant = await start();
      const { tenant, service } = merchant;
      const token = await mint(merchant);
      const first = await begin(merchant, token);
      expect((await begin(merchant, token)).paymentId).toBe(first.paymentId);
      await merchant.pass(SESSION);
      const second = await begin(merchant, token);
      expect(second.paymentId).not.toBe(first.paymentId);
      await pay(service, second.paymentId);
      await merchant.settled();
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
        await pay(merchant.service, first.paymentId);
        await merchant.settled();
        await merchant.pass(SESSION);
        for (const method of ['payments', 'cardPayments'] as const)
          await expect(
            merchant[method].startCheckout(merchant.tenant, token, { attemptId: `${attemptId}.3` }),
          ).rejects.toMatchObject({ code: 'ORDER_PAID' });
      },
    );

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

async function begin(
  { payments, tenant, pass }: PortFixture,
  token: Token,
  attemptId = newAttemptId(),
): Promise<Payment> {
  await pass(KEPT);
  return payments.startCheckout(tenant, token, { attemptId }).then(({ payment }) => payment);
}

/** Pays at the service as the payer's bank does. */
async function pay({ tenant, pix, payments }: PortFixture['service'], paymentId: string): Promise<void> {
  await pix.pay({ txid: txidOf(paymentId) });
  await payments.receive(tenant, paymentId);
}
