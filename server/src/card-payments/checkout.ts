import { NotFoundError, UnavailableError, UpstreamError, ValidationError } from '../kernel/errors.ts';
import type { Cents } from '../kernel/money.ts';
import type { CardPayment, CheckoutGrant, KnownAmount, SoldProduct, StoredCardPayment } from './model.ts';

/** The token that started a payment; null for one that an API key created. */
export function tokenOf({ checkoutAttempt }: Pick<StoredCardPayment, 'checkoutAttempt'>): string | null {
  return checkoutAttempt?.split(':')[0] ?? null;
}

/**
 * What a token sells as it stands when it is started. A product is looked at then and not when the token was minted:
 * its price never changes, but once it was deleted nobody buys it. Its name says what is paid where the token does not.
 * @throws NotFoundError, UpstreamError (nobody knows its price)
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

/** What the payer may pay with a token: its amount, or one inside its range. @throws ValidationError */
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

/** A single-use token starts no other payment until its last has expired or failed. @throws UnavailableError */
export function assertTokenFree(last: Pick<CardPayment, 'status'> | null): void {
  if (last && last.status !== 'expired' && last.status !== 'failed')
    throw new UnavailableError('CHECKOUT_TOKEN_USED', 'This checkout token has already started a payment');
}
