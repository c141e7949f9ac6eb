import { NotFoundError, UnavailableError, UpstreamError, ValidationError } from '../../kernel/errors.ts';
import type { Cents } from '../../kernel/money.ts';
import type {
  CardPayment,
  CheckoutGrant,
  CheckoutMethod,
  KnownAmount,
  SoldProduct,
  StoredCardPayment,
} from '../model.ts';

/** The methods by which a checkout token can be paid. */
export function methodsOf({ methods = ['card'] }: Pick<CheckoutGrant, 'methods'>): readonly CheckoutMethod[] {
  return methods;
}

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
    throw new UpstreamError('The payments service does not report the price of this product', {
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

/** The token whose id names the order: its payments, attempts and pauses. Of a reusable token, or a lone one, itself. */
export function orderTokenOf({ id, grant }: { id: string; grant: CheckoutGrant }): string {
  return grant.orderTokenId ?? id;
}

/**
 * Resolves the amount of a token with an open payment, which another device may join. A product is not read: it may
 * have been deleted since.
 */
export function grantOfOpen(
  grant: CheckoutGrant,
  { amountCents }: Pick<CardPayment, 'amountCents'>,
): CheckoutGrant & { amount: KnownAmount } {
  const { amount } = grant;
  return { ...grant, amount: amount.kind === 'product' ? { kind: 'fixed', cents: amountCents } : amount };
}

/** Whether an attempt joins the last payment of a single-use token: it is open, and costs what the payer wants to pay. */
export function joins(last: Pick<CardPayment, 'status' | 'amountCents'>, valueCents: Cents): boolean {
  return isOpen(last) && last.amountCents === valueCents;
}

/** Whether the last payment of a token still waits for its payer. */
export function isOpen({ status }: Pick<CardPayment, 'status'>): boolean {
  return status === 'pending';
}

/**
 * Refuses a second payment of a single-use token until its last one has expired or failed, and after its merchant has
 * canceled one.
 * @throws UnavailableError
 */
export function assertTokenFree(last: Pick<CardPayment, 'status' | 'canceledAt'> | null): void {
  if (!last) return;
  if (last.canceledAt)
    throw new UnavailableError('CHECKOUT_TOKEN_USED', 'The payment of this checkout token was canceled');
  if (last.status !== 'expired' && last.status !== 'failed') throw tokenUsed();
}

export function tokenUsed(): UnavailableError {
  return new UnavailableError('CHECKOUT_TOKEN_USED', 'This checkout token has already started a payment');
}

/** The refusal of a checkout whose order is already paid. */
export function orderPaid(): UnavailableError {
  return new UnavailableError('CHECKOUT_TOKEN_USED', 'This order has already been paid');
}

/**
 * Names the checkout attempt. A single-use token is one attempt, however often it is started; of a reusable one each
 * visit is, whose later tries append `.2`, `.3`, … to the same id.
 */
export function attemptOf(tokenId: string, { reusable }: CheckoutGrant, attemptId: string): string {
  return reusable ? `${tokenId}:${attemptId.replace(/\.[0-9]+$/, '')}` : tokenId;
}
