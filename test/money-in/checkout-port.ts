import { describe, expect, test } from 'vitest';
import { IdempotencyError, ValidationError } from '../../server/src/kernel/errors.ts';
import { objectId } from '../../server/src/kernel/ids.ts';
import type { CardPayment } from '../../server/src/money-in/card-payments/model.ts';
import type { CreateCheckoutTokenInput } from '../../server/src/money-in/card-payments/tokens/model.ts';
import type { Payment } from '../../server/src/money-in/payments/model.ts';
import type { PortFixture, StartPortFixture } from '../support/port-fixture.ts';

/** The contract of payments that a token starts, by card and by PIX, for every implementation of their ports. */
export function describeStarts(
  start: StartPortFixture,
  {
    by,
    pay,
    code,
  }: {
    by: 'cardPayments' | 'payments';
    /** Pays at the service as the payer does. */
    pay: (merchant: PortFixture, id: string) => Promise<unknown>;
    /** The members of a payment that has begun, by this method alone. */
    code: object;
  },
): void {
  const methods: CreateCheckoutTokenInput['methods'] = [by === 'payments' ? 'pix' : 'card'];

  describe('started with a token', () => {
    test('Sixteen clicks at once start one payment', async () => {
      const merchant = await start();
      const { tenant } = merchant;
      const token = await mint(merchant, { methods, description: 'Caneca', externalId: '7' });
      const customer = { name: 'Ana', taxId: '52998224725' };
      const input = { attemptId: newAttemptId(), customer };
      const started = await Promise.all(
        Array.from({ length: 16 }, () => merchant[by].startCheckout(tenant, token, input)),
      );
      expect(new Set(started.map(idOf)).size).toBe(1);
      const given = { amountCents: 4990, customer, description: 'Caneca', externalId: '7' };
      expect(started[0]!.payment).toMatchObject({ ...given, ...code, status: 'pending' });
      expect(await merchant[by].count(tenant, {})).toBe(1);
      await expect(
        merchant[by].startCheckout(tenant, token, { ...input, customer: { name: 'Outra' } }),
      ).rejects.toBeInstanceOf(IdempotencyError);
    });

    test('A single-use token starts one payment for sixteen visitors at once', async () => {
      const merchant = await start();
      const { tenant, exact } = merchant;
      const token = await mint(merchant, { methods });
      const started = await Promise.allSettled(
        Array.from({ length: 16 }, () =>
          merchant[by].startCheckout(tenant, token, { attemptId: newAttemptId() }),
        ),
      );
      const ids = started.flatMap((each) => (each.status === 'fulfilled' ? [idOf(each.value)] : []));
      expect(new Set(ids).size).toBe(1);
      // At a facade the payment has no page or code yet that another device could join.
      expect(ids).toMatchObject(exact({ length: 16 }));
      for (const each of started)
        if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'CHECKOUT_TOKEN_USED' });
      expect(await merchant[by].count(tenant, {})).toBe(1);
    });

    test('A reusable token starts a payment for each visitor', async () => {
      const merchant = await start();
      const { tenant } = merchant;
      const token = await mint(merchant, { methods, reusable: true });
      const started = await Promise.all(
        [1, 2, 3].map(() => merchant[by].startCheckout(tenant, token, { attemptId: newAttemptId() })),
      );
      for (const each of started) await pay(merchant, idOf(each));
      await merchant.settled();
      expect(await merchant[by].count(tenant, { status: ['paid'] })).toBe(3);
    });

    test('A token’s payment costs its amount, or the payer’s choice inside its range', async () => {
      const merchant = await start();
      const { tenant } = merchant;
      const range = { minCents: 100, maxCents: 200 };
      const free = await mint(merchant, { methods, reusable: true, amount: { range } });
      const choose = (token: Token, valueCents: number | null) =>
        merchant[by].startCheckout(tenant, token, { attemptId: newAttemptId(), valueCents });
      expect((await choose(free, 200)).payment.amountCents).toBe(200);
      for (const wrong of [99, 201, null])
        await expect(choose(free, wrong)).rejects.toBeInstanceOf(ValidationError);
      expect(await merchant[by].count(tenant, {})).toBe(1);
      const fixed = await mint(merchant, { methods });
      await expect(choose(fixed, 4991)).rejects.toBeInstanceOf(ValidationError);
      expect((await choose(fixed, 4990)).payment).toMatchObject({ amountCents: 4990, status: 'pending' });
    });
  });
}

const idOf = ({ payment }: { payment: CardPayment | Payment }): string =>
  'orderCode' in payment ? payment.orderCode : payment.paymentId;

/** A checkout token as a page presents it. */
export type Token = Parameters<PortFixture['payments']['startCheckout']>[1];

/** Mints a checkout token of R$ 49,90. */
export async function mint(
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

/** Creates an id of at least 128 bits, as a browser does. */
export const newAttemptId = (): string => objectId() + objectId();
