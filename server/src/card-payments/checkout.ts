import { NotFoundError, UnavailableError, UpstreamError, ValidationError } from '../kernel/errors.ts';
import type { Cents } from '../kernel/money.ts';
import type { CardPayment, CheckoutGrant, KnownAmount, SoldProduct, StoredCardPayment } from './model.ts';

/** Reads the token that started a payment; null for a payment that an API key created. */
export function tokenOf({ checkoutAttempt }: Pick<StoredCardPayment, 'checkoutAttempt'>): string | null {
  return checkoutAttempt?.split(':')[0] ?? null;
}

/**
 * Resolves the amount of a token when it is used. A product is read at that time: its price never changes, but a
 * deleted product is no longer sold. Its name describes the payment where the token has no description.
 * @throws NotFoundError, UpstreamError (its price is unknown)
 */
export function grantAtStart(
  grant: CheckoutGrant,
  product: SoldProduct | null,
): CheckoutGrant & { amount: KnownAmount } {
  const { amount } = grant;
  if (amount.kind !== 'product') return { ...grant, amount };
  if (!product) throw new NotFoundError('Product not found');
  if (product.priceCents === null)
    throw new UpstreamError('The payments service does not tell what this product costs', {
      retryable: false,
      moneyMayHaveMoved: false,
    });
  return {
    ...grant,
    description: grant.description ?? product.name,
    amount: { kind: 'fixed', cents: product.priceCents },
  };
}

/** Resolves the amount that the payer pays: that of the token, or one inside its range. @throws ValidationError */
export function checkoutAmount(
  { amount }: { amount: KnownAmount },
  valueCents: Cents | null | undefined,
): Cents {
  const refuse = (message: string) => new ValidationError([{ path: 'input.valueCents', message }]);
  if (amount.kind === 'fixed') {
    if (valueCents != null && valueCents !== amount.cents)
      throw refuse(`this token pays exactly ${amount.cents}; leave the amount out`);
    return amount.cents;
  }
  if (valueCents == null) throw refuse(`choose an amount from ${amount.minCents} to ${amount.maxCents}`);
  if (valueCents < amount.minCents || valueCents > amount.maxCents)
    throw refuse(`must lie from ${amount.minCents} to ${amount.maxCents}`);
  return valueCents;
}

/**
 * Refuses a second payment of a single-use token until its last one has expired or failed.
 * @throws UnavailableError
 */
export function assertTokenFree(last: Pick<CardPayment, 'status'> | null): void {
  if (last && last.status !== 'expired' && last.status !== 'failed')
    throw new UnavailableError('CHECKOUT_TOKEN_USED', 'This checkout token has already started a payment');
}
