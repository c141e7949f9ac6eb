import type { CheckoutError, CheckoutErrorCode } from './checkout-state.ts';

/** An error that the element itself detects. */
export function failure(code: CheckoutErrorCode, message: string): CheckoutError {
  return { code, message, retryable: /aborted|network/.test(code) };
}

/** Converts a thrown value: request.ts throws a CheckoutError; anything else is a chunk that did not load. */
export function asCheckoutError(thrown: unknown): CheckoutError {
  // A page's function may reject without a reason.
  const error = thrown as CheckoutError | undefined;
  return error?.retryable === undefined ? failure('network', String(thrown)) : error;
}
